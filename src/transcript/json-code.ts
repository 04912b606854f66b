/** What JSON is made of, as instructions that pass over it: strings, numbers, words. Pure. */
import {
  ADD,
  addTo,
  AND,
  anyOf,
  BITS,
  BR,
  byteAt,
  copy,
  CTZ,
  EITHER,
  EMPTY,
  END,
  EQ,
  equals,
  EQZ,
  fourAt,
  get,
  IF,
  LESS,
  LESS_EACH,
  loaded,
  LOOP,
  NE,
  not,
  number,
  OR,
  SAME_EACH,
  set,
  sixteen,
  sixteenAt,
  SUB,
  tee,
  when,
  type Part,
} from './wasm-code.ts'

/** What stands between values, by its byte. */
export const [QUOTE, COLON, COMMA, NEWLINE, OPEN, OPEN_LIST] = [0x22, 0x3a, 0x2c, 0x0a, 0x7b, 0x5b] as const
/** From what opens a list or an object to what closes it. */
export const CLOSES = 2

const [BACKSLASH, SPACE, SLASH, SMALL_U] = [0x5c, 0x20, 0x2f, 0x75] as const

/** The locals that `insideString` works on: where it is, two numbers, sixteen bytes; `all`: the bits of all bytes passed over. */
export type StringLocals = {
  readonly at: number
  readonly stops: number
  readonly byte: number
  readonly bytes: number
  readonly all?: number
  /** Becomes 1 where there is a backslash. */
  readonly escaped?: number
  /** Becomes 1 where a backslash stands before what `JSON.stringify` would mostly write without one. */
  readonly odd?: number
}

/**
 * From the byte behind a string's first quote to its last quote: `at` is then there. `refused` ends the function for what `JSON.parse`
 * would not take.
 */
export function insideString(
  { at, stops, byte, bytes, all, escaped, odd }: StringLocals,
  refused: readonly number[],
): number[] {
  const is = (letter: number): number[] => equals(byte, letter)
  const goOn = (by: number, depth: number): number[] => [...addTo(at, by), BR, depth]
  return [
    LOOP,
    EMPTY,
    // Of sixteen bytes, those that are a quote, a backslash or a control character.
    ...get(at),
    ...sixteenAt(0),
    ...tee(bytes),
    ...sixteen(QUOTE),
    ...SAME_EACH,
    ...get(bytes),
    ...sixteen(BACKSLASH),
    ...SAME_EACH,
    ...EITHER,
    ...get(bytes),
    ...sixteen(SPACE),
    ...LESS_EACH,
    ...EITHER,
    ...BITS,
    ...set(stops),
    ...(all === undefined ? [] : [...get(bytes), ...get(all), ...EITHER, ...set(all)]),
    ...get(stops),
    EQZ,
    IF,
    EMPTY,
    ...goOn(16, 1),
    END,
    ...get(at),
    ...get(stops),
    CTZ,
    ADD,
    ...tee(at),
    ...byteAt(0),
    ...tee(byte),
    ...number(QUOTE),
    NE,
    IF,
    EMPTY,
    ...get(byte),
    ...number(BACKSLASH),
    NE,
    IF,
    EMPTY,
    ...refused,
    END,
    ...(escaped === undefined ? [] : [...number(1), ...set(escaped)]),
    ...get(at),
    ...byteAt(1),
    ...set(byte),
    // Behind a backslash one of eight stands by itself, and `u` with four digits.
    ...(odd === undefined ? [] : [...is(SLASH), ...is(SMALL_U), OR, ...get(odd), OR, ...set(odd)]),
    ...anyOf(Array.from('"\\/bfnrt', (letter) => is(letter.charCodeAt(0)))),
    IF,
    EMPTY,
    ...goOn(2, 2),
    END,
    ...is(SMALL_U),
    ...[2, 3, 4, 5].flatMap((offset) => [...isHexAt(at, offset), AND]),
    IF,
    EMPTY,
    ...goOn(6, 2),
    END,
    ...refused,
    END,
    END,
  ]
}

/** A digit, or a letter from a to f in either case. */
function isHexAt(at: number, offset: number): number[] {
  const below = (least: number, count: number): number[] => [...number(least), SUB, ...number(count), LESS]
  return [
    ...get(at),
    ...byteAt(offset),
    ...below(0x30, 10),
    ...get(at),
    ...byteAt(offset),
    ...number(0x20),
    OR,
    ...below(0x61, 6),
    OR,
  ]
}

/** The locals that a number is passed over with: where it is, the byte there, and where its digits begin. */
export type NumberLocals = { readonly at: number; readonly byte: number; readonly start: number }

/** From the first byte of a number, which is loaded, to the byte behind it. */
export function aNumber({ at, byte, start }: NumberLocals, refused: readonly number[]): Part[] {
  const is = (letter: number): number[] => equals(byte, letter)
  const load = loaded(at, byte)
  const digits: Part[] = [
    ...copy(at, start),
    { loop: 'digits', parts: [...load, ...when(isDigit(byte), [...addTo(at, 1), { to: 'digits' }])] },
    ...when([...get(at), ...get(start), EQ], refused),
  ]
  return [
    ...when(is(0x2d), addTo(at, 1)),
    ...load,
    {
      block: 'whole',
      parts: [...when(is(0x30), [...addTo(at, 1), ...load, { to: 'whole' }]), ...digits],
    },
    ...when(is(0x2e), [...addTo(at, 1), ...digits]),
    ...when(
      [...is(0x65), ...is(0x45), OR],
      [...addTo(at, 1), ...load, ...when([...is(0x2b), ...is(0x2d), OR], addTo(at, 1)), ...digits],
    ),
  ]
}

export const isDigit = (byte: number): number[] => [...get(byte), ...number(0x30), SUB, ...number(10), LESS]

/** `true`, `null` or `false`, where one begins with the byte that is loaded: to the byte behind it, and on with what is given. */
export function aWord(at: number, byte: number, refused: readonly number[], then: readonly Part[]): Part[] {
  return ['true', 'null', 'false'].flatMap((word) =>
    when(equals(byte, word.charCodeAt(0)), [
      ...when(not(spelled(at, word)), refused),
      ...addTo(at, word.length),
      ...then,
    ]),
  )
}

/** Whether a word stands there. */
export function spelled(from: number, word: string): number[] {
  const bytes = Buffer.from(word)
  const tests: number[][] = []
  let at = 0
  for (; at + 4 <= bytes.length; at += 4)
    tests.push([...get(from), ...fourAt(at), ...number(bytes.readInt32LE(at)), EQ])
  for (; at < bytes.length; at += 1)
    tests.push([...get(from), ...byteAt(at), ...number(bytes[at] as number), EQ])
  return tests.flatMap((test, nth) => [...test, ...(nth > 0 ? [AND] : [])])
}
