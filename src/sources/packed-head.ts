/**
 * The beginning of what is packed, unpacked at once and without a stream: for telling what a file is, which must cost next to nothing.
 * As many packed bytes are given as may be read; of a bomb no more than 2 MB are ever made.
 */
import { constants, gunzipSync, inflateRawSync, type ZlibOptions } from 'node:zlib'

type Unpack = (packed: Buffer, options: ZlibOptions) => Buffer

const MOST_BYTES = 2 * 1024 * 1024
/** Of headers alone nothing comes. */
const LEAST_BYTES = 256
/** What no bomb of deflate can make more of than the most. */
const SAFE_BYTES = 2000

/** The first `bytes` of it, or as many as the packed bytes make; undefined where they make no sense. */
export const gunzipHead = (packed: Buffer, bytes: number): Buffer | undefined =>
  unpackHead(packed, bytes, gunzipSync)

export const inflateHead = (packed: Buffer, bytes: number): Buffer | undefined =>
  unpackHead(packed, bytes, inflateRawSync)

function unpackHead(packed: Buffer, bytes: number, unpack: Unpack): Buffer | undefined {
  // Text is packed to a tenth or a fifth, and what repeats itself to far less: mostly the second try is enough.
  for (let length = Math.max(LEAST_BYTES, bytes >> 5); ; length *= 5) {
    const out = tryUnpack(packed.subarray(0, length), unpack)
    if (out === 'too much') return pick(tryUnpack(packed.subarray(0, SAFE_BYTES), unpack), bytes)
    if (out === undefined || out.length >= bytes || length >= packed.length) return pick(out, bytes)
  }
}

const pick = (out: Buffer | 'too much' | undefined, bytes: number): Buffer | undefined =>
  Buffer.isBuffer(out) ? out.subarray(0, bytes) : undefined

function tryUnpack(packed: Buffer, unpack: Unpack): Buffer | 'too much' | undefined {
  try {
    // Bytes that end too early are no error to this flush: what they make is given.
    return unpack(packed, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MOST_BYTES })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too much' : undefined
  }
}
