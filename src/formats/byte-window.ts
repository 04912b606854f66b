/**
 * A file's bytes as a window that moves over them: what is behind is let go, what is ahead is read when it is asked for. What is
 * compressed and breaks off ends there, and says so. Bytes are moved within the same memory: outside V8's heap, what is let go is
 * still there until V8 looks, and it looks late.
 */
import { isHansardError, systemCode } from '../errors.ts'
import type { DamageKind } from '../transcript/damage.ts'
import { RECORD_LIMIT } from '../transcript/lines.ts'
import type { SourceFile } from '../transcript/source.ts'

export type ByteWindow = {
  /** Until more is read: then others stand there. */
  readonly bytes: Buffer
  /** Where its first byte stands in the file. */
  readonly base: number
  /** Lets go of everything before `from`, and reads some MB more. False when there is nothing more to read. */
  more(from: number): Promise<boolean>
  /** Why the bytes end before the file does. */
  readonly broken: { readonly kind: DamageKind; readonly reason: string } | undefined
  /** Where the first NUL byte was, and how many stood there. */
  readonly nuls: { readonly at: number; readonly length: number } | undefined
  close(): Promise<void>
}

/** Read at once, so that bytes that are held are not copied for every chunk, and no more than can be held beside them. */
const LEAST_BYTES = 1024 * 1024
const MOST_BYTES = 4 * LEAST_BYTES

/** Enough for what is read at once, and for all but the largest records. */
const USUAL_BYTES = 3 * LEAST_BYTES
/**
 * For a record up to the limit, what is read behind it, and a chunk that is longer than was asked for: asked for at once, and taken from
 * the system only as it is filled. Grown by steps, each step would leave the one before; let go of behind each large record, those of
 * several would be there together.
 */
const LARGE_BYTES = RECORD_LIMIT + 2 * MOST_BYTES

export function openWindow(file: SourceFile): ByteWindow {
  const chunks = file.chunks({ isPassing: true })[Symbol.asyncIterator]()
  let store = Buffer.allocUnsafeSlow(USUAL_BYTES)
  let bytes = store.subarray(0, 0)
  let base = 0
  let isEnd = false
  let broken: ByteWindow['broken']
  let nuls: ByteWindow['nuls']

  const next = async (): Promise<Buffer | undefined> => {
    try {
      const { value, done } = await chunks.next()
      return done === true ? undefined : value
    } catch (error) {
      broken = breakOf(error)
      if (broken === undefined) throw error
      return undefined
    }
  }
  const notice = (chunk: Buffer, at: number): void => {
    if (nuls !== undefined) return
    const first = chunk.indexOf(0)
    if (first === -1) return
    let to = first
    while (chunk[to] === 0) to += 1
    nuls = { at: at + first, length: to - first }
  }

  /** What stands from there on, to the beginning. Gives its length. */
  const keep = (from: number): number => {
    const length = bytes.length - from
    store.copyWithin(0, from, bytes.length)
    return length
  }
  const grow = (held: number, least: number): void => {
    const before = store
    store = Buffer.allocUnsafeSlow(Math.max(least, LARGE_BYTES))
    before.copy(store, 0, 0, held)
  }

  return {
    get bytes() {
      return bytes
    },
    get base() {
      return base
    },
    get broken() {
      return broken
    },
    get nuls() {
      return nuls
    },
    async more(from) {
      let length = keep(from)
      base += from
      const before = length
      const enough = length + Math.min(Math.max(length, LEAST_BYTES), MOST_BYTES)
      while (!isEnd && length < enough) {
        const chunk = await next()
        if (chunk === undefined) isEnd = true
        else {
          notice(chunk, base + length)
          if (length + chunk.length > store.length) grow(length, length + chunk.length)
          length += chunk.copy(store, length)
        }
      }
      bytes = store.subarray(0, length)
      return length > before
    },
    close: async () => void (await chunks.return?.()),
  }
}

/** Undefined for what is no fault of the bytes: a disk that cannot be read. */
function breakOf(error: unknown): ByteWindow['broken'] {
  if (isHansardError(error))
    return error.code === 'too-large' ? { kind: 'too-large', reason: error.message } : undefined
  const code = systemCode(error)
  if (code?.startsWith('Z_') !== true) return undefined
  return {
    kind: code === 'Z_BUF_ERROR' ? 'torn' : 'checksum',
    reason: 'the compressed file is damaged from here',
  }
}
