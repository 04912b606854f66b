/**
 * Who may ask. A token lies in the archive's folder, readable by its owner alone, for programs and as the cookie of browsers; a
 * browser gets the cookie for a key that stands in an address and works once.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Archive } from '../archive/archive.ts'
import { readSecret, warnOfSecret } from '../archive/secret-file.ts'
import { isHansardError } from '../errors.ts'
import { writeWhole } from '../journal/files.ts'

export type Tokens = {
  /** For programs. */
  readonly token: string
  isKnown(headers: IncomingHttpHeaders): boolean
  /** For an address: works once. */
  newKey(): string
  /** What `Set-Cookie` says, when the key is a new one; it is used up. */
  redeem(key: string): string | undefined
}

export const TOKEN_FILE = 'server-token'
const BYTES = 32
/** Keys that wait to be used. */
const MOST_KEYS = 20

/** `port`: cookies do not tell ports apart, so their names do. */
export function createTokens(token: string, port: () => number): Tokens {
  const keys = new Set<string>()
  const digest = digestOf(token)
  const isToken = (given: string): boolean => timingSafeEqual(digestOf(given), digest)
  const name = (): string => `hansard-${port()}`
  return {
    token,
    isKnown({ authorization, cookie }) {
      const [, bearer] = /^Bearer ([\w-]{1,128})$/i.exec(authorization ?? '') ?? []
      if (bearer !== undefined) return isToken(bearer)
      return cookiesOf(cookie ?? '', name()).some(isToken)
    },
    newKey() {
      const key = randomBytes(BYTES).toString('base64url')
      keys.add(digestOf(key).toString('hex'))
      for (const oldest of keys) if (keys.size > MOST_KEYS) keys.delete(oldest)
      return key
    },
    redeem(key) {
      if (!keys.delete(digestOf(key).toString('hex'))) return undefined
      return `${name()}=${token}; HttpOnly; SameSite=Strict; Path=/`
    },
  }
}

/** The same for every server of the archive, so that one that begins again knows the pages that are open. */
export function readToken(archive: Archive): string {
  const { files, home } = archive
  const secret = readSecret(files, home, TOKEN_FILE)
  const kept = secret?.bytes.toString('utf8').trim() ?? ''
  if (secret?.isOwn === true && /^[\w-]{43}$/.test(kept)) return kept
  if (secret?.isOwn === false) warnOfSecret(home, TOKEN_FILE)
  const token = randomBytes(BYTES).toString('base64url')
  if (archive.readOnly || files.kind(home) === undefined) return token
  try {
    writeWhole(files, home, TOKEN_FILE, Buffer.from(`${token}\n`))
  } catch (error) {
    // A folder that cannot be written: the token lasts as long as the server.
    if (!isHansardError(error)) throw error
  }
  return token
}

/** Of one length whatever is given, so that comparing takes one time. */
const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()

function cookiesOf(header: string, name: string): readonly string[] {
  return header
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1))
    .slice(0, 3)
}
