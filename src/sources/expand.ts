/**
 * What is compressed, unpacked as a stream: everything that can be read is given, also when the bytes are cut off or
 * damaged, and what grows out of all proportion is refused before it fills memory or disk.
 */
import type { Transform } from 'node:stream'
import { HansardError } from '../errors.ts'

export type ExpandOptions = {
  readonly name: string
  /** Compressed. */
  readonly sizeBytes: number
  /** Told once, when the bytes stop making sense: how many came out before, and why there are no more. */
  readonly stopped: (byteOffset: number, reason: string) => void
}

export const CHUNK_BYTES = 512 * 1024
/** Below this much output no ratio is suspicious. */
const FREE_BYTES = 64 * 1024 * 1024
/** JSON that repeats itself reaches 50 : 1; a bomb reaches 1000 : 1. */
const MAX_RATIO = 200

/** Everything `stream`, a decompressor of node:zlib, makes of the bytes. `kind` is what they are called in messages. */
export async function* expand(
  compressed: AsyncIterable<Buffer>,
  stream: Transform,
  kind: string,
  options: ExpandOptions,
): AsyncGenerator<Buffer> {
  const state = watch(stream)
  const check = boundRatio(kind, options)
  let given = 0
  const drain = function* (): Generator<Buffer> {
    for (let out = take(stream); out !== null; out = take(stream)) {
      given += out.length
      check(given)
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
    if (reason !== undefined) options.stopped(given, `the ${kind} stream breaks off: ${reason}`)
  } finally {
    stream.destroy()
  }
}

/** Throws `too-large` once more came out than anything but a bomb gives. */
export function boundRatio(kind: string, { name, sizeBytes }: ExpandOptions): (given: number) => void {
  return (given) => {
    if (given <= FREE_BYTES || given <= sizeBytes * MAX_RATIO) return
    throw new HansardError(
      'too-large',
      `${name} expands to more than ${MAX_RATIO} times its ${sizeBytes} bytes, as a ${kind} bomb does`,
      { hint: 'if you trust it, unpack it yourself and name the result' },
    )
  }
}

/** Pulled, never pushed: a stream that fails throws away what nobody has taken yet. */
function take(stream: Transform): Buffer | null {
  const out: unknown = stream.read()
  return Buffer.isBuffer(out) ? out : null
}

function watch(stream: Transform): {
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
