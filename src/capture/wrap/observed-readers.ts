/**
 * The usual ways of reading a stream, straight from the original: a stream between the two would take as long for each part as the
 * original does. All other ways go through the stream that stands in for it.
 */
import type { StreamWatch } from './observe-stream.ts'

type Bytes = ReadableStream<Uint8Array>
type Reader = ReadableStreamDefaultReader<Uint8Array>
type Read = Awaited<ReturnType<Reader['read']>>

/** `observed` itself, whose plain readers and loops are those of `original`. */
export function withOwnReaders(observed: Bytes, original: Bytes, watch: StreamWatch): Bytes {
  const whole = observed.getReader.bind(observed) as (options?: unknown) => unknown
  const loop = observed.values.bind(observed) as (options?: unknown) => unknown
  // What the stream says of itself, whatever is said for it.
  const isLocked = (): boolean => Reflect.get(ReadableStream.prototype, 'locked', observed)
  const sight = (): Sight => createSight(original, watch, () => void direct.add(observed))
  const getReader = (options?: { readonly mode?: string }): unknown =>
    options?.mode === undefined && !isLocked() ? toReader(original.getReader(), sight()) : whole(options)
  const values = (options?: { readonly preventCancel?: boolean }): unknown =>
    isLocked() ? loop(options) : toIterator(original.getReader(), sight(), options?.preventCancel === true)
  return Object.defineProperties(observed, {
    getReader: { value: getReader, configurable: true },
    values: { value: values, configurable: true },
    [Symbol.asyncIterator]: { value: values, configurable: true },
    locked: { get: () => isLocked() || original.locked, configurable: true },
  })
}

const direct = new WeakSet<object>()

/** Something was read that the stream itself knows nothing of. */
export function isReadDirectly(observed: object): boolean {
  return direct.has(observed)
}

/** What one reader sees, told to whoever watches. */
type Sight = {
  readonly touched: () => void
  readonly seen: (result: Read) => Promise<Read>
  readonly failed: (error: unknown) => never
  readonly canceled: (reason: unknown) => void
}

function createSight(original: Bytes, watch: StreamWatch, touched: () => void): Sight {
  let isOver = false
  return {
    touched,
    async seen(result) {
      if (result.done) {
        const isFirst = !isOver
        isOver = true
        if (isFirst) await watch.ended()
      } else if (result.value instanceof Uint8Array && result.value.byteLength > 0)
        watch.chunk(Buffer.from(result.value))
      return result
    },
    failed(error) {
      // A reader that was given back reads nothing, which is none of the stream's failures.
      if (!isOver && original.locked) watch.failed(error)
      isOver = true
      throw error
    },
    canceled(reason) {
      touched()
      if (!isOver) watch.canceled(reason)
      isOver = true
    },
  }
}

/** The reader itself, of its own class. */
function toReader(reader: Reader, { touched, seen, failed, canceled }: Sight): Reader {
  const read = reader.read.bind(reader)
  const cancel = reader.cancel.bind(reader)
  return Object.defineProperties(reader, {
    read: {
      value() {
        touched()
        return read().then(seen, failed)
      },
      configurable: true,
    },
    cancel: {
      value(reason?: unknown) {
        canceled(reason)
        return cancel(reason)
      },
      configurable: true,
    },
  })
}

/** As a stream's own: a loop that is left gives up the rest, unless it was asked not to. */
function toIterator(
  reader: Reader,
  { touched, seen, failed, canceled }: Sight,
  isKept: boolean,
): AsyncIterableIterator<Uint8Array> {
  let isOver = false
  let last: Promise<unknown> | undefined
  const came = async (result: Read): Promise<IteratorResult<Uint8Array>> => {
    await seen(result)
    if (!result.done) return result
    isOver = true
    reader.releaseLock()
    return { done: true, value: undefined }
  }
  const broken = (error: unknown): never => {
    isOver = true
    try {
      return failed(error)
    } finally {
      reader.releaseLock()
    }
  }
  const next = (): Promise<IteratorResult<Uint8Array>> => {
    if (isOver) return Promise.resolve({ done: true, value: undefined })
    touched()
    const read = reader.read().then(came, broken)
    last = read
    return read
  }
  const leave = async (value?: unknown): Promise<IteratorResult<Uint8Array>> => {
    await last?.catch(() => {})
    if (!isOver) {
      isOver = true
      if (!isKept) canceled(value)
      const given = isKept ? undefined : reader.cancel(value)
      reader.releaseLock()
      await given
    }
    return { done: true, value }
  }
  const iterator = { next, return: leave, [Symbol.asyncIterator]: () => iterator }
  return iterator
}
