/**
 * The functions of line-shapes.ts over the memory that lines are cut in (cut-strings.ts): `match`, which passes over a line as the
 * shapes known so far say and notes where its values are; `skip`, over one value whatever it holds; `hasStars`, whether a text may be
 * a patch; and two hashes of texts.
 */
import { FIRST, SECOND } from './call-hash.ts'
import {
  ADD,
  addTo,
  AND,
  AT_LEAST,
  BITS,
  BOTH,
  byteAt,
  CALL,
  END,
  EQ,
  EQZ,
  fourAt,
  get,
  giveBack,
  insideString,
  laidOut,
  LESS,
  LESS_SIGNED,
  NE,
  number,
  OR,
  putByte,
  putFour,
  SAME_EACH,
  set,
  SHIFT,
  SHIFT_BACK,
  sixteen,
  sixteenAt,
  SUB,
  TIMES,
  when,
  XOR,
  type Code,
  type Part,
} from './wasm-code.ts'

/** Four bytes each: where a matched line ends, where its values do, both halves of a call's hash, the upper half of an id's. */
export const SHAPE_TOLD = { end: 16, values: 20, low: 24, high: 28, idHigh: 32 } as const

/** In bytes, of what is told of a value: where it begins, where it ends, and `FLAGS`. */
export const VALUE_BYTES = 12
/** Of a string: it is spelled with a backslash, and otherwise than `JSON.stringify` would; of any value: it may be more than ASCII. */
export const FLAGS = { escaped: 1, others: 2, odd: 4 } as const

/** What follows the text of an edge: the inside of a string, a number, an object, a list, the end of the line. */
export const KINDS = { string: 0, number: 1, object: 2, list: 3, end: 4 } as const

/** Of an edge: the next one from the same node, the node it leads to or the shape that ends there, how long its text is, its kind. */
export const EDGE = { next: 0, to: 4, length: 8, kind: 12, text: 16 } as const

/** What is open, from the first depth on. */
const OPEN_AT = 64
const MOST_DEPTH = 250
export const OPEN_END = OPEN_AT + MOST_DEPTH + 1

const [QUOTE, COLON, COMMA, NEWLINE, OPEN, OPEN_LIST, STAR] = [
  0x22, 0x3a, 0x2c, 0x0a, 0x7b, 0x5b, 0x2a,
] as const
/** From what opens a list or an object to what closes it. */
const CLOSES = 2

const refused = giveBack(number(-1))
const equals = (local: number, value: number): number[] => [...get(local), ...number(value), EQ]
const not = (condition: readonly number[]): number[] => [...condition, EQZ]
const put = (local: number, value: number): number[] => [...number(value), ...set(local)]
const copy = (from: number, to: number): number[] => [...get(from), ...set(to)]
const loaded = (at: number, byte: number): number[] => [...get(at), ...byteAt(0), ...set(byte)]
const isDigit = (byte: number): number[] => [...get(byte), ...number(0x30), SUB, ...number(10), LESS]

/** `first`: the number of the module's functions that stand before these. */
export function codesOfShapes(first: number): readonly Code[] {
  const body = (parts: readonly Part[]): number[] => [...laidOut(parts), END]
  return [
    { name: 'skip', given: 1, numbers: 5, sixteens: 1, body: body(skipParts()) },
    { name: 'match', given: 3, numbers: 11, sixteens: 2, body: body(matchParts(first)) },
    { name: 'hasStars', given: 2, numbers: 0, sixteens: 0, body: body(hasStarsParts()) },
    { name: 'mix', given: 3, numbers: 3, sixteens: 0, body: body(mixParts()) },
    { name: 'hashId', given: 2, numbers: 4, sixteens: 0, body: body(hashIdParts()) },
  ]
}

/** A number as JSON spells it, to the byte behind it. */
function aNumber(at: number, byte: number, start: number): Part[] {
  const digits: Part[] = [
    ...copy(at, start),
    {
      loop: 'digits',
      parts: [...loaded(at, byte), ...when(isDigit(byte), [...addTo(at, 1), { to: 'digits' }])],
    },
    ...when([...get(at), ...get(start), EQ], refused),
  ]
  return [
    ...loaded(at, byte),
    ...when(equals(byte, 0x2d), addTo(at, 1)),
    ...loaded(at, byte),
    {
      block: 'whole',
      parts: [
        ...when(equals(byte, 0x30), [...addTo(at, 1), ...loaded(at, byte), { to: 'whole' }]),
        ...digits,
      ],
    },
    ...when(equals(byte, 0x2e), [...addTo(at, 1), ...digits]),
    ...when(
      [...equals(byte, 0x65), ...equals(byte, 0x45), OR],
      [
        ...addTo(at, 1),
        ...loaded(at, byte),
        ...when([...equals(byte, 0x2b), ...equals(byte, 0x2d), OR], addTo(at, 1)),
        ...digits,
      ],
    ),
  ]
}

/** `skip(at)`: where the value ends that begins there; -1 for what `JSON.parse` would not take, what is too deep, and space between values. */
function skipParts(): Part[] {
  const [AT, BYTE, STOPS, START, DEPTH, NAMED, BYTES] = [0, 1, 2, 3, 4, 5, 6] as const
  const load = loaded(AT, BYTE)
  const aString: Part[] = [
    ...addTo(AT, 1),
    ...insideString({ at: AT, stops: STOPS, byte: BYTE, bytes: BYTES }, refused),
    ...addTo(AT, 1),
  ]
  const opened = [...get(DEPTH), ...byteAt(OPEN_AT)]
  const isClosed = [...opened, ...number(CLOSES), ADD, ...get(BYTE), EQ]
  const isNamed: Part[] = [...opened, ...number(OPEN), EQ, ...set(NAMED), { to: 'value' }]
  return [
    {
      loop: 'value',
      parts: [
        ...when(get(NAMED), [
          ...put(NAMED, 0),
          ...load,
          ...when(not(equals(BYTE, QUOTE)), refused),
          ...aString,
          ...load,
          ...when(not(equals(BYTE, COLON)), refused),
          ...addTo(AT, 1),
        ]),
        {
          block: 'after',
          parts: [
            ...load,
            ...when(equals(BYTE, QUOTE), [...aString, { to: 'after' }]),
            ...when(
              [...equals(BYTE, OPEN), ...equals(BYTE, OPEN_LIST), OR],
              [
                ...when([...get(DEPTH), ...number(MOST_DEPTH), AT_LEAST], refused),
                ...addTo(DEPTH, 1),
                ...get(DEPTH),
                ...get(BYTE),
                ...putByte(OPEN_AT),
                ...addTo(AT, 1),
                ...load,
                ...when(isClosed, [...addTo(DEPTH, -1), ...addTo(AT, 1), { to: 'after' }]),
                ...isNamed,
              ],
            ),
            ...['true', 'null', 'false'].flatMap((word) =>
              when(equals(BYTE, word.charCodeAt(0)), [
                ...when(not(spelled(AT, word)), refused),
                ...addTo(AT, word.length),
                { to: 'after' },
              ]),
            ),
            ...aNumber(AT, BYTE, START),
          ],
        },
        {
          loop: 'closed',
          parts: [
            ...when(not(get(DEPTH)), giveBack(get(AT))),
            ...load,
            ...when(equals(BYTE, COMMA), [...addTo(AT, 1), ...isNamed]),
            ...when(isClosed, [...addTo(DEPTH, -1), ...addTo(AT, 1), { to: 'closed' }]),
            ...refused,
          ],
        },
      ],
    },
    ...number(-1),
  ]
}

/**
 * `match(at, values, node)`: the shape of the line that begins there, from a node on, or -1. What its values are is told from `values`
 * on.
 */
function matchParts(skip: number): Part[] {
  const [AT, TOLD, NODE, EDGE_AT, LENGTH, DONE, BYTE, STOPS] = [0, 1, 2, 3, 4, 5, 6, 7] as const
  const [START, ESCAPED, KIND, HERE, FROM, ODD, BYTES, ALL] = [8, 9, 10, 11, 12, 13, 14, 15] as const
  const of = (field: keyof typeof EDGE): number[] => [...get(EDGE_AT), ...fourAt(EDGE[field])]
  const isKind = (kind: keyof typeof KINDS): number[] => equals(KIND, KINDS[kind])
  const tell = (offset: number, value: readonly number[]): number[] => [
    ...get(TOLD),
    ...value,
    ...putFour(offset),
  ]
  const goOn = (flags: readonly number[]): Part[] => [
    ...tell(0, get(FROM)),
    ...tell(4, get(AT)),
    ...tell(8, flags),
    ...addTo(TOLD, VALUE_BYTES),
    ...of('to'),
    ...set(NODE),
    { to: 'node' },
  ]
  const value: Part[] = [
    ...of('kind'),
    ...set(KIND),
    ...get(AT),
    ...get(LENGTH),
    ADD,
    ...set(FROM),
    ...when(isKind('string'), [
      ...copy(FROM, AT),
      ...put(ESCAPED, 0),
      ...put(ODD, 0),
      ...sixteen(0),
      ...set(ALL),
      ...insideString(
        { at: AT, stops: STOPS, byte: BYTE, bytes: BYTES, all: ALL, escaped: ESCAPED, odd: ODD },
        refused,
      ),
      ...goOn([
        ...get(ALL),
        ...BITS,
        ...number(0),
        NE,
        ...number(1),
        SHIFT,
        ...get(ODD),
        ...number(2),
        SHIFT,
        OR,
        ...get(ESCAPED),
        OR,
      ]),
    ]),
    ...loaded(FROM, BYTE),
    ...when(isKind('end'), [
      ...when(not(equals(BYTE, NEWLINE)), [{ to: 'differs' }]),
      ...number(0),
      ...get(FROM),
      ...putFour(SHAPE_TOLD.end),
      ...number(0),
      ...get(TOLD),
      ...putFour(SHAPE_TOLD.values),
      ...giveBack(of('to')),
    ]),
    ...when(isKind('number'), [
      ...when([...not(isDigit(BYTE)), ...not(equals(BYTE, 0x2d)), AND], [{ to: 'differs' }]),
      ...copy(FROM, AT),
      ...aNumber(AT, BYTE, START),
      ...goOn(number(0)),
    ]),
    ...when([...isKind('object'), ...not(equals(BYTE, OPEN)), AND], [{ to: 'differs' }]),
    ...when([...isKind('list'), ...not(equals(BYTE, OPEN_LIST)), AND], [{ to: 'differs' }]),
    ...get(FROM),
    CALL,
    skip,
    ...set(AT),
    ...when(equals(AT, -1), refused),
    // Nobody has looked.
    ...goOn(number(FLAGS.others)),
  ]
  const isFull: Part[] = [...get(LENGTH), ...get(DONE), SUB, ...number(16), AT_LEAST]
  return [
    {
      loop: 'node',
      parts: [
        ...get(NODE),
        ...fourAt(0),
        ...set(EDGE_AT),
        {
          loop: 'edge',
          parts: [
            ...when(not(get(EDGE_AT)), refused),
            ...of('length'),
            ...set(LENGTH),
            ...put(DONE, 0),
            {
              block: 'differs',
              parts: [
                {
                  loop: 'same',
                  parts: [
                    ...get(AT),
                    ...get(DONE),
                    ADD,
                    ...sixteenAt(0),
                    ...get(EDGE_AT),
                    ...get(DONE),
                    ADD,
                    ...sixteenAt(EDGE.text),
                    ...SAME_EACH,
                    ...BITS,
                    ...set(STOPS),
                    ...(isFull as number[]),
                    {
                      inside: [
                        ...when(not(equals(STOPS, 0xffff)), [{ to: 'differs' }]),
                        ...addTo(DONE, 16),
                        { to: 'same' },
                      ],
                    },
                  ],
                },
                // Of the last sixteen, those that are left.
                ...number(1),
                ...get(LENGTH),
                ...get(DONE),
                SUB,
                SHIFT,
                ...number(1),
                SUB,
                ...set(HERE),
                ...when([...get(STOPS), ...get(HERE), AND, ...get(HERE), NE], [{ to: 'differs' }]),
                ...value,
              ],
            },
            ...of('next'),
            ...set(EDGE_AT),
            { to: 'edge' },
          ],
        },
      ],
    },
    ...number(-1),
  ]
}

/** `hasStars(at, end)`: 1 where three stars stand in a row between these, or right behind them, else 0. */
function hasStarsParts(): Part[] {
  const [AT, LAST] = [0, 1] as const
  const starsAt = (offset: number): number[] => [
    ...get(AT),
    ...sixteenAt(offset),
    ...sixteen(STAR),
    ...SAME_EACH,
  ]
  return [
    {
      loop: 'on',
      parts: [
        ...when([...get(AT), ...get(LAST), AT_LEAST], giveBack(number(0))),
        ...starsAt(0),
        ...starsAt(1),
        ...BOTH,
        ...starsAt(2),
        ...BOTH,
        ...BITS,
        { inside: giveBack(number(1)) },
        ...addTo(AT, 16),
        { to: 'on' },
      ],
    },
    ...number(0),
  ]
}

/** `mix(from, to, step)`: a part of a text into the hash of a call, see call-hash.ts. */
function mixParts(): Part[] {
  const [AT, LAST, STEP, LOW, HIGH, WORD] = [0, 1, 2, 3, 4, 5] as const
  const held = (place: number): number[] => [...number(0), ...fourAt(place)]
  const times = (local: number, by: number, factor: number, shift: number): number[] => [
    ...get(local),
    ...get(WORD),
    by,
    ...number(factor | 0),
    TIMES,
    ...set(local),
    ...get(local),
    ...get(local),
    ...number(shift),
    SHIFT_BACK,
    XOR,
    ...set(local),
  ]
  const mixed = [...times(LOW, XOR, FIRST, 15), ...times(HIGH, ADD, SECOND, 13)]
  return [
    ...held(SHAPE_TOLD.low),
    ...set(LOW),
    ...held(SHAPE_TOLD.high),
    ...set(HIGH),
    {
      loop: 'words',
      parts: when(
        // Behind its end by some bytes, it is not four before it.
        [...get(LAST), ...number(4), SUB, ...get(AT), LESS_SIGNED, EQZ],
        [
          ...get(AT),
          ...fourAt(0),
          ...set(WORD),
          ...mixed,
          ...get(AT),
          ...get(STEP),
          ADD,
          ...set(AT),
          { to: 'words' },
        ],
      ),
    },
    {
      loop: 'bytes',
      parts: when(
        [...get(AT), ...get(LAST), LESS],
        [...loaded(AT, WORD), ...mixed, ...addTo(AT, 1), { to: 'bytes' }],
      ),
    },
    ...number(0),
    ...get(LOW),
    ...putFour(SHAPE_TOLD.low),
    ...number(0),
    ...get(HIGH),
    ...putFour(SHAPE_TOLD.high),
    ...number(0),
  ]
}

/** `hashId(from, to)`: as `hashText` has it, of ASCII: gives the lower half. */
function hashIdParts(): Part[] {
  const [AT, LAST, FIRST, SECOND, BYTE, HIGH] = [0, 1, 2, 3, 4, 5] as const
  const times = (local: number, factor: number): number[] => [
    ...get(local),
    ...get(BYTE),
    XOR,
    ...number(factor | 0),
    TIMES,
    ...set(local),
  ]
  const folded = (local: number, by: number, factor: number): number[] => [
    ...get(local),
    ...get(local),
    ...number(by),
    SHIFT_BACK,
    XOR,
    ...number(factor | 0),
    TIMES,
  ]
  return [
    ...put(FIRST, 0xdeadbeef | 0),
    ...put(SECOND, 0x41c6ce57),
    {
      loop: 'on',
      parts: when(
        [...get(AT), ...get(LAST), LESS],
        [
          ...loaded(AT, BYTE),
          ...times(FIRST, 2654435761),
          ...times(SECOND, 1597334677),
          ...addTo(AT, 1),
          { to: 'on' },
        ],
      ),
    },
    ...folded(FIRST, 16, 2246822507),
    ...folded(SECOND, 13, 3266489909),
    XOR,
    ...set(HIGH),
    ...number(0),
    ...get(HIGH),
    ...putFour(SHAPE_TOLD.idHigh),
    ...folded(SECOND, 16, 2246822507),
    ...folded(HIGH, 13, 3266489909),
    XOR,
  ]
}

/** Whether a word of four letters or more stands there. */
function spelled(at: number, word: string): number[] {
  const bytes = Buffer.from(word)
  return [
    ...get(at),
    ...fourAt(0),
    ...number(bytes.readInt32LE(0)),
    EQ,
    ...[...bytes.subarray(4)].flatMap((byte, nth) => [
      ...get(at),
      ...byteAt(4 + nth),
      ...number(byte),
      EQ,
      AND,
    ]),
  ]
}
