/**
 * What one response may make us hold. A provider, or whoever sits between, can send anything: past these the rest is counted
 * as dropped, the message is not complete, and nothing throws. Far above what real responses reach.
 */

/** Bytes of one event of a stream, or of one element of a streamed array. */
export const EVENT_LIMIT = 64 * 1024 * 1024
/** Characters kept of one message. Half of the longest string V8 can make. */
export const MESSAGE_LIMIT = 256 * 1024 * 1024
/** Characters of one tool call's arguments while they arrive in pieces. */
export const PARTIAL_JSON_LIMIT = 16 * 1024 * 1024
export const CHOICE_LIMIT = 128
/** Tool calls of one choice. */
export const TOOL_CALL_LIMIT = 1024
/** Blocks or items of one message. */
export const BLOCK_LIMIT = 4096

/** What is left of `MESSAGE_LIMIT`, shared by all parts of one message. */
export type Budget = {
  /** False when the characters do not fit: they are counted as dropped, and the caller lets go of them. */
  take(characters: number): boolean
  drop(characters: number): void
  /** Characters that came and were not kept. */
  dropped(): number
}

export function createBudget(limit: number = MESSAGE_LIMIT): Budget {
  let left = limit
  let dropped = 0
  return {
    take(characters) {
      if (characters > left) {
        dropped += characters
        return false
      }
      left -= characters
      return true
    },
    drop(characters) {
      dropped += characters
    },
    dropped: () => dropped,
  }
}

/** Text that arrives in pieces. */
export type Pieces = {
  add(text: string): void
  /** All of it, joined. */
  text(): string
  readonly isEmpty: boolean
}

/** Joined in batches, so that a million one-character pieces cost a million characters and not a million strings. */
const BATCH = 256

export function createPieces(budget: Budget, limit: number = MESSAGE_LIMIT): Pieces {
  const joined: Packed[] = []
  let batch: string[] = []
  let length = 0
  let full = false
  return {
    add(text) {
      // Once something is missing, what follows must not close the gap unseen.
      if (full || length + text.length > limit) {
        full = true
        budget.drop(text.length)
        return
      }
      if (!budget.take(text.length)) {
        full = true
        return
      }
      length += text.length
      batch.push(text)
      if (batch.length < BATCH) return
      joined.push(pack(batch.join('')))
      batch = []
    },
    text: () => joined.map(unpack).join('') + batch.join(''),
    get isEmpty() {
      return length === 0
    },
  }
}

/**
 * Text outside of the heap, character by character as it was, halves of a pair too: a heap that holds many answers for long lets as much
 * again lie about as they take.
 */
type Packed = { readonly bytes: Buffer; readonly encoding: 'latin1' | 'utf16le' }

const BEYOND_LATIN1 = /[^\0-\xff]/

function pack(text: string): Packed {
  const encoding = BEYOND_LATIN1.test(text) ? 'utf16le' : 'latin1'
  const bytes = Buffer.allocUnsafeSlow(text.length * (encoding === 'latin1' ? 1 : 2))
  bytes.write(text, encoding)
  return { bytes, encoding }
}

function unpack({ bytes, encoding }: Packed): string {
  return bytes.toString(encoding)
}
