/**
 * `find(at, last)` and `next(at, last, told)` of skimmed-lines.ts as a WebAssembly module: where a word stands, and one pass over the
 * line around it that takes what `JSON.parse` takes and notes where values begin and end. Instructions of the 128-bit proposal, which
 * every Node.js since 16 has.
 */
import {
  ADD,
  addTo,
  AND,
  AT_LEAST,
  BITS,
  BOTH,
  byteAt,
  CALL,
  CLZ,
  CTZ,
  EQ,
  EQZ,
  fourAt,
  get,
  giveBack,
  insideString,
  laidOut,
  LESS,
  moduleOf,
  NE,
  number,
  OR,
  putByte,
  putFour,
  putSixteen,
  SAME_EACH,
  set,
  SHIFT,
  sixteen,
  sixteenAt,
  SUB,
  tee,
  twoAt,
  when,
  END,
  type Part,
} from '../transcript/wasm-code.ts'

/** What `next` gives: there is no such line any more, it is no JSON or too deep, it is one, and one that says something in odd names. */
export const FOUND = { none: -1, refused: 0, line: 1, odd: 2 } as const

/**
 * Where it is told, in bytes: where the values begin and end, four bytes each, and the end of the line. Behind it, what is open, from
 * the first depth on. Of counts only where they begin.
 */
export const TOLD = { starts: 0, ends: 80, end: 124, open: 127 } as const

export type SkimmedNames = {
  /** At the top of a line, each with its place among what is told. */
  readonly ofLine: readonly (readonly [name: string, place: number])[]
  readonly ofMessage: readonly (readonly [name: string, place: number])[]
  /** At the top of a line: these make it odd. */
  readonly odd: readonly string[]
  /** The place of the message. What belongs to it has higher ones. */
  readonly message: number
  readonly mostDepth: number
  readonly usage: UsageNames
}

/** The message's usage, by its place there, and the places of what is told of it. */
export type UsageNames = {
  readonly place: number
  readonly counts: readonly (readonly [name: string, place: number])[]
  /** The one that has counts of its own. */
  readonly split: number
  readonly splitCounts: readonly (readonly [name: string, place: number])[]
  /** Told of a usage that says more than these can tell: in these names, in odd ones, in the split's twice, or in other words. */
  readonly unusual: number
  readonly unusualNames: readonly string[]
  /** What stands behind a name unless the usage is unusual, as it is spelled. */
  readonly usualWords: readonly (readonly [name: string, words: readonly string[]])[]
}

/** Of 64 KB: what the memory has at first. */
const FIRST_PAGES = 16

const [QUOTE, COLON, COMMA, NEWLINE, OPEN, OPEN_LIST] = [0x22, 0x3a, 0x2c, 0x0a, 0x7b, 0x5b] as const
/** From what opens a list or an object to what closes it. */
const CLOSES = 2

/** Locals: what is given, numbers, sixteen bytes. `place`: that of the last name in the line; `inner`: in its message; `count`: in its usage. */
const [AT, LAST, GIVEN, BYTE, STOPS, START, LENGTH, PLACE, INNER, DEPTH, ODD, ESCAPED, NAMED, COUNT, BYTES] =
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14] as const
const NUMBERS = 11
/** The first function of the module. */
const FIND = 0

const refused = giveBack(number(FOUND.refused))
const load = [...get(AT), ...byteAt(0), ...set(BYTE)]
const is = (byte: number): number[] => [...get(BYTE), ...number(byte), EQ]
const anyOf = (conditions: readonly (readonly number[])[]): number[] =>
  conditions.flatMap((condition, nth) => [...condition, ...(nth > 0 ? [OR] : [])])
const either = (...bytes: readonly number[]): number[] => anyOf(bytes.map(is))
const not = (condition: readonly number[]): number[] => [...condition, EQZ]
const equals = (local: number, value: number): number[] => [...get(local), ...number(value), EQ]
const put = (local: number, value: number): number[] => [...number(value), ...set(local)]

export function codeOfLines(names: SkimmedNames): Uint8Array {
  return moduleOf(FIRST_PAGES, [
    { name: 'find', given: 2, numbers: 1, sixteens: 0, body: [...laidOut(findParts()), END] },
    { name: 'next', given: 3, numbers: NUMBERS, sixteens: 1, body: [...laidOut(nextParts(names)), END] },
  ])
}

/** The second local is the end, the third the bits of bytes that may be it. */
function findParts(): Part[] {
  const MAYBE = 2
  const word = Buffer.from('"assistant"')
  const isWord = [
    ...[1, 5].flatMap((from) => [...get(AT), ...fourAt(from), ...number(word.readInt32LE(from)), EQ]),
    AND,
    ...get(AT),
    ...twoAt(9),
    ...number(word.readUInt16LE(9)),
    EQ,
    AND,
  ]
  return [
    {
      loop: 'on',
      parts: [
        ...when([...get(AT), ...get(LAST), AT_LEAST], giveBack(number(FOUND.none))),
        // A quote, and the first letter behind it.
        ...get(AT),
        ...sixteenAt(0),
        ...sixteen(word[0] as number),
        ...SAME_EACH,
        ...get(AT),
        ...sixteenAt(1),
        ...sixteen(word[1] as number),
        ...SAME_EACH,
        ...BOTH,
        ...BITS,
        ...tee(MAYBE),
        EQZ,
        { inside: [...addTo(AT, 16), { to: 'on' }] },
        ...get(AT),
        ...get(MAYBE),
        CTZ,
        ADD,
        ...set(AT),
        ...when(isWord, giveBack(get(AT))),
        ...addTo(AT, 1),
        { to: 'on' },
      ],
    },
    ...number(FOUND.none),
  ]
}

function nextParts(names: SkimmedNames): Part[] {
  return [
    ...get(AT),
    ...get(LAST),
    CALL,
    FIND,
    ...tee(AT),
    ...number(FOUND.none),
    EQ,
    { inside: giveBack(number(FOUND.none)) },
    ...toLineStart(),
    ...[0, 16, 32, 48, 64].flatMap((from) => [
      ...get(GIVEN),
      ...sixteen(0xff),
      ...putSixteen(TOLD.starts + from),
    ]),
    ...put(PLACE, -1),
    ...put(INNER, -1),
    ...overSpace(),
    ...when(not(is(OPEN)), refused),
    {
      loop: 'value',
      parts: [
        ...when(get(NAMED), [...put(NAMED, 0), ...aName(names)]),
        { block: 'after', parts: aValue(names) },
        {
          loop: 'closed',
          parts: [
            ...noted(names, TOLD.ends),
            ...overSpace(),
            ...when(not(get(DEPTH)), [
              ...when(not(is(NEWLINE)), refused),
              ...get(GIVEN),
              ...get(AT),
              ...putFour(TOLD.end),
              ...giveBack([...number(FOUND.line), ...get(ODD), ADD]),
            ]),
            ...when(is(COMMA), [
              ...addTo(AT, 1),
              ...overSpace(),
              ...opened(),
              ...number(OPEN),
              EQ,
              ...set(NAMED),
              { to: 'value' },
            ]),
            ...when(
              [...opened(), ...number(CLOSES), ADD, ...get(BYTE), EQ],
              [...addTo(DEPTH, -1), ...addTo(AT, 1), { to: 'closed' }],
            ),
            ...refused,
          ],
        },
      ],
    },
    ...number(FOUND.refused),
  ]
}

/** Back to the byte behind the last end of a line. */
function toLineStart(): Part[] {
  return [
    {
      block: 'start',
      parts: [
        {
          loop: 'back',
          parts: [
            ...when(
              [...get(AT), ...number(16), AT_LEAST],
              [
                ...addTo(AT, -16),
                ...get(AT),
                ...sixteenAt(0),
                ...sixteen(NEWLINE),
                ...SAME_EACH,
                ...BITS,
                ...tee(STOPS),
                EQZ,
                { inside: [{ to: 'back' }] },
                ...get(AT),
                ...number(32),
                ADD,
                ...get(STOPS),
                CLZ,
                SUB,
                ...set(AT),
                { to: 'start' },
              ],
            ),
          ],
        },
        {
          loop: 'first',
          parts: [
            ...when(not(get(AT)), [{ to: 'start' }]),
            ...get(AT),
            ...number(1),
            SUB,
            ...byteAt(0),
            ...number(NEWLINE),
            EQ,
            { inside: [{ to: 'start' }] },
            ...addTo(AT, -1),
            { to: 'first' },
          ],
        },
      ],
    },
  ]
}

/** An end of line is none of it: it ends everything. Leaves the byte that follows. */
function overSpace(): Part[] {
  return [
    {
      loop: 'space',
      parts: [
        ...load,
        ...when(
          [...get(BYTE), ...number(0x21), LESS],
          when(either(0x20, 0x09, 0x0d), [...addTo(AT, 1), { to: 'space' }]),
        ),
      ],
    },
  ]
}

/** What the innermost list or object was opened with. */
function opened(): number[] {
  return [...get(GIVEN), ...get(DEPTH), ADD, ...byteAt(TOLD.open)]
}

/** From the first byte of a value, to `after` with the byte behind it; to `value` for the first one within it. */
function aValue({ mostDepth }: SkimmedNames): Part[] {
  return [
    ...when(is(QUOTE), [...aString(), ...addTo(AT, 1), { to: 'after' }]),
    ...when(either(OPEN, OPEN_LIST), [
      ...when([...get(DEPTH), ...number(mostDepth), AT_LEAST], refused),
      ...addTo(DEPTH, 1),
      ...get(GIVEN),
      ...get(DEPTH),
      ADD,
      ...get(BYTE),
      ...putByte(TOLD.open),
      ...addTo(AT, 1),
      ...overSpace(),
      ...when(
        [...opened(), ...number(CLOSES), ADD, ...get(BYTE), EQ],
        [...addTo(DEPTH, -1), ...addTo(AT, 1), { to: 'after' }],
      ),
      ...opened(),
      ...number(OPEN),
      EQ,
      ...set(NAMED),
      { to: 'value' },
    ]),
    ...['true', 'null', 'false'].flatMap((word) =>
      when(is(word.charCodeAt(0)), [
        ...when(not(spelled(AT, word)), refused),
        ...addTo(AT, word.length),
        { to: 'after' },
      ]),
    ),
    ...aNumber(),
  ]
}

function aNumber(): Part[] {
  const digits: Part[] = [
    ...get(AT),
    ...set(START),
    { loop: 'digits', parts: [...load, ...when(isDigit(), [...addTo(AT, 1), { to: 'digits' }])] },
    ...when([...get(AT), ...get(START), EQ], refused),
  ]
  return [
    ...when(is(0x2d), addTo(AT, 1)),
    ...load,
    {
      block: 'whole',
      parts: [...when(is(0x30), [...addTo(AT, 1), ...load, { to: 'whole' }]), ...digits],
    },
    ...when(is(0x2e), [...addTo(AT, 1), ...digits]),
    ...when(either(0x65, 0x45), [
      ...addTo(AT, 1),
      ...load,
      ...when(either(0x2b, 0x2d), addTo(AT, 1)),
      ...digits,
    ]),
  ]
}

const isDigit = (): number[] => [...get(BYTE), ...number(0x30), SUB, ...number(10), LESS]

/** From its first quote to its last. */
function aString(): number[] {
  const locals = { at: AT, stops: STOPS, byte: BYTE, bytes: BYTES, escaped: ESCAPED }
  return [...addTo(AT, 1), ...insideString(locals, refused)]
}

/** A name, to the first byte of its value. */
function aName(names: SkimmedNames): Part[] {
  const { ofLine, ofMessage, odd, message, usage } = names
  const isOf = (all: readonly (readonly [string, number])[], then: (place: number) => number[]): Part[] =>
    all.flatMap(([name, place]) => when(equals(LENGTH, name.length), when(spelled(START, name), then(place))))
  const odds = odd.map((name) => [name, FOUND.odd] as const)
  const { counts, split, splitCounts, unusual, unusualNames } = usage
  const unusuals = unusualNames.map((name) => [name, unusual] as const)
  const noteUnusual = [...get(GIVEN), ...get(AT), ...putFour(TOLD.starts + 4 * unusual)]
  const ofUsage = [...counts, ...splitCounts].map(([, place]) => place)
  const forget = (places: readonly number[]): Part[] =>
    places.flatMap((place) => [...get(GIVEN), ...number(-1), ...putFour(TOLD.starts + 4 * place)])
  return [
    ...when(not(is(QUOTE)), refused),
    ...put(ESCAPED, 0),
    ...get(AT),
    ...number(1),
    ADD,
    ...set(START),
    ...aString(),
    ...get(AT),
    ...get(START),
    SUB,
    ...set(LENGTH),
    ...when(equals(DEPTH, 1), [
      ...put(PLACE, -1),
      ...put(INNER, -1),
      ...isOf(ofLine, (place) => put(PLACE, place)),
      ...isOf(odds, () => put(ODD, 1)),
      ...get(ODD),
      ...get(ESCAPED),
      OR,
      ...set(ODD),
      // Of a message that is said again, nothing of the one before is left.
      ...when(equals(PLACE, message), forget([message, ...ofMessage.map(([, place]) => place)])),
    ]),
    ...when(isInner(message), [
      ...put(INNER, -1),
      ...isOf(ofMessage, (place) => put(INNER, place)),
      ...get(ODD),
      ...get(ESCAPED),
      OR,
      ...set(ODD),
      ...when(equals(INNER, usage.place), [...put(COUNT, -1), ...forget([unusual, ...ofUsage])]),
    ]),
    ...when(isCount(names), [
      ...put(COUNT, -1),
      ...isOf([...counts, ...unusuals], (place) => put(COUNT, place)),
      ...when(
        [...equals(COUNT, split), ...get(GIVEN), ...fourAt(TOLD.starts + 4 * split), ...number(-1), NE, AND],
        put(COUNT, unusual),
      ),
      ...when(get(ESCAPED), put(COUNT, unusual)),
    ]),
    ...addTo(AT, 1),
    ...overSpace(),
    ...when(not(is(COLON)), refused),
    ...addTo(AT, 1),
    ...overSpace(),
    ...noted(names, TOLD.starts),
    ...when(isCount(names), [
      ...note(COUNT, TOLD.starts),
      ...usage.usualWords.flatMap(([name, words]) =>
        when(
          equals(LENGTH, name.length),
          when(spelled(START, name), when(not(anyOf(words.map((word) => spelled(AT, word)))), noteUnusual)),
        ),
      ),
    ]),
    ...when(
      [...equals(DEPTH, 4), ...equals(COUNT, split), AND, ...isWithinUsage(names), AND],
      [
        ...isOf(splitCounts, (place) => [...get(GIVEN), ...get(AT), ...putFour(TOLD.starts + 4 * place)]),
        ...when(get(ESCAPED), noteUnusual),
      ],
    ),
  ]
}

const isInner = (message: number): number[] => [...equals(DEPTH, 2), ...equals(PLACE, message), AND]
const isWithinUsage = ({ message, usage }: SkimmedNames): number[] => [
  ...equals(PLACE, message),
  ...equals(INNER, usage.place),
  AND,
]
const isCount = (names: SkimmedNames): number[] => [...equals(DEPTH, 3), ...isWithinUsage(names), AND]

/** Where it is now, for the value that it is at, or behind, if that is one of those that are told. */
function noted({ message }: SkimmedNames, where: number): Part[] {
  return [...when(equals(DEPTH, 1), note(PLACE, where)), ...when(isInner(message), note(INNER, where))]
}

/** Where it is now, by the place that a local has, if it has one. */
function note(local: number, where: number): Part[] {
  return when(
    [...get(local), ...number(-1), NE],
    [...get(GIVEN), ...get(local), ...number(2), SHIFT, ADD, ...get(AT), ...putFour(where)],
  )
}

/** Whether a word stands there. */
function spelled(from: number, word: string): number[] {
  const bytes = Buffer.from(word)
  const tests: number[][] = []
  let at = 0
  for (; at + 4 <= bytes.length; at += 4)
    tests.push([...get(from), ...fourAt(at), ...number(bytes.readInt32LE(at)), EQ])
  for (; at < bytes.length; at += 1)
    tests.push([...get(from), ...byteAt(at), ...number(bytes[at] as number), EQ])
  return tests.flatMap((test, nth) => [...test, ...(nth > 0 ? [AND] : [])])
}
