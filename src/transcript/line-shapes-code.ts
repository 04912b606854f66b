/**
 * The functions of line-shapes.ts over the memory that lines are cut in (cut-strings.ts): `match`, which passes over a line as the
 * shapes known so far say and notes where its values are; `skip` (skip-code.ts); `hasStars`, whether a text may be a patch; and two
 * hashes of texts (hashes-code.ts).
 */
import { codesOfHashes } from './hashes-code.ts'
import { aNumber, insideString, isDigit, NEWLINE, OPEN, OPEN_LIST } from './json-code.ts'
import { skipParts } from './skip-code.ts'
import {
  ADD,
  addTo,
  AND,
  AT_LEAST,
  BITS,
  BOTH,
  CALL,
  copy,
  END,
  equals,
  fourAt,
  get,
  giveBack,
  laidOut,
  loaded,
  NE,
  not,
  number,
  OR,
  put,
  putFour,
  SAME_EACH,
  set,
  SHIFT,
  sixteen,
  sixteenAt,
  SUB,
  when,
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

const STAR = 0x2a

const refused = giveBack(number(-1))

/** `first`: the number of the module's functions that stand before these. */
export function codesOfShapes(first: number): readonly Code[] {
  const body = (parts: readonly Part[]): number[] => [...laidOut(parts), END]
  return [
    { name: 'skip', given: 1, numbers: 5, sixteens: 1, body: body(skipParts()) },
    { name: 'match', given: 3, numbers: 11, sixteens: 2, body: body(matchParts(first)) },
    { name: 'hasStars', given: 2, numbers: 0, sixteens: 0, body: body(hasStarsParts()) },
    ...codesOfHashes(SHAPE_TOLD),
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
      ...loaded(AT, BYTE),
      ...aNumber({ at: AT, byte: BYTE, start: START }, refused),
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
