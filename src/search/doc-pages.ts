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

/** For one doc: its bytes, and a way to write them that asks nothing of each number. */
export type DocBytes = { readonly bytes: Buffer; readonly view: DataView }

export function createDocBytes(): DocBytes {
  const bytes = Buffer.alloc(DOC_BYTES)
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, DOC_BYTES) }
}

export function writeDoc({ view }: DocBytes, doc: Doc): void {
  view.setUint32(0, doc.session, true)
  view.setUint32(4, doc.source, true)
  view.setUint32(8, doc.sequence, true)
  view.setUint32(12, doc.file, true)
  view.setUint32(16, doc.version === undefined ? 0 : doc.version + 1, true)
  view.setUint32(20, doc.mark, true)
  view.setFloat64(24, doc.byteOffset, true)
  view.setFloat64(32, doc.at, true)
  view.setBigUint64(40, doc.identity, true)
  view.setUint32(48, Math.min(doc.byteLength, 0xffff_ffff), true)
  const role = doc.role === undefined ? 0 : ROLES.indexOf(doc.role) + 1
  view.setUint32(52, (doc.hasAt ? HAS_AT : 0) | (role << 1) | (doc.isLarge ? IS_LARGE : 0), true)
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
