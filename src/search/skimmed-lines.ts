/**
 * Lines with the word `"assistant"` in them, and where in each the values stand that make a call: most of a log is the inside of strings,
 * of which must only be told where they end and whether `JSON.parse` would take them. That is done sixteen bytes at a time, by two
 * functions of WebAssembly that are put together from their instructions (skimmed-lines-code.ts).
 */
import { instantiate, PAGE_BYTES } from '../transcript/wasm-code.ts'
import { codeOfLines } from './skimmed-lines-code.ts'
import { TOLD, type SkimmedNames } from './skimmed-names-code.ts'

export type SkimmedLines = {
  /**
   * Where what is looked at has to stand, with ends of lines in the `PADDING` bytes behind it: at least so many bytes, and what was
   * there before. What was given before is no longer to be used.
   */
  room(length: number): Buffer
  /** Where the word stands next, or -1. `end`: what is not looked at any more. */
  readonly find: (at: number, end: number) => number
  /** The next line with the word, from one that begins there on: one of `FOUND`. */
  next(at: number, end: number): number
  /** Where the values of the last line begin, with their quotes; -1 for one that is not there. */
  starts(): Int32Array
  /** Where those end that are there. */
  ends(): Int32Array
  /** Where the last line ends. */
  end(): number
}

/** What ends a line ends everything in it, so that no byte is asked whether it is the last. */
export const PADDING = 32
/** Behind the room: what is told, and what is open at each depth. */
const TOLD_BYTES = 1024

type Exports = {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): void }
  readonly find: (at: number, end: number) => number
  readonly next: (at: number, end: number, told: number) => number
}

/** Undefined where WebAssembly, or its comparing of sixteen bytes, is not to be had. */
export function createSkimmedLines(names: SkimmedNames): SkimmedLines | undefined {
  const exports = instantiate(codeOfLines(names))
  if (exports === undefined) return undefined
  // What the module exports.
  const { memory, find, next } = exports as Exports
  const places = 1 + Math.max(...[...names.ofLine, ...names.ofMessage].map(([, place]) => place))
  const { counts, splitCounts, unusual } = names.usage
  const all = 1 + Math.max(unusual, ...[...counts, ...splitCounts].map(([, place]) => place))
  const views = () => {
    const told = memory.buffer.byteLength - TOLD_BYTES
    return {
      told,
      bytes: Buffer.from(memory.buffer, 0, told),
      starts: new Int32Array(memory.buffer, told + TOLD.starts, all),
      ends: new Int32Array(memory.buffer, told + TOLD.ends, places),
      end: new Int32Array(memory.buffer, told + TOLD.end, 1),
    }
  }
  let now = views()
  return {
    find,
    next: (at, end) => next(at, end, now.told),
    starts: () => now.starts,
    ends: () => now.ends,
    end: () => now.end[0] as number,
    room(length) {
      const missing = length + PADDING - now.bytes.length
      if (missing > 0) {
        memory.grow(Math.ceil(missing / PAGE_BYTES))
        now = views()
      }
      return now.bytes
    },
  }
}
