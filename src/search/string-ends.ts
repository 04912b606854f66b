/**
 * Where strings of JSON end, and where a word stands, sixteen bytes at a time. Most of a log is the inside of strings, which nobody
 * who looks for something else has to read: passing over one must only tell where it ends, and whether `JSON.parse` would take
 * it. Sixteen bytes are what WebAssembly compares at once; both functions are put together from their instructions (string-ends-code.ts).
 */
import { instantiate, PAGE_BYTES } from '../transcript/wasm-code.ts'
import { codeOfStringEnds } from './string-ends-code.ts'

export type StringEnds = {
  /**
   * Where what is looked at has to stand, with ends of lines in the `PADDING` bytes behind it: at least so many bytes, and what was
   * there before. What was given before is no longer to be used.
   */
  room(length: number): Buffer
  /** Whether these bytes are those that are looked at. */
  isHere(bytes: Buffer): boolean
  /** The byte behind the string's last quote, or -1 for no string. `at` is the byte behind the first quote. */
  readonly end: (at: number) => number
  /** Where `"assistant"` stands next, or -1. */
  readonly find: (at: number, end: number) => number
}

/** What ends a line ends every string, so that no byte is asked whether it is the last. */
export const PADDING = 32

type Exports = Pick<StringEnds, 'end' | 'find'> & {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): void }
}

/** Undefined where WebAssembly, or its comparing of sixteen bytes, is not to be had. */
export function createStringEnds(): StringEnds | undefined {
  const exports = instantiate(codeOfStringEnds())
  if (exports === undefined) return undefined
  // What the module below exports.
  const { memory, end, find } = exports as Exports
  let bytes = Buffer.from(memory.buffer)
  return {
    end,
    find,
    isHere: (given) => given.buffer === bytes.buffer && given.byteOffset === 0,
    room(length) {
      if (length + PADDING > bytes.length) {
        memory.grow(Math.ceil((length + PADDING - bytes.length) / PAGE_BYTES))
        bytes = Buffer.from(memory.buffer)
      }
      return bytes
    },
  }
}
