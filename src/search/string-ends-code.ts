/**
 * A WebAssembly module as its bytes: `end(at)` and `find(at, end)` of string-ends.ts over one memory, in instructions of the 128-bit
 * proposal that every Node.js since 16 has.
 */
import {
  ADD,
  addTo,
  AND,
  AT_LEAST,
  BITS,
  BOTH,
  BR,
  CTZ,
  EMPTY,
  END,
  EQ,
  EQZ,
  fourAt,
  get,
  giveBack,
  IF,
  insideString,
  LOOP,
  moduleOf,
  number,
  SAME_EACH,
  sixteen,
  sixteenAt,
  tee,
  twoAt,
} from '../transcript/wasm-code.ts'

/** Of 64 KB: what the memory has at first. */
const FIRST_PAGES = 16

/** Locals: `at`, the bits of bytes that stop, a byte, sixteen of them. */
const [AT, STOPS, BYTE, SIXTEEN] = [0, 1, 2, 3] as const

/** Further by so many bytes, in the loop that many blocks around. */
const goOn = (by: number, depth: number): number[] => [...addTo(AT, by), BR, depth]

export function codeOfStringEnds(): Uint8Array {
  return moduleOf(FIRST_PAGES, [
    { name: 'end', given: 1, numbers: 2, sixteens: 1, body: endBody() },
    { name: 'find', given: 2, numbers: 1, sixteens: 0, body: findBody() },
  ])
}

/** `end(at)`. */
function endBody(): number[] {
  const locals = { at: AT, stops: STOPS, byte: BYTE, bytes: SIXTEEN }
  return [...insideString(locals, giveBack(number(-1))), ...get(AT), ...number(1), ADD, END]
}

/** `find(at, end)`: the second local is the end, the third the bits of bytes that may be it. */
function findBody(): number[] {
  const [LAST, FOUND] = [1, 2]
  const word = Buffer.from('"assistant"')
  return [
    LOOP,
    EMPTY,
    ...get(AT),
    ...get(LAST),
    AT_LEAST,
    IF,
    EMPTY,
    ...giveBack(number(-1)),
    END,
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
    ...tee(FOUND),
    EQZ,
    IF,
    EMPTY,
    ...goOn(16, 1),
    END,
    ...get(AT),
    ...get(FOUND),
    CTZ,
    ADD,
    ...tee(AT),
    ...fourAt(1),
    ...number(word.readInt32LE(1)),
    EQ,
    ...get(AT),
    ...fourAt(5),
    ...number(word.readInt32LE(5)),
    EQ,
    AND,
    ...get(AT),
    ...twoAt(9),
    ...number(word.readUInt16LE(9)),
    EQ,
    AND,
    IF,
    EMPTY,
    ...giveBack(get(AT)),
    END,
    ...goOn(1, 0),
    END,
    ...number(-1),
    END,
  ]
}
