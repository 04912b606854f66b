/**
 * Lines of JSON without their longest strings, for those who ask a log for what it says of itself and not for what was said: most
 * bytes are the inside of a few strings, and parsing what is left takes a fraction of the time. A string that was cut is there as a
 * stand-in; all else, and whether it is JSON, is as it was.
 */
import { TOLD } from './cut-strings-code.ts'
import { SHAPES_END, type ShapeCode } from './line-shapes.ts'
import { instantiate, PAGE_BYTES } from './wasm-code.ts'

/** In place of a string that was cut. One that was this from the first is taken for one, too: who must know looks at the line. */
export const STAND_IN = '\0'

export type Cutter = {
  /** Where lines have to stand, from `LINES_AT` on: room for so many bytes and more behind them. What was given before is no longer it. */
  room(length: number): Buffer
  /**
   * Of the line that begins there and ends with a newline: how long it is without its long strings, which then stands at `out`; -1 where
   * it is odd. No byte of the line may be behind `out`.
   */
  readonly cut: (at: number, out: number) => number
  /** Of the line that was cut last: where its newline is, how many strings were cut, whether all bytes of its strings are ASCII. */
  end(): number
  cuts(): number
  isAscii(): boolean
  /** What shapes of lines are told by. */
  readonly shapes: ShapeCode
  /** All of the memory by fours, for as long as no more room is asked for. */
  numbers(): Int32Array
}

/** Before them: what is told, the values of lines whose shape is known, and these shapes (line-shapes.ts). */
export const LINES_AT = SHAPES_END

/** Looked at behind a line, whatever stands there. */
const PADDING = 64

type Exports = ShapeCode & {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): void }
  readonly cut: (at: number, out: number) => number
}

/** `code`: what `codeOfCut` gives. Undefined where the machine has no means for it. */
export function createCutter(code: Uint8Array): Cutter | undefined {
  const exports = instantiate(code)
  if (exports === undefined) return undefined
  // What the module exports.
  const { memory, cut, ...shapes } = exports as Exports
  let bytes = Buffer.from(memory.buffer)
  let told = new Int32Array(memory.buffer)
  return {
    cut,
    shapes,
    numbers: () => told,
    room(length) {
      const needed = LINES_AT + length + PADDING
      if (needed > bytes.length) {
        memory.grow(Math.ceil((needed - bytes.length) / PAGE_BYTES))
        bytes = Buffer.from(memory.buffer)
        told = new Int32Array(memory.buffer)
      }
      return bytes
    },
    end: () => told[TOLD.end / 4] as number,
    cuts: () => told[TOLD.cuts / 4] as number,
    isAscii: () => told[TOLD.others / 4] === 0,
  }
}
