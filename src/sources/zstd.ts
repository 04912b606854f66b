/**
 * Zstandard as a stream, its frames one after the other: decoded by Node itself where it can (22.15 and later), else by
 * JavaScript that is loaded only then. Everything before the byte that makes no sense is given; a frame needs at most
 * 128 MB of memory, as the `zstd` program allows.
 */
import type { Transform } from 'node:stream'
import zlib from 'node:zlib'
import { boundRatio, CHUNK_BYTES, expand, type ExpandOptions } from './expand.ts'
import {
  BrokenFrame,
  type FramePiece,
  findFrame,
  frameAt,
  type FrameInput,
  toFrameInput,
} from './zstd-frame.ts'

export { isZstd } from './zstd-frame.ts'

/** Unpacks one frame. Throws whatever its pieces throw, and `BrokenFrame` for bytes that make no sense. */
export type DecodeFrame = (pieces: AsyncIterable<FramePiece>, options: ExpandOptions) => AsyncIterable<Buffer>

export async function* unzstd(
  compressed: AsyncIterable<Buffer>,
  options: ExpandOptions,
  decode?: DecodeFrame,
): AsyncGenerator<Buffer> {
  const check = boundRatio('zstd', options)
  let given = 0
  try {
    for await (const out of decodeAll(toFrameInput(compressed), options, decode ?? (await pickDecoder()))) {
      given += out.length
      check(given)
      yield out
    }
  } catch (error) {
    if (!(error instanceof BrokenFrame)) throw error
    options.stopped(given, `the zstd stream breaks off: ${error.message}`)
  }
}

async function* decodeAll(
  input: FrameInput,
  options: ExpandOptions,
  decode: DecodeFrame,
): AsyncGenerator<Buffer> {
  // Node's own decoder ends in silence after the first frame, and (before 24) in the middle of one that is cut off:
  // frames are told apart here, for both decoders.
  while (await findFrame(input)) yield* decode(frameAt(input), options)
}

async function pickDecoder(): Promise<DecodeFrame> {
  const create: unknown = Reflect.get(zlib, 'createZstdDecompress')
  if (typeof create === 'function') return nativeDecoder(create as CreateDecoder)
  const { javaScriptDecoder } = await import('./zstd-javascript.ts')
  return javaScriptDecoder()
}

type CreateDecoder = (options: { readonly chunkSize: number }) => Transform

function nativeDecoder(create: CreateDecoder): DecodeFrame {
  return async function* (pieces, options) {
    let broken: string | undefined
    const stopped = (_: number, reason: string): void => void (broken = reason)
    const bytes = (async function* () {
      for await (const piece of pieces) yield piece.bytes
    })()
    yield* expand(bytes, create({ chunkSize: CHUNK_BYTES }), 'zstd', { ...options, stopped })
    if (broken !== undefined) throw new BrokenFrame(broken)
  }
}
