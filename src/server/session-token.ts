/**
 * Who may ask. A token lies in the archive's folder, readable by its owner alone: programs send it. A page has a pass in its place,
 * which is good for a day, at one port; it gets it for a key that stands in an address and works once. No cookie: a browser sends
 * those to every server of this machine.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Archive } from '../archive/archive.ts'
import { readSecret, warnOfSecret } from '../archive/secret-file.ts'
import { isHansardError } from '../errors.ts'
import { writeWhole } from '../journal/files.ts'

export type Tokens = {
  /** For programs. */
  readonly token: string
  /** By the token or a pass in `Authorization`, or by a pass in the address: pictures, downloads and events send no header. */
  isKnown(headers: IncomingHttpHeaders, url: string): boolean
  /** For an address: works once. */
  newKey(): string
  /** A pass, when the key is a new one; it is used up. */
  redeem(key: string): string | undefined
}

export const TOKEN_FILE = 'server-token'
/** In an address. */
export const PASS = 'pass'
const BYTES = 32
/** Keys that wait to be used. */
const MOST_KEYS = 20
const PASS_MS = 24 * 60 * 60 * 1000

/** Passes are made of the token: a server that begins again knows the pages that are open. */
export function createTokens(token: string, port: () => number, now: () => number = Date.now): Tokens {
  const keys = new Set<string>()
  const passUntil = (until: string): string =>
    `${until}-${createHmac('sha256', token).update(`page ${port()} ${until}`).digest('base64url')}`
  const isPass = (given: string): boolean => {
    const until = given.split('-', 1)[0] ?? ''
    return isSame(given, passUntil(until)) && Number.parseInt(until, 36) > now()
  }
  return {
    token,
    isKnown({ authorization }, url) {
      const [, bearer] = /^Bearer ([\w-]{1,128})$/i.exec(authorization ?? '') ?? []
      if (bearer !== undefined) return isSame(bearer, token) || isPass(bearer)
      return isPass(new URLSearchParams(url.split('?', 2)[1]).get(PASS) ?? '')
    },
    newKey() {
      const key = randomBytes(BYTES).toString('base64url')
      keys.add(digestOf(key).toString('hex'))
      for (const oldest of keys) if (keys.size > MOST_KEYS) keys.delete(oldest)
      return key
    },
    redeem(key) {
      if (!keys.delete(digestOf(key).toString('hex'))) return undefined
      return passUntil((now() + PASS_MS).toString(36))
    },
  }
}

/** The same for every server of the archive, so that one that begins again knows its programs and pages. */
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

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Of one length whatever is given, so that comparing takes one time. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(digestOf(a), digestOf(b))
