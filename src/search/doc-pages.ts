/**
 * What the index knows of an entry besides its words: whose it is, and where its bytes lie. Sixty-four entries are one row of the
 * database, each in the same number of bytes, for a row apiece would take as long to write as the words.
 */
import { ROLES, type Role } from '../transcript/entry.ts'

/** All but `session`, `source` and `file`, which are numbers of the shard's own tables, is as the entry says. */
export type Doc = {
  readonly session: number
  readonly source: number
  readonly sequence: number
  /** Zero: the entry names none. */
  readonly file: number
  /** Of the kept file; undefined for the newest. */
  readonly version: number | undefined
  readonly byteOffset: number
  readonly byteLength: number
  /** Milliseconds since 1970: of the entry, or else of the last before it that says so. */
  readonly at: number
  /** False where `at` is that of another. */
  readonly hasAt: boolean
  readonly role: Role | undefined
  /** Which entry it is, among those of all recordings of the session. */
  readonly identity: bigint
  /** Tells the entry among those that its bytes are read as: see `markOf`. */
  readonly mark: number
  /** Of its words the index does not say where they stand, if it has them: see large-texts.ts. */
  readonly isLarge: boolean
}

export const PAGE_DOCS = 64
/** So that a page of docs is a page of SQLite's. */
export const DOC_BYTES = 56

/** Room for all of a page's docs, with those that were written before. */
export function createPage(written?: Uint8Array): Buffer {
  const page = Buffer.alloc(PAGE_DOCS * DOC_BYTES)
  if (written !== undefined) page.set(written.subarray(0, page.length))
  return page
}

export function writeDoc(page: Buffer, slot: number, doc: Doc): void {
  const at = slot * DOC_BYTES
  page.writeUInt32LE(doc.session, at)
  page.writeUInt32LE(doc.source, at + 4)
  page.writeUInt32LE(doc.sequence, at + 8)
  page.writeUInt32LE(doc.file, at + 12)
  page.writeUInt32LE(doc.version === undefined ? 0 : doc.version + 1, at + 16)
  page.writeUInt32LE(doc.mark, at + 20)
  page.writeDoubleLE(doc.byteOffset, at + 24)
  page.writeDoubleLE(doc.at, at + 32)
  page.writeBigUInt64LE(doc.identity, at + 40)
  page.writeUInt32LE(Math.min(doc.byteLength, 0xffff_ffff), at + 48)
  page.writeUInt32LE(
    (doc.hasAt ? HAS_AT : 0) |
      ((doc.role === undefined ? 0 : ROLES.indexOf(doc.role) + 1) << 1) |
      (doc.isLarge ? IS_LARGE : 0),
    at + 52,
  )
}

const HAS_AT = 1
const ROLE_BITS = 0x7f
const IS_LARGE = 0x100

export function readDoc(page: Buffer, slot: number): Doc {
  const at = slot * DOC_BYTES
  const version = page.readUInt32LE(at + 16)
  const flags = page.readUInt32LE(at + 52)
  return {
    session: page.readUInt32LE(at),
    source: page.readUInt32LE(at + 4),
    sequence: page.readUInt32LE(at + 8),
    file: page.readUInt32LE(at + 12),
    version: version === 0 ? undefined : version - 1,
    mark: page.readUInt32LE(at + 20),
    byteOffset: page.readDoubleLE(at + 24),
    at: page.readDoubleLE(at + 32),
    identity: page.readBigUInt64LE(at + 40),
    byteLength: page.readUInt32LE(at + 48),
    hasAt: (flags & HAS_AT) !== 0,
    role: ROLES[((flags >> 1) & ROLE_BITS) - 1],
    isLarge: (flags & IS_LARGE) !== 0,
  }
}
