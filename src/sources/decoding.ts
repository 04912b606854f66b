/**
 * A copy of a response's bytes, unpacked as its `content-encoding` says: the client gets them as they came, and does so itself. Bounded,
 * however much a few bytes unpack to; what cannot be unpacked is said, and what was unpacked before it is given.
 */
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Transform } from 'node:stream'
import { messageOf } from '../errors.ts'

export type Decoding = {
  push(chunk: Buffer): void
  /** When all that was pushed has been given. Says what went wrong, if anything. */
  end(): Promise<string | undefined>
}

/** Far above any answer, far below what a bomb makes. */
const MOST_UNPACKED = 256 * 1024 * 1024
/** For the ratio that zstd is held to: how long the answer will be is not known before its end. */
const MOST_PACKED = 1024 * 1024

/** `give` is called in order, and while `push` runs where nothing is packed. */
export function createDecoding(encoding: string | undefined, give: (chunk: Buffer) => void): Decoding {
  const name = (encoding ?? 'identity').trim().toLowerCase()
  if (name === 'identity' || name === '') return { push: give, end: async () => undefined }
  const create = UNPACKERS[name]
  if (create !== undefined) return fromTransform(name, create(), give)
  if (name === 'zstd') return createZstdDecoding(give)
  return { push() {}, end: async () => `packed as ${name.slice(0, 40)}, which is not known` }
}

const UNPACKERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

function fromTransform(name: string, transform: Transform, give: (chunk: Buffer) => void): Decoding {
  let given = 0
  let problem: string | undefined
  const stop = (why: string): void => {
    problem ??= why
    transform.destroy()
  }
  transform.on('data', (chunk: Buffer) => {
    given += chunk.length
    if (given > MOST_UNPACKED) stop(`unpacks to more than ${MOST_UNPACKED} bytes`)
    else give(chunk)
  })
  transform.on('error', (error) => stop(`the ${name} stream breaks off: ${messageOf(error)}`))
  return {
    push(chunk) {
      if (problem === undefined) transform.write(Buffer.from(chunk))
    },
    end: () =>
      new Promise((resolve) => {
        if (problem !== undefined) return resolve(problem)
        transform.on('close', () => resolve(problem))
        transform.end()
      }),
  }
}

/** Loaded when it is met: a decoder of our own, for Node.js without one. */
function createZstdDecoding(give: (chunk: Buffer) => void): Decoding {
  const chunks: Buffer[] = []
  let wake: () => void = () => {}
  let isOver = false
  const input = (async function* () {
    for (;;) {
      for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) yield chunk
      if (isOver) return
      await new Promise<void>((resolve) => (wake = resolve))
    }
  })()
  let problem: string | undefined
  const done = (async () => {
    const { unzstd } = await import('./zstd.ts')
    const stopped = (_: number, why: string): void => void (problem = why)
    for await (const out of unzstd(input, { name: 'the answer', sizeBytes: MOST_PACKED, stopped })) give(out)
  })().catch((error: unknown) => (problem ??= messageOf(error)))
  return {
    push(chunk) {
      chunks.push(Buffer.from(chunk))
      wake()
    },
    async end() {
      isOver = true
      wake()
      await done
      return problem
    },
  }
}
