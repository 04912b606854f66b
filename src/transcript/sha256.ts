/**
 * SHA-256 of texts. The first few short ones are hashed here: an id or two are needed by nearly every command, and node:crypto takes
 * longer to load than many a command to answer. Whoever hashes more has it loaded, and it is faster. Pure.
 */
import { createHash } from 'node:crypto'

/** Of a text of a few hundred characters, each takes a tenth of a millisecond. */
const FEW = 24
const SHORT = 1000
/** The same few are asked for again and again: a place, a session. */
const known = new Map<string, Buffer>()
/** And the last one several times in a row: a session's name as it is read. */
let latest: { readonly text: string; readonly digest: Buffer } | undefined

export function sha256(text: string): Buffer {
  const there = latest?.text === text ? latest.digest : known.get(text)
  if (there !== undefined) return Buffer.from(there)
  if (text.length > SHORT) return createHash('sha256').update(text).digest()
  if (known.size >= FEW) {
    latest = { text, digest: createHash('sha256').update(text).digest() }
    return Buffer.from(latest.digest)
  }
  const digest = hashShort(text)
  known.set(text, digest)
  return Buffer.from(digest)
}

/** The first 32 bits of the fractional parts of the roots of primes. */
function rootsOf(root: number, count: number): Uint32Array {
  const found = new Uint32Array(count)
  for (let at = 0, candidate = 2; at < count; candidate += 1) {
    if (!isPrime(candidate)) continue
    const value = candidate ** (1 / root)
    found[at] = Math.floor((value - Math.floor(value)) * 0x1_0000_0000)
    at += 1
  }
  return found
}

function isPrime(value: number): boolean {
  for (let by = 2; by * by <= value; by += 1) if (value % by === 0) return false
  return true
}

const ROUNDS = 64
const BLOCK = 64
let constants: { readonly rounds: Uint32Array; readonly start: Uint32Array } | undefined
const words = new Int32Array(ROUNDS)

export function hashShort(text: string): Buffer {
  const { rounds, start } = (constants ??= { rounds: rootsOf(3, ROUNDS), start: rootsOf(2, 8) })
  const message = padded(Buffer.from(text))
  const state = Int32Array.from(start)
  for (let from = 0; from < message.length; from += BLOCK) mix(state, message, from, rounds)
  const digest = Buffer.alloc(32)
  for (let at = 0; at < 8; at += 1) digest.writeInt32BE(state[at] as number, at * 4)
  return digest
}

/** A bit that is set, zeros, and the number of bits, to whole blocks. */
function padded(bytes: Buffer): Buffer {
  const message = Buffer.alloc(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK)
  bytes.copy(message)
  message[bytes.length] = 0x80
  message.writeUInt32BE(Math.floor(bytes.length / 0x2000_0000), message.length - 8)
  message.writeUInt32BE((bytes.length * 8) >>> 0, message.length - 4)
  return message
}

function mix(state: Int32Array, message: Buffer, from: number, rounds: Uint32Array): void {
  for (let at = 0; at < 16; at += 1) words[at] = message.readInt32BE(from + at * 4)
  for (let at = 16; at < ROUNDS; at += 1) {
    const early = words[at - 15] as number
    const late = words[at - 2] as number
    const small = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)
    const large = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10)
    words[at] = ((words[at - 16] as number) + small + (words[at - 7] as number) + large) | 0
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let at = 0; at < ROUNDS; at += 1) {
    const chosen = (e & f) ^ (~e & g)
    const most = (a & b) ^ (a & c) ^ (b & c)
    const one =
      (h +
        (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
        chosen +
        (rounds[at] as number) +
        (words[at] as number)) |
      0
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + most) | 0
    h = g
    g = f
    f = e
    e = (d + one) | 0
    d = c
    c = b
    b = a
    a = (one + two) | 0
  }
  for (const [at, value] of [a, b, c, d, e, f, g, h].entries()) state[at] = (state[at] as number) + value
}

function turn(value: number, by: number): number {
  return (value >>> by) | (value << (32 - by))
}
