/**
 * Bytes of something unfinished, copied into one buffer that doubles: linear however small the chunks are, at most twice the
 * bytes in memory, and nothing of the caller's chunks is held.
 */
export type HeldBytes = {
  append(chunk: Buffer, from: number, to: number): void
  /** What is held, as text; bytes that are no UTF-8 become U+FFFD. Empties. */
  take(): string
  /** Lets go of everything, the memory too. */
  clear(): void
  readonly length: number
}

const SMALLEST = 1024
/** Above this the buffer is given back after use: one large event must not cost its size for the rest of the stream. */
const KEPT = 256 * 1024

export function createHeldBytes(): HeldBytes {
  let buffer = Buffer.alloc(0)
  let length = 0
  const clear = (): void => {
    length = 0
    if (buffer.length > KEPT) buffer = Buffer.alloc(0)
  }
  return {
    append(chunk, from, to) {
      const needed = length + to - from
      if (needed > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.max(SMALLEST, needed, buffer.length * 2))
        buffer.copy(larger, 0, 0, length)
        buffer = larger
      }
      chunk.copy(buffer, length, from, to)
      length = needed
    },
    take() {
      const text = buffer.toString('utf8', 0, length)
      clear()
      return text
    },
    clear,
    get length() {
      return length
    },
  }
}

/** The same bytes as a Buffer, not copied. */
export function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}
