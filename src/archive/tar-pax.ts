/** What pax says about the entry that follows it, in records of `<length> key=value`, where the length counts itself. */
import { HansardError } from '../errors.ts'

export type Pax = {
  readonly path?: string
  readonly sizeBytes?: number
  /** GNU's way of leaving holes out. */
  readonly isSparse?: boolean
}

export function paxRecord(key: string, value: string): Buffer {
  const body = ` ${key}=${value}\n`
  const size = Buffer.byteLength(body)
  let digits = String(size).length
  if (String(size + digits).length > digits) digits += 1
  return Buffer.from(`${size + digits}${body}`)
}

/** `isForeign`: also what we never write. Throws `not-a-transcript`. */
export function readPax(bytes: Buffer, isForeign: boolean): Pax {
  let pax: Pax = {}
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at)
    const length = space === -1 ? Number.NaN : Number(bytes.toString('latin1', at, space))
    if (!Number.isSafeInteger(length) || length < 5 || at + length > bytes.length)
      throw broken('a bad pax header')
    const record = bytes.toString('utf8', space + 1, at + length - 1)
    if (record.startsWith('path=')) pax = { ...pax, path: record.slice(5) }
    else if (/^(size|linkpath|GNU\.)/.test(record)) {
      if (!isForeign) throw broken('a pax header we do not take')
      if (record.startsWith('size=')) pax = { ...pax, sizeBytes: toSize(record.slice(5)) }
      else if (record.startsWith('GNU.sparse')) pax = { ...pax, isSparse: true }
    }
    at += length
  }
  return pax
}

function toSize(digits: string): number {
  const size = Number(digits)
  if (!/^[0-9]{1,16}$/.test(digits) || !Number.isSafeInteger(size)) throw broken('a bad pax header')
  return size
}

export function broken(why: string): HansardError {
  return new HansardError('not-a-transcript', `the tar file is damaged: ${why}`)
}
