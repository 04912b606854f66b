/**
 * Gzip as a stream: members concatenated, and everything that can be read is given, also when the file is cut off or
 * damaged. A file that grows out of all proportion is refused before it fills memory or disk.
 */
import { createGunzip, type Gunzip } from 'node:zlib'
import { HansardError } from '../errors.ts'

export type GunzipOptions = {
  readonly name: string
  /** On disk. */
  readonly sizeBytes: number
  /** Told once, when the bytes stop making sense: how many came out before, and why there are no more. */
  readonly stopped: (byteOffset: number, reason: string) => void
}

/** Below this much output no ratio is suspicious. */
const FREE_BYTES = 64 * 1024 * 1024
/** JSON that repeats itself reaches 50 : 1; a bomb reaches 1000 : 1. */
const MAX_RATIO = 200
const CHUNK_BYTES = 512 * 1024

export function isGzip(head: Buffer): boolean {
  return head[0] === 0x1f && head[1] === 0x8b
}

export async function* gunzip(
  compressed: AsyncIterable<Buffer>,
  { name, sizeBytes, stopped }: GunzipOptions,
): AsyncGenerator<Buffer> {
  const stream = createGunzip({ chunkSize: CHUNK_BYTES })
  const state = watch(stream)
  let given = 0
  const drain = function* (): Generator<Buffer> {
    for (let out = take(stream); out !== null; out = take(stream)) {
      given += out.length
      if (given > FREE_BYTES && given > sizeBytes * MAX_RATIO) refuse(name, sizeBytes)
      yield out
    }
  }
  try {
    for await (const piece of compressed) {
      state.feed(piece)
      while (state.busy()) {
        yield* drain()
        if (state.busy()) await state.change()
      }
      yield* drain()
      if (state.over()) break
    }
    if (!state.over()) stream.end()
    while (!state.over()) {
      yield* drain()
      if (!state.over()) await state.change()
    }
    yield* drain()
    const reason = state.failure()
    if (reason !== undefined) stopped(given, `the gzip stream breaks off: ${reason}`)
  } finally {
    stream.destroy()
  }
}

/** Pulled, never pushed: a stream that fails throws away what nobody has taken yet. */
function take(stream: Gunzip): Buffer | null {
  const out: unknown = stream.read()
  return Buffer.isBuffer(out) ? out : null
}

function watch(stream: Gunzip): {
  feed(piece: Buffer): void
  busy(): boolean
  over(): boolean
  failure(): string | undefined
  change(): Promise<void>
} {
  let writing = false
  let ended = false
  let failed: string | undefined
  let wake: () => void = () => {}
  const changed = (): void => wake()
  stream.on('readable', changed)
  stream.on('end', () => {
    ended = true
    changed()
  })
  stream.on('error', (error) => {
    failed = error.message
    changed()
  })
  const over = (): boolean => ended || failed !== undefined
  return {
    feed(piece) {
      writing = true
      stream.write(piece, () => {
        writing = false
        changed()
      })
    },
    busy: () => writing && !over(),
    over,
    failure: () => failed,
    change: () =>
      new Promise((resolve) => {
        wake = resolve
      }),
  }
}

function refuse(name: string, sizeBytes: number): never {
  throw new HansardError(
    'too-large',
    `${name} expands to more than ${MAX_RATIO} times its ${sizeBytes} bytes, as a gzip bomb does`,
    { hint: 'if you trust it, unpack it yourself (gunzip -c) and name the result' },
  )
}
