/**
 * `cut(at, out)` of cut-strings.ts as a WebAssembly module, with the functions of line-shapes.ts beside it: one pass over a line, in which only quotes, brackets and what stands
 * behind a string are looked at one by one. Whether the rest is JSON is for `JSON.parse` to say, which gets all of it but the inside
 * of strings that were cut, checked here.
 */
import { insideString } from './json-code.ts'
import { codesOfShapes } from './line-shapes-code.ts'
import {
  ADD,
  addTo,
  AND,
  BITS,
  BR,
  byteAt,
  COPY,
  EMPTY,
  END,
  EQ,
  EQZ,
  fourAt,
  get,
  giveBack,
  IF,
  LESS_SIGNED,
  LOOP,
  moduleOf,
  MORE,
  number,
  OR,
  putFour,
  putTwo,
  SAME_EACH,
  set,
  sixteenAt,
  sixteenOf,
  SUB,
  tee,
} from './wasm-code.ts'

/** Where the line's end, how many strings were cut, and whether a byte is no ASCII are told: four bytes each. */
export const TOLD = { end: 0, cuts: 4, others: 8 } as const

/** What stands in place of a string's inside: as JSON spells a NUL. */
export const STAND_IN_CODE = String.raw`\u0000`

/** Of 64 KB: what the memory has at first, which a short log fits in. With more, V8 would look through all it holds for what may go. */
const FIRST_PAGES = 40

export type CutOptions = {
  /** In bytes, as it is spelled: a string that is longer is cut. */
  readonly longest: number
  /** Whose strings are cut: keys of at most 16 letters. */
  readonly keys: readonly string[]
  /** What is below this key, of at least four letters, is left as it is. */
  readonly whole: string
}

const [QUOTE, COLON, COMMA, SPACE, NEWLINE] = [0x22, 0x3a, 0x2c, 0x20, 0x0a]
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d]
/** No depth is so deep. */
const NEVER = 0x7fff_ffff

/** Locals: what is given, numbers, sixteen bytes. `below`: the depth from which on nothing is cut. */
const [AT, OUT, FROM, TO, KEY, KEY_LENGTH, DEPTH, BELOW, CUTS, BYTE, START, STOPS, ESCAPED, BYTES, ALL] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
] as const

export function codeOfCut(options: CutOptions): Uint8Array {
  const cut = { name: 'cut', given: 2, numbers: 11, sixteens: 2, body: cutBody(options) }
  return moduleOf(FIRST_PAGES, [cut, ...codesOfShapes(1)])
}

function cutBody({ longest, keys, whole }: CutOptions): number[] {
  const is = (byte: number): number[] => [...get(BYTE), ...number(byte), EQ]
  const either = (a: number, b: number): number[] => [...is(a), ...is(b), OR]
  const when = (condition: number[], then: number[]): number[] => [...condition, IF, EMPTY, ...then, END]
  const refused = giveBack(number(-1))
  const next = (by: number): number[] => [...addTo(AT, by), BR, 1]
  const noKey = [...number(0), ...set(KEY_LENGTH)]
  return [
    ...get(AT),
    ...set(FROM),
    ...get(OUT),
    ...set(TO),
    ...number(NEVER),
    ...set(BELOW),
    LOOP,
    EMPTY,
    ...get(AT),
    ...byteAt(0),
    ...set(BYTE),
    ...when(is(QUOTE), [...aString({ longest, keys, whole }, refused), BR, 1]),
    ...when(is(COMMA), [...noKey, ...next(1)]),
    ...when(either(OPEN, OPEN_LIST), [...noKey, ...addTo(DEPTH, 1), ...next(1)]),
    ...when(either(CLOSE, CLOSE_LIST), [
      ...noKey,
      ...addTo(DEPTH, -1),
      ...when([...get(DEPTH), ...get(BELOW), LESS_SIGNED], [...number(NEVER), ...set(BELOW)]),
      ...next(1),
    ]),
    ...when([...is(NEWLINE), EQZ], next(1)),
    END,
    // A line of which nothing was cut is taken from where it is.
    ...when(get(CUTS), copied(AT)),
    ...told(TOLD.end, get(AT)),
    ...told(TOLD.cuts, get(CUTS)),
    ...told(TOLD.others, [...get(ALL), ...BITS]),
    ...get(TO),
    ...get(OUT),
    SUB,
    END,
  ]
}

/** At a quote: to behind the string, and the colon of a key. */
function aString({ longest, keys, whole }: CutOptions, refused: number[]): number[] {
  const when = (condition: number[], then: number[]): number[] => [...condition, IF, EMPTY, ...then, END]
  const isBehind = (byte: number): number[] => [...get(BYTE), ...number(byte), EQ]
  const letters = Buffer.from(whole)
  const isWhole = [
    ...get(KEY_LENGTH),
    ...number(whole.length),
    EQ,
    ...get(KEY),
    ...fourAt(0),
    ...number(letters.readInt32LE(0)),
    EQ,
    AND,
    ...[...letters.subarray(4)].flatMap((letter, nth) => [
      ...get(KEY),
      ...byteAt(4 + nth),
      ...number(letter),
      EQ,
      AND,
    ]),
    ...get(DEPTH),
    ...get(BELOW),
    LESS_SIGNED,
    AND,
    // Nothing is below what is neither an object nor a list. Behind a space nobody looks.
    ...get(AT),
    ...byteAt(2),
    ...tee(BYTE),
    ...number(OPEN),
    EQ,
    ...isBehind(OPEN_LIST),
    OR,
    ...isBehind(SPACE),
    OR,
    AND,
  ]
  const isLong = [
    ...get(AT),
    ...get(START),
    SUB,
    ...number(longest),
    MORE,
    ...get(DEPTH),
    ...get(BELOW),
    LESS_SIGNED,
    AND,
  ]
  return [
    ...addTo(AT, 1),
    ...get(AT),
    ...set(START),
    ...number(0),
    ...set(ESCAPED),
    ...insideString({ at: AT, stops: STOPS, byte: BYTE, bytes: BYTES, all: ALL, escaped: ESCAPED }, refused),
    ...get(AT),
    ...byteAt(1),
    ...tee(BYTE),
    ...number(COLON),
    EQ,
    IF,
    EMPTY,
    // A key that is spelled in another way may be any.
    ...when(get(ESCAPED), refused),
    ...get(START),
    ...set(KEY),
    ...get(AT),
    ...get(START),
    SUB,
    ...set(KEY_LENGTH),
    ...when(isWhole, [...get(DEPTH), ...number(1), ADD, ...set(BELOW)]),
    ...addTo(AT, 2),
    // On with what is behind it: out of this, and of what asked for a quote.
    BR,
    2,
    END,
    // A key whose colon stands apart would be taken for a value.
    ...when([...isBehind(COMMA), ...isBehind(CLOSE), OR, ...isBehind(CLOSE_LIST), OR, EQZ], refused),
    ...when(isLong, [
      ...when(isOneOf(keys), [...copied(START), ...standIn(), ...get(AT), ...set(FROM), ...addTo(CUTS, 1)]),
    ]),
    ...number(0),
    ...set(KEY_LENGTH),
    ...addTo(AT, 1),
  ]
}

/** What was passed over since the last cut, up to there. */
function copied(end: number): number[] {
  return [
    ...get(TO),
    ...get(FROM),
    ...get(end),
    ...get(FROM),
    SUB,
    ...COPY,
    ...get(TO),
    ...get(end),
    ADD,
    ...get(FROM),
    SUB,
    ...set(TO),
  ]
}

function standIn(): number[] {
  const code = Buffer.from(STAND_IN_CODE)
  return [
    ...get(TO),
    ...number(code.readInt32LE(0)),
    ...putFour(0),
    ...get(TO),
    ...number(code.readInt16LE(4)),
    ...putTwo(4),
    ...addTo(TO, code.length),
  ]
}

function told(place: number, value: number[]): number[] {
  return [...number(0), ...value, ...putFour(place)]
}

function isOneOf(keys: readonly string[]): number[] {
  return keys.flatMap((key, nth) => {
    const bytes = Buffer.alloc(16)
    bytes.write(key)
    const bits = 2 ** key.length - 1
    return [
      ...get(KEY_LENGTH),
      ...number(key.length),
      EQ,
      ...get(KEY),
      ...sixteenAt(0),
      ...sixteenOf([...bytes]),
      ...SAME_EACH,
      ...BITS,
      ...number(bits),
      AND,
      ...number(bits),
      EQ,
      AND,
      ...(nth > 0 ? [OR] : []),
    ]
  })
}
