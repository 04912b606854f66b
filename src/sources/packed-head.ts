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
/** A beginning repeats less than what comes behind it: of the whole, packing leaves half as much. */
const BEGINNING = 2
/** Blocks are given when they are whole, and begin with their code. */
const MORE = 1.1

/** The first `bytes` of it, or as many as the packed bytes make; undefined where they make no sense. */
export const gunzipHead = (packed: Buffer, bytes: number): Buffer | undefined =>
  unpackHead(packed, bytes, gunzipSync)

/** `share` is what packing is said to have left of each byte: with it, mostly the first try is enough. */
export const inflateHead = (packed: Buffer, bytes: number, share?: number): Buffer | undefined =>
  unpackHead(packed, bytes, inflateRawSync, share)

function unpackHead(packed: Buffer, bytes: number, unpack: Unpack, share = 1 / 64): Buffer | undefined {
  for (let length = LEAST_BYTES + Math.ceil(bytes * Math.min(1, share * BEGINNING)); ;) {
    const out = tryUnpack(packed.subarray(0, length), unpack)
    if (out === 'too much') return pick(tryUnpack(packed.subarray(0, SAFE_BYTES), unpack), bytes)
    if (out === undefined || out.length >= bytes || length >= packed.length) return pick(out, bytes)
    // What comes is packed no worse than what came: mostly the second try is enough, and makes little more than that.
    const wanted = Math.ceil((length * bytes * MORE) / Math.max(1, out.length))
    length = Math.min(Math.max(wanted, length * 2), length * 16)
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
