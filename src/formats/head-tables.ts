/**
 * The tables of an SQLite database by its first pages, without opening it: what a database is must be told by as few bytes as anything else.
 * Its schema is a table like any other, on the first page and on those that this one names (https://sqlite.org/fileformat2.html).
 */
import { SQLITE_MAGIC, type SourceFile } from '../transcript/source.ts'
import { HEAD_BYTES } from './head-records.ts'

export type HeadTables = {
  /** In the order they were declared; none for a table that is not there, or not known. */
  columns(table: string): readonly string[]
  /** All of them are known. False also where there are none: they may all be in the log that is written first. */
  readonly isTold: boolean
  readonly head: Buffer
}

const known = new WeakMap<Buffer, HeadTables>()

/** Undefined for what is no database. */
export async function readTables(file: SourceFile): Promise<HeadTables | undefined> {
  if (file.database === undefined) return undefined
  const head = await file.head(HEAD_BYTES)
  const found = known.get(head) ?? tablesIn(head)
  if (found !== undefined) known.set(head, found)
  return found
}

const HEADER_BYTES = 100
const LEAF = 0x0d
const INTERIOR = 0x05
/** A schema of more pages than lie in a head is damaged. */
const MOST_PAGES = 200

export function tablesIn(head: Buffer): HeadTables | undefined {
  if (head.length < HEADER_BYTES || head.toString('latin1', 0, SQLITE_MAGIC.length) !== SQLITE_MAGIC)
    return undefined
  const tables = new Map<string, readonly string[]>()
  let isWhole = true
  try {
    for (const sql of schemaIn(head, () => (isWhole = false))) {
      const table = parseTable(sql)
      if (table !== undefined) tables.set(table.name, table.columns)
    }
  } catch (error) {
    // Read past the end: the bytes do not say what they should.
    if (!(error instanceof RangeError)) throw error
    isWhole = false
  }
  return { columns: (table) => tables.get(table) ?? [], isTold: isWhole && tables.size > 0, head }
}

/** Each statement of the schema that lies within the bytes. */
function* schemaIn(head: Buffer, missing: () => void): Generator<string> {
  const stated = head.readUInt16BE(16)
  const size = stated === 1 ? 65_536 : stated
  const usable = size - head.readUInt8(20)
  const isText = head.readUInt32BE(56) <= 1
  if (size < 512 || usable < 480 || !isText) return missing()
  const pages = [1]
  for (let looked = 0; looked < pages.length; looked += 1) {
    const number = pages[looked] as number
    const page = head.subarray((number - 1) * size, number * size)
    const at = number === 1 ? HEADER_BYTES : 0
    const kind = page[at]
    if (page.length < size || looked > MOST_PAGES || (kind !== LEAF && kind !== INTERIOR)) {
      missing()
      continue
    }
    const cells = page.readUInt16BE(at + 3)
    const pointers = at + (kind === LEAF ? 8 : 12)
    for (let cell = 0; cell < cells; cell += 1) {
      const from = page.readUInt16BE(pointers + cell * 2)
      if (kind === INTERIOR) pages.push(page.readUInt32BE(from))
      else {
        const sql = statementIn(head, page, from, { size, usable })
        if (sql === undefined) missing()
        else yield sql
      }
    }
    if (kind === INTERIOR) pages.push(page.readUInt32BE(at + 8))
  }
}

type Sizes = { readonly size: number; readonly usable: number }

/** The last column of a row of the schema; empty where it says none, undefined where it lies behind the bytes. */
function statementIn(head: Buffer, page: Buffer, from: number, sizes: Sizes): string | undefined {
  const [length, afterLength] = readVarint(page, from)
  const [, start] = readVarint(page, afterLength)
  const payload = readPayload(head, page, start, length, sizes)
  if (payload === undefined) return undefined
  const [headerBytes, first] = readVarint(payload, 0)
  let at = first
  let body = headerBytes
  // type, name, tbl_name and rootpage stand before it.
  for (let column = 0; column < 4; column += 1) {
    const [serial, next] = readVarint(payload, at)
    body += bytesOf(serial)
    at = next
  }
  const [serial] = readVarint(payload, at)
  return payload.toString('utf8', body, body + bytesOf(serial))
}

/** Of a long row, a part lies on the page and the rest on a chain of others. */
function readPayload(
  head: Buffer,
  page: Buffer,
  start: number,
  length: number,
  { size, usable }: Sizes,
): Buffer | undefined {
  if (length <= usable - 35) return page.subarray(start, start + length)
  const least = Math.floor(((usable - 12) * 32) / 255) - 23
  const wanted = least + ((length - least) % (usable - 4))
  const local = wanted <= usable - 35 ? wanted : least
  const parts = [page.subarray(start, start + local)]
  let held = local
  for (let next = page.readUInt32BE(start + local); next !== 0 && held < length;) {
    const other = head.subarray((next - 1) * size, next * size)
    if (other.length < size) return undefined
    parts.push(other.subarray(4, usable))
    held += usable - 4
    next = other.readUInt32BE(0)
  }
  return Buffer.concat(parts).subarray(0, length)
}

function bytesOf(serial: number): number {
  if (serial >= 12) return (serial - (serial % 2 === 0 ? 12 : 13)) / 2
  return [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0][serial] ?? 0
}

/** Seven bits a byte, at most nine of them; and where it ends. */
function readVarint(bytes: Buffer, from: number): readonly [number, number] {
  let value = 0
  for (let at = from; at < from + 8; at += 1) {
    const byte = bytes.readUInt8(at)
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return [value, at + 1]
  }
  return [value * 256 + bytes.readUInt8(from + 8), from + 9]
}

const NAME =
  /^\s*(?:"((?:[^"]|"")*)"|`([^`]*)`|\[([^\]]*)\]|'([^']*)'|([A-Za-z_\u0080-\uFFFF][\w$\u0080-\uFFFF]*))/

/** `CREATE TABLE name (column type …, …)`: the names; undefined for anything else that a schema holds. */
function parseTable(sql: string): { readonly name: string; readonly columns: readonly string[] } | undefined {
  const create = /^CREATE\s+TABLE\s+/i.exec(sql)
  if (create === null) return undefined
  const named = NAME.exec(sql.slice(create[0].length))
  const from = named === null ? -1 : sql.indexOf('(', create[0].length + named[0].length)
  if (named === null || from === -1) return undefined
  const columns: string[] = []
  for (const part of partsOf(sql.slice(from + 1))) {
    if (/^\s*(?:CONSTRAINT|PRIMARY\s+KEY|UNIQUE|CHECK|FOREIGN\s+KEY)\b/i.test(part)) continue
    const column = NAME.exec(part)
    if (column !== null) columns.push(nameOf(column))
  }
  return { name: nameOf(named), columns }
}

const nameOf = ([, quoted, ticked, braced, single, plain]: RegExpExecArray): string =>
  quoted?.replaceAll('""', '"') ?? ticked ?? braced ?? single ?? plain ?? ''

/** What is not closed goes on to the end, so that nothing is gone through twice. */
const TOKEN =
  /--[^\n]*|\/\*[^]*?(?:\*\/|$)|"[^"]*(?:"|$)|'[^']*(?:'|$)|`[^`]*(?:`|$)|\[[^\]]*(?:\]|$)|[(),]|[^-/"'`[(),]+|[^]/g

/** What stands between the commas, up to the bracket that closes the list; comments left out. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = []
  let part = ''
  let depth = 0
  for (const [token] of text.matchAll(TOKEN)) {
    if (token.startsWith('--') || token.startsWith('/*')) part += ' '
    else if (token === ',' && depth === 0) {
      parts.push(part)
      part = ''
    } else if (token === ')' && depth === 0) break
    else {
      depth += token === '(' ? 1 : token === ')' ? -1 : 0
      part += token
    }
  }
  return [...parts, part]
}
