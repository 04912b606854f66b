/**
 * Text that arrives in pieces, held outside of the heap as it comes: of many answers that come side by side each piece would outlive what
 * comes after it, and be moved and marked by every collection until its answer ends. Character by character as it was, halves of a pair
 * too.
 */
import { MESSAGE_LIMIT, type Budget, type Shelved } from './limits.ts'

export type Pieces = {
  add(text: string): void
  /** All of it, joined. */
  text(): string
  readonly isEmpty: boolean
}

type Encoding = 'latin1' | 'utf16le'
/** What a block was filled with. */
type Run = { readonly bytes: Buffer | Shelved; readonly encoding: Encoding }

/** Bytes of the first block, and of the longest: each is twice as long as the one before. */
const SHORTEST = 256
const LONGEST = 16 * 1024

export function createPieces(budget: Budget, limit: number = MESSAGE_LIMIT): Pieces {
  const runs: Run[] = []
  let block: Buffer | undefined
  let encoding: Encoding = 'latin1'
  let used = 0
  let next = SHORTEST
  let length = 0
  let isFull = false

  const close = (): void => {
    if (block === undefined) return
    const bytes = block.subarray(0, used)
    // What is short is not worth the way.
    const shelved = used < LONGEST / 2 ? undefined : budget.shelf?.put(bytes)
    runs.push({ bytes: shelved ?? bytes, encoding })
    used = 0
    if (shelved === undefined || block.length > LONGEST) block = undefined
  }
  return {
    add(text) {
      // Once something is missing, what follows must not close the gap unseen.
      if (isFull || length + text.length > limit) {
        isFull = true
        budget.drop(text.length)
        return
      }
      if (!budget.take(text.length)) {
        isFull = true
        return
      }
      length += text.length
      // Once and for all: text that goes to and fro would take a block each time.
      const own = encoding === 'utf16le' ? encoding : encodingOf(text)
      const size = own === 'latin1' ? text.length : 2 * text.length
      if (block === undefined || own !== encoding || used + size > block.length) close()
      encoding = own
      if (block === undefined || size > block.length) {
        block = Buffer.allocUnsafeSlow(Math.max(size, next))
        next = Math.min(2 * next, LONGEST)
      }
      used += block.write(text, used, own)
    },
    text() {
      let text = ''
      for (const run of block === undefined
        ? runs
        : [...runs, { bytes: block.subarray(0, used), encoding }]) {
        const bytes = Buffer.isBuffer(run.bytes) ? run.bytes : readBack(run.bytes)
        if (bytes === undefined) {
          // The same as where it is full: what follows must not close the gap.
          if (!isFull) budget.drop(length - text.length)
          isFull = true
          break
        }
        text += bytes.toString(run.encoding)
      }
      return text
    },
    get isEmpty() {
      return length === 0
    },
  }
}

function readBack(shelved: Shelved): Buffer | undefined {
  const bytes = Buffer.allocUnsafeSlow(shelved.length)
  return shelved.read(bytes) ? bytes : undefined
}

const BEYOND_LATIN1 = /[^\0-\xff]/

function encodingOf(text: string): Encoding {
  return BEYOND_LATIN1.test(text) ? 'utf16le' : 'latin1'
}
