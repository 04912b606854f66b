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

/** Where text may lie that nobody needs before its message is over. */
export type Shelf = {
  /** Undefined when it is to stay where it is. */
  put(bytes: Uint8Array): Shelved | undefined
}
export type Shelved = {
  readonly length: number
  /** False when it cannot be read again. */
  read(into: Uint8Array): boolean
}

/** What is left of `MESSAGE_LIMIT`, shared by all parts of one message. */
export type Budget = {
  readonly shelf?: Shelf
  /** False when the characters do not fit: they are counted as dropped, and the caller lets go of them. */
  take(characters: number): boolean
  drop(characters: number): void
  /** Characters that came and were not kept. */
  dropped(): number
}

export function createBudget(limit: number = MESSAGE_LIMIT, shelf?: Shelf): Budget {
  let left = limit
  let dropped = 0
  return {
    ...(shelf && { shelf }),
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
