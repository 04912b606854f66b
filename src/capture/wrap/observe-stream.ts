/**
 * A stream of bytes, read through: what its reader asks for is asked of the original, and what comes is handed on before anybody else
 * sees it. Nothing is read ahead and nothing is held back, so a slow reader holds up its writer and nothing piles up here. What breaks
 * or is given up at one end is so at the other.
 */
import { withOwnReaders } from './observed-readers.ts'

export type StreamWatch = {
  /** A copy, to be kept as long as one likes. */
  readonly chunk: (bytes: Buffer) => void
  /** The reader is told of the end when this is done. Must not reject. */
  readonly ended: () => Promise<void>
  readonly failed: (error: unknown) => void
  /** Its reader does not want the rest. */
  readonly canceled: (reason: unknown) => void
}

/** `watch` must not throw. The original is locked when the first byte is asked for. */
export function observeStream(
  stream: ReadableStream<Uint8Array>,
  watch: StreamWatch,
): ReadableStream<Uint8Array> {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  const original = (): ReadableStreamDefaultReader<Uint8Array> => (reader ??= stream.getReader())
  const cancel = (reason: unknown): Promise<void> => {
    watch.canceled(reason)
    return original().cancel(reason)
  }
  /** The next bytes; undefined at the end. Errors are the original's own. */
  const next = async (): Promise<Uint8Array | undefined> => {
    try {
      const { done, value } = await original().read()
      if (!done) return value
    } catch (error) {
      watch.failed(error)
      throw error
    }
    await watch.ended()
    return undefined
  }

  if (!isByteStream(stream)) {
    const observed = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const value = await next()
          if (value === undefined) return controller.close()
          controller.enqueue(value)
          if (value instanceof Uint8Array) watch.chunk(Buffer.from(value))
        },
        cancel,
      },
      { highWaterMark: 0 },
    )
    return withOwnReaders(observed, stream, watch)
  }
  const observed = new ReadableStream({
    type: 'bytes',
    async pull(controller) {
      let value = await next()
      // An empty part ends nothing, and such a stream does not take it.
      while (value?.byteLength === 0) value = await next()
      if (value === undefined) {
        controller.close()
        // Whoever reads into a buffer of his own waits for an answer at the end too.
        controller.byobRequest?.respond(0)
        return
      }
      // What is handed on is no longer ours: its memory goes with it.
      const copy = Buffer.from(value)
      controller.enqueue(value)
      watch.chunk(copy)
    },
    cancel,
  })
  return withOwnReaders(observed, stream, watch)
}

/** One whose readers may bring buffers of their own, as those of `fetch` are: nothing but asking for such a reader tells. */
function isByteStream(stream: ReadableStream<Uint8Array>): boolean {
  try {
    stream.getReader({ mode: 'byob' }).releaseLock()
    return true
  } catch {
    return false
  }
}
