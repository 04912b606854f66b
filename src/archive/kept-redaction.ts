/**
 * Redacts what another program wrote, a line at a time and in bounded memory. A line without secrets stays byte for byte what it
 * was; JSON with one is written anew; anything else is text. A line that cannot be redacted is withheld.
 */
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Redactor } from '../redact/redactor.ts'
import { parseJson, toJson } from '../transcript/json.ts'
import { RECORD_LIMIT } from '../transcript/lines.ts'
import { type Row, type SourceDatabase, type SqlValue, TextBytes } from '../transcript/source.ts'

/** How far the source was read: whole lines, what they came to, and the last 4 KB of them. */
export type Reached = { readonly bytes: number; readonly kept: number; readonly tail: Buffer }

export type Redaction = {
  apply(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer>
  /** After all of it. `rest`: what followed the last line's end, whose SHA-256 is given. */
  reached(): Reached & { readonly size: number; readonly rest: string }
}

const NEWLINE = 0x0a
const TAIL_BYTES = 4096

export function createRedaction(redactor: Redactor, start: Reached): Redaction {
  let { bytes, kept, tail } = start
  /** The line that has not ended: its parts, or only its length once it is too long. */
  let parts: Buffer[] = []
  let held = 0
  /** The last 4 KB of all that was read, the unfinished line with it. */
  let last = tail
  let rest = createHash('sha256')

  const hold = (piece: Buffer): void => {
    held += piece.length
    rest.update(piece)
    if (held > RECORD_LIMIT) parts = []
    else parts.push(piece)
  }
  const take = (): Buffer =>
    held > RECORD_LIMIT ? withheld(held) : redactBytes(redactor, Buffer.concat(parts))
  const endLine = (): Buffer => {
    const line = take()
    bytes += held + 1
    kept += line.length + 1
    parts = []
    held = 0
    rest = createHash('sha256')
    return line
  }

  return {
    async *apply(chunks) {
      for await (const chunk of chunks) {
        const out: Buffer[] = []
        let from = 0
        for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
          hold(chunk.subarray(from, at))
          out.push(endLine(), LINE_END)
          from = at + 1
        }
        if (from > 0) tail = endOf(last, chunk.subarray(0, from))
        last = endOf(last, chunk)
        if (from < chunk.length) hold(chunk.subarray(from))
        if (out.length > 0) yield Buffer.concat(out)
      }
      if (held > 0) yield take()
    },
    reached: () => ({ bytes, kept, tail, size: bytes + held, rest: rest.copy().digest('hex') }),
  }
}

/** The same database, with every text in its rows redacted, and every blob that is one. */
export function redactDatabase(database: SourceDatabase, redactor: Redactor): SourceDatabase {
  return {
    tables: () => database.tables(),
    columns: (table) => database.columns(table),
    key: (table) => database.key(table),
    rows: (table, options) => redactRows(database.rows(table, options), redactor),
    close: () => database.close(),
  }
}

async function* redactRows(
  batches: AsyncIterable<readonly Row[]>,
  redactor: Redactor,
): AsyncGenerator<readonly Row[]> {
  const redact = (value: SqlValue): SqlValue => {
    if (typeof value === 'string') return redactBytes(redactor, Buffer.from(value)).toString('utf8')
    if (value instanceof TextBytes) return new TextBytes(redactBytes(redactor, Buffer.from(value)))
    return value instanceof Uint8Array && isUtf8(value) ? redactBytes(redactor, Buffer.from(value)) : value
  }
  for await (const rows of batches) {
    yield rows.map((row) => {
      const redacted = Object.create(null) as Record<string, SqlValue>
      for (const [column, value] of Object.entries(row)) redacted[column] = redact(value)
      return redacted
    })
  }
}

const LINE_END = Buffer.from('\n')

function endOf(before: Buffer, after: Buffer): Buffer {
  const end = after.subarray(-TAIL_BYTES)
  return end.length === TAIL_BYTES ? Buffer.from(end) : Buffer.concat([before, end]).subarray(-TAIL_BYTES)
}

function redactBytes(redactor: Redactor, bytes: Buffer): Buffer {
  const text = bytes.toString('utf8')
  try {
    const value = parseJson(text)
    if (value === undefined) {
      const redacted = redactor.text(text)
      return redacted === text ? bytes : Buffer.from(redacted)
    }
    const redacted = redactor.json(value)
    return redacted === value ? bytes : Buffer.from(toJson(redacted))
  } catch {
    return withheld(bytes.length)
  }
}

function withheld(length: number): Buffer {
  return Buffer.from(JSON.stringify({ withheld: `a line of ${length} bytes that cannot be redacted` }))
}
