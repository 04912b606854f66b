/**
 * A WebAssembly module as its bytes: `end(at)` and `find(at, end)` of string-ends.ts over one memory, in instructions of the 128-bit
 * proposal that every Node.js since 16 has.
 */

/** Of 64 KB: what the memory has at first. */
const FIRST_PAGES = 16

// Instructions of WebAssembly, by their names in its specification.
const [I32, V128, EMPTY] = [0x7f, 0x7b, 0x40]
const [LOOP, IF, END, BR, RETURN] = [0x03, 0x04, 0x0b, 0x0c, 0x0f]
const [EQZ, EQ, NE, LESS, AT_LEAST, CTZ, ADD, SUB, AND, OR] = [
  0x45, 0x46, 0x47, 0x49, 0x4e, 0x68, 0x6a, 0x6b, 0x71, 0x72,
]

/** Whole numbers in groups of seven bits, the sign in the last. */
function signed(value: number): number[] {
  const bytes: number[] = []
  for (let left = value; ; left >>= 7) {
    const group = left & 0x7f
    if ((left >> 7 === 0 && group < 0x40) || (left >> 7 === -1 && group >= 0x40)) return [...bytes, group]
    bytes.push(group | 0x80)
  }
}
const number = (value: number): number[] => [0x41, ...signed(value)]
const get = (local: number): number[] => [0x20, local]
const set = (local: number): number[] => [0x21, local]
const tee = (local: number): number[] => [0x22, local]
const byteAt = (offset: number): number[] => [0x2d, 0, offset]
const fourAt = (offset: number): number[] => [0x28, 0, offset]
const twoAt = (offset: number): number[] => [0x2f, 0, offset]
const sixteenAt = (offset: number): number[] => [0xfd, 0x00, 0, offset]
const sixteen = (byte: number): number[] => [0xfd, 0x0c, ...Array<number>(16).fill(byte)]
const SAME_EACH = [0xfd, 0x23]
const LESS_EACH = [0xfd, 0x26]
const EITHER = [0xfd, 0x50]
const BOTH = [0xfd, 0x4e]
const BITS = [0xfd, 0x64]

const [QUOTE, BACKSLASH, SPACE, SMALL_U] = [0x22, 0x5c, 0x20, 0x75]

const giveBack = (value: number[]): number[] => [...value, RETURN]
/** Further by so many bytes, in the loop that many blocks around. */
const goOn = (by: number, depth: number): number[] => [...get(AT), ...number(by), ADD, ...set(AT), BR, depth]

/** Locals: `at`, the bits of bytes that stop, a byte, sixteen of them. */
const [AT, STOPS, BYTE, SIXTEEN] = [0, 1, 2, 3] as const

/** `end(at)`. */
function endBody(): number[] {
  const is = (byte: number): number[] => [...get(BYTE), ...number(byte), EQ]
  return [
    LOOP,
    EMPTY,
    // Of sixteen bytes, those that are a quote, a backslash or a control character.
    ...get(AT),
    ...sixteenAt(0),
    ...tee(SIXTEEN),
    ...sixteen(QUOTE),
    ...SAME_EACH,
    ...get(SIXTEEN),
    ...sixteen(BACKSLASH),
    ...SAME_EACH,
    ...EITHER,
    ...get(SIXTEEN),
    ...sixteen(SPACE),
    ...LESS_EACH,
    ...EITHER,
    ...BITS,
    ...tee(STOPS),
    EQZ,
    IF,
    EMPTY,
    ...goOn(16, 1),
    END,
    ...get(AT),
    ...get(STOPS),
    CTZ,
    ADD,
    ...tee(AT),
    ...byteAt(0),
    ...tee(BYTE),
    ...number(QUOTE),
    EQ,
    IF,
    EMPTY,
    ...giveBack([...get(AT), ...number(1), ADD]),
    END,
    ...get(BYTE),
    ...number(BACKSLASH),
    NE,
    IF,
    EMPTY,
    ...giveBack(number(-1)),
    END,
    ...get(AT),
    ...byteAt(1),
    ...set(BYTE),
    // Behind a backslash one of eight stands by itself, and `u` with four digits.
    ...Array.from('"\\/bfnrt').flatMap((letter, nth) => [
      ...is(letter.charCodeAt(0)),
      ...(nth > 0 ? [OR] : []),
    ]),
    IF,
    EMPTY,
    ...goOn(2, 1),
    END,
    ...is(SMALL_U),
    ...[2, 3, 4, 5].flatMap((offset) => [...isHexAt(offset), AND]),
    IF,
    EMPTY,
    ...goOn(6, 1),
    END,
    END,
    ...number(-1),
    END,
  ]
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

/** A digit, or a letter from a to f in either case. */
function isHexAt(offset: number): number[] {
  const below = (least: number, count: number): number[] => [...number(least), SUB, ...number(count), LESS]
  return [
    ...get(AT),
    ...byteAt(offset),
    ...below(0x30, 10),
    ...get(AT),
    ...byteAt(offset),
    ...number(0x20),
    OR,
    ...below(0x61, 6),
    OR,
  ]
}

const text = (name: string): number[] => [name.length, ...Buffer.from(name)]
const unsigned = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
const section = (id: number, content: readonly number[]): number[] => [
  id,
  ...unsigned(content.length),
  ...content,
]

/** What every module begins with: its name and the version. */
const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]

export function codeOfStringEnds(): Uint8Array {
  // Beside what they are given: numbers, and for the first one sixteen bytes.
  const end = [2, 2, I32, 1, V128, ...endBody()]
  const find = [1, 1, I32, ...findBody()]
  return new Uint8Array([
    ...HEADER,
    ...section(1, [2, 0x60, 1, I32, 1, I32, 0x60, 2, I32, I32, 1, I32]),
    ...section(3, [2, 0, 1]),
    ...section(5, [1, 0, FIRST_PAGES]),
    ...section(7, [3, ...text('memory'), 2, 0, ...text('end'), 0, 0, ...text('find'), 0, 1]),
    ...section(10, [2, ...unsigned(end.length), ...end, ...unsigned(find.length), ...find]),
  ])
}
