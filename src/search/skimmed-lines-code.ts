/**
 * `find(at, last)` and `next(at, last, told)` of skimmed-lines.ts as a WebAssembly module: where a word stands, and one pass over the
 * line around it that takes what `JSON.parse` takes and notes where values begin and end. Instructions of the 128-bit proposal, which
 * every Node.js since 16 has.
 */
import {
  aNumber,
  aWord,
  CLOSES,
  COLON,
  COMMA,
  insideString,
  NEWLINE,
  OPEN,
  OPEN_LIST,
  QUOTE,
} from '../transcript/json-code.ts'
import {
  ADD,
  addTo,
  AND,
  anyOf,
  AT_LEAST,
  BITS,
  BOTH,
  byteAt,
  CALL,
  CLZ,
  CTZ,
  END,
  EQ,
  equals,
  EQZ,
  fourAt,
  get,
  giveBack,
  laidOut,
  LESS,
  loaded,
  moduleOf,
  not,
  number,
  put,
  putByte,
  putFour,
  putSixteen,
  SAME_EACH,
  set,
  sixteen,
  sixteenAt,
  SUB,
  tee,
  twoAt,
  when,
  type Part,
} from '../transcript/wasm-code.ts'
import {
  AT,
  begun,
  BYTE,
  BYTES,
  DEPTH,
  ended,
  ESCAPED,
  GIVEN,
  INNER,
  LAST,
  LENGTH,
  NAMED,
  ODD,
  PLACE,
  placed,
  START,
  STOPS,
  TOLD,
  type SkimmedNames,
} from './skimmed-names-code.ts'

/** What `next` gives: there is no such line any more, it is no JSON or too deep, it is one, and one that says something in odd names. */
export const FOUND = { none: -1, refused: 0, line: 1, odd: 2 } as const

/** Of 64 KB: what the memory has at first. */
const FIRST_PAGES = 16

const NUMBERS = 11
/** The first function of the module. */
const FIND = 0

const refused = giveBack(number(FOUND.refused))
const load = loaded(AT, BYTE)
const is = (byte: number): number[] => equals(BYTE, byte)
const either = (...bytes: readonly number[]): number[] => anyOf(bytes.map(is))

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
            ...ended(names),
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
    ...aWord(AT, BYTE, refused, [{ to: 'after' }]),
    ...aNumber({ at: AT, byte: BYTE, start: START }, refused),
  ]
}

/** From its first quote to its last. */
function aString(): number[] {
  const locals = { at: AT, stops: STOPS, byte: BYTE, bytes: BYTES, escaped: ESCAPED }
  return [...addTo(AT, 1), ...insideString(locals, refused)]
}

/** A name, to the first byte of its value. */
function aName(names: SkimmedNames): Part[] {
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
    ...placed(names),
    ...addTo(AT, 1),
    ...overSpace(),
    ...when(not(is(COLON)), refused),
    ...addTo(AT, 1),
    ...overSpace(),
    ...begun(names),
  ]
}
