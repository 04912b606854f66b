/**
 * Ids: made where we name things, checked where others do. An id that becomes part of a path has passed `checkId` first, so
 * that no later code has to think about `../`.
 */
import { randomBytes } from 'node:crypto'
import { HansardError } from '../errors.ts'
import { sha256 } from './sha256.ts'

const SAFE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** True when a text may be a file's or folder's name: it begins with a letter or digit and holds no separator, NUL or `..`. */
export function isSafeId(id: string): boolean {
  return SAFE.test(id) && !id.includes('..')
}

/** The id itself, or an `invalid-id` error that names it. `what` is the seed's own word: run id, thread id. */
export function checkId(id: string, what: string): string {
  if (isSafeId(id)) return id
  const shown = JSON.stringify(id.length > 80 ? `${id.slice(0, 80)}…` : id)
  throw new HansardError('invalid-id', `not a safe ${what}: ${shown}`, {
    hint: 'use up to 128 letters, digits, ".", "_" and "-", beginning with a letter or digit, without ".."',
  })
}

export function isUuid(id: string): boolean {
  return UUID.test(id)
}

/** A time-ordered UUID (version 7): what recorded sessions are called. */
export function createSessionId(now: number = Date.now()): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(now, 0, 6)
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  return toUuid(bytes)
}

/** The same UUID for the same parts, always: for formats that need one where there is none, and for kept sessions. */
export function uuidFrom(...parts: readonly string[]): string {
  const bytes = sha256(parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join('')).subarray(0, 16)
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  return toUuid(bytes)
}

/** The same, with the version that random ones have: for formats that promise it. */
export function uuid4From(...parts: readonly string[]): string {
  const uuid = uuidFrom(...parts)
  return `${uuid.slice(0, 14)}4${uuid.slice(15)}`
}

function toUuid(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}
