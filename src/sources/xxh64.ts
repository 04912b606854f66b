/**
 * XXH64 (seed 0) of a stream, for the checksum at the end of a Zstandard frame: the decoder in JavaScript does not look
 * at it, and bytes that changed on the disk must not pass for a transcript. Only the low half is kept, as the frame does.
 */

const P1 = 0x9e3779b185ebca87n
const P2 = 0xc2b2ae3d27d4eb4fn
const P3 = 0x165667b19e3779f9n
const P4 = 0x85ebca77c2b2ae63n
const P5 = 0x27d4eb2f165667c5n
const STRIPE_BYTES = 32

export type Checksum = { update(bytes: Buffer): void; low32(): number }

export function createChecksum(): Checksum {
  const lanes: [bigint, bigint, bigint, bigint] = [u64(P1 + P2), P2, 0n, u64(-P1)]
  let rest: Buffer = Buffer.alloc(0)
  let length = 0
  return {
    update(bytes) {
      length += bytes.length
      const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
      const whole = all.length - (all.length % STRIPE_BYTES)
      consume(lanes, all, whole)
      rest = Buffer.from(all.subarray(whole))
    },
    low32: () => Number(finish(lanes, rest, length) & 0xffffffffn),
  }
}

/** Local variables and whole expressions: only so does the engine keep 64-bit integers in registers. */
function consume(lanes: [bigint, bigint, bigint, bigint], bytes: Buffer, end: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let [a, b, c, d] = lanes
  for (let at = 0; at < end; at += STRIPE_BYTES) {
    a = round(a, view.getBigUint64(at, true))
    b = round(b, view.getBigUint64(at + 8, true))
    c = round(c, view.getBigUint64(at + 16, true))
    d = round(d, view.getBigUint64(at + 24, true))
  }
  lanes[0] = a
  lanes[1] = b
  lanes[2] = c
  lanes[3] = d
}

function finish(
  [a, b, c, d]: readonly [bigint, bigint, bigint, bigint],
  rest: Buffer,
  length: number,
): bigint {
  let hash = P5
  if (length >= STRIPE_BYTES) {
    hash = u64(rotate(a, 1n) + rotate(b, 7n) + rotate(c, 12n) + rotate(d, 18n))
    for (const lane of [a, b, c, d]) hash = u64((hash ^ round(0n, lane)) * P1 + P4)
  }
  hash = u64(hash + BigInt(length))
  let at = 0
  for (; at + 8 <= rest.length; at += 8) {
    hash = u64(rotate(hash ^ round(0n, rest.readBigUInt64LE(at)), 27n) * P1 + P4)
  }
  if (at + 4 <= rest.length) {
    hash = u64(rotate(hash ^ u64(BigInt(rest.readUInt32LE(at)) * P1), 23n) * P2 + P3)
    at += 4
  }
  for (; at < rest.length; at += 1) hash = u64(rotate(hash ^ u64(BigInt(rest[at] as number) * P5), 11n) * P1)
  hash = u64((hash ^ (hash >> 33n)) * P2)
  hash = u64((hash ^ (hash >> 29n)) * P3)
  return hash ^ (hash >> 32n)
}

function round(lane: bigint, input: bigint): bigint {
  const sum = BigInt.asUintN(64, lane + BigInt.asUintN(64, input * P2))
  const turned = BigInt.asUintN(64, sum << 31n) | (sum >> 33n)
  return BigInt.asUintN(64, turned * P1)
}

function rotate(value: bigint, bits: bigint): bigint {
  return u64(value << bits) | (value >> (64n - bits))
}

function u64(value: bigint): bigint {
  return BigInt.asUintN(64, value)
}
