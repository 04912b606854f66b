/**
 * Instructions of WebAssembly by their names, put together to a module's bytes: for the few loops over bytes that processors do
 * sixteen at a time and JavaScript does not. Nothing here is a binary that nobody reads.
 */

/** As much as is used of it: the types of Node.js have no word of it. */
type Wasm = {
  CompileError: new () => Error
  Module: new (code: Uint8Array) => object
  Instance: new (module: object) => { readonly exports: unknown }
}

/** What the module exports; undefined where WebAssembly, its comparing of sixteen bytes, or room for its memory is not to be had. */
export function instantiate(code: Uint8Array): unknown {
  const wasm = (globalThis as { readonly WebAssembly?: Wasm }).WebAssembly
  if (wasm === undefined || isOutOfRoom) return undefined
  try {
    return new wasm.Instance(new wasm.Module(code)).exports
  } catch (error) {
    if (error instanceof wasm.CompileError) return undefined
    if (!(error instanceof RangeError)) throw error
    isOutOfRoom = true
    return undefined
  }
}

/** V8 sets 10 GB of addresses aside for each memory, which `ulimit -v` may forbid; to be told so takes a tenth of a second each time. */
let isOutOfRoom = false

export const PAGE_BYTES = 65_536

// By their names in the specification.
export const [I32, V128, EMPTY] = [0x7f, 0x7b, 0x40] as const
export const [BLOCK, LOOP, IF, END, BR, RETURN, CALL] = [0x02, 0x03, 0x04, 0x0b, 0x0c, 0x0f, 0x10] as const
export const [EQZ, EQ, NE, LESS_SIGNED, LESS, MORE, AT_LEAST] = [
  0x45, 0x46, 0x47, 0x48, 0x49, 0x4b, 0x4e,
] as const
export const [CLZ, CTZ, ADD, SUB, AND, OR, SHIFT] = [0x67, 0x68, 0x6a, 0x6b, 0x71, 0x72, 0x74] as const
export const [TIMES, XOR, SHIFT_BACK] = [0x6c, 0x73, 0x76] as const
export const SAME_EACH = [0xfd, 0x23] as const
export const LESS_EACH = [0xfd, 0x26] as const
export const BOTH = [0xfd, 0x4e] as const
export const EITHER = [0xfd, 0x50] as const
export const BITS = [0xfd, 0x64] as const
/** Given where to, from where and how many bytes. */
export const COPY = [0xfc, 0x0a, 0, 0] as const

/** Whole numbers in groups of seven bits, the sign in the last. */
function signed(value: number): number[] {
  const bytes: number[] = []
  for (let left = value; ; left >>= 7) {
    const group = left & 0x7f
    if ((left >> 7 === 0 && group < 0x40) || (left >> 7 === -1 && group >= 0x40)) return [...bytes, group]
    bytes.push(group | 0x80)
  }
}

const unsigned = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]

export const number = (value: number): number[] => [0x41, ...signed(value)]
export const get = (local: number): number[] => [0x20, local]
export const set = (local: number): number[] => [0x21, local]
export const tee = (local: number): number[] => [0x22, local]
export const fourAt = (offset: number): number[] => [0x28, 0, offset]
export const byteAt = (offset: number): number[] => [0x2d, 0, offset]
export const twoAt = (offset: number): number[] => [0x2f, 0, offset]
/** Given where and what. */
export const putFour = (offset: number): number[] => [0x36, 0, offset]
export const putByte = (offset: number): number[] => [0x3a, 0, offset]
export const putTwo = (offset: number): number[] => [0x3b, 0, offset]
export const sixteenAt = (offset: number): number[] => [0xfd, 0x00, 0, offset]
export const putSixteen = (offset: number): number[] => [0xfd, 0x0b, 0, offset]
export const sixteen = (byte: number): number[] => sixteenOf(Array<number>(16).fill(byte))
export const sixteenOf = (bytes: readonly number[]): number[] => [0xfd, 0x0c, ...bytes]
export const giveBack = (value: readonly number[]): number[] => [...value, RETURN]
export const addTo = (local: number, by: number): number[] => [
  ...get(local),
  ...number(by),
  ADD,
  ...set(local),
]

export const put = (local: number, value: number): number[] => [...number(value), ...set(local)]
export const copy = (from: number, to: number): number[] => [...get(from), ...set(to)]
/** The byte that stands where a local says. */
export const loaded = (at: number, byte: number): number[] => [...get(at), ...byteAt(0), ...set(byte)]
export const equals = (local: number, value: number): number[] => [...get(local), ...number(value), EQ]
export const not = (condition: readonly number[]): number[] => [...condition, EQZ]
export const anyOf = (conditions: readonly (readonly number[])[]): number[] =>
  conditions.flatMap((condition, nth) => [...condition, ...(nth > 0 ? [OR] : [])])

/** Instructions, and what is told by a name: what begins anew or ends when it is gone to, and going there. */
export type Part =
  | number
  | { readonly loop: string; readonly parts: readonly Part[] }
  | { readonly block: string; readonly parts: readonly Part[] }
  /** The condition stands before it. */
  | { readonly inside: readonly Part[] }
  | { readonly to: string }

export const when = (condition: readonly number[], then: readonly Part[]): Part[] => [
  ...condition,
  { inside: then },
]

/** As the specification has it: where to go is how many are left for it. `around`: names, the innermost first. */
export function laidOut(parts: readonly Part[], around: readonly string[] = []): number[] {
  return parts.flatMap((part) => {
    if (typeof part === 'number') return [part]
    if ('to' in part) {
      const depth = around.indexOf(part.to)
      if (depth < 0) throw new Error(`nothing is called ${part.to} there`)
      return [BR, depth]
    }
    if ('inside' in part) return [IF, EMPTY, ...laidOut(part.inside, ['', ...around]), END]
    const [code, name] = 'loop' in part ? [LOOP, part.loop] : [BLOCK, part.block]
    return [code, EMPTY, ...laidOut(part.parts, [name, ...around]), END]
  })
}

/** A function of so many numbers that gives one, with further locals for numbers and for sixteen bytes. */
export type Code = {
  readonly name: string
  readonly given: number
  readonly numbers: number
  readonly sixteens: number
  readonly body: readonly number[]
}

/** What every module begins with: its name and the version. */
const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]

/** Functions over one memory, `memory`, of so many pages at first. */
export function moduleOf(pages: number, functions: readonly Code[]): Uint8Array {
  const text = (name: string): number[] => [name.length, ...Buffer.from(name)]
  const section = (id: number, content: readonly number[]): number[] => [
    id,
    ...unsigned(content.length),
    ...content,
  ]
  const types = functions.flatMap(({ given }) => [0x60, given, ...Array<number>(given).fill(I32), 1, I32])
  const bodies = functions.flatMap(({ numbers, sixteens, body }) => {
    const locals = [...(numbers > 0 ? [numbers, I32] : []), ...(sixteens > 0 ? [sixteens, V128] : [])]
    const whole = [locals.length / 2, ...locals, ...body]
    return [...unsigned(whole.length), ...whole]
  })
  const names = functions.flatMap(({ name }, nth) => [...text(name), 0, nth])
  return new Uint8Array([
    ...HEADER,
    ...section(1, [functions.length, ...types]),
    ...section(3, [functions.length, ...functions.map((_, nth) => nth)]),
    ...section(5, [1, 0, ...unsigned(pages)]),
    ...section(7, [functions.length + 1, ...text('memory'), 2, 0, ...names]),
    ...section(10, [functions.length, ...bodies]),
  ])
}
