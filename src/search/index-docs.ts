/**
 * The entries that a shard has of a unit, gone over from the first to the last while the unit is read: what stands there already
 * stays, what differs is written in its place, what is new follows, and what is left over goes.
 */
import type { Database } from '../sqlite/driver.ts'
import { prepared } from '../sources/state-statements.ts'
import { createDocBytes, createPage, DOC_BYTES, PAGE_DOCS, readDoc, writeDoc, type Doc } from './doc-pages.ts'
import type { GramSet } from './grams.ts'
import { aligned, type Numbers, type Span } from './index-numbers.ts'
import type { WordWriter } from './word-tables.ts'

export type IndexDocs = {
  /** The next entry. `words` are asked for only where they have to be written. `began`: the other time that it may be searched by. */
  put(doc: Doc, began: number, words: () => Words): void
  /** True where a page is full: all that was put so far may be settled. */
  isPageFull(): boolean
  /** Everything put so far is in the database. */
  settle(): void
  /** Nothing more comes: what the shard has beyond is removed. Says how many there are. */
  end(): number
}

/** `text`: in UTF-8. SQLite takes bytes for text, and they need not become a string for it. */
export type Words = { readonly text: Uint8Array; readonly facets: readonly string[] }

/** Entries with numbers in a row. The shard has those below `there`. */
type Piece = {
  readonly low: number
  /** One past the last that was put. */
  high: number
  readonly limit: number
  there: number
  isNew: boolean
  oldest: number
  newest: number
}

type Page = {
  readonly id: number
  readonly bytes: Buffer
  readonly newest: number
  readonly isNew: boolean
  isChanged: boolean
}

/** `grams`: of the texts whose words were asked for. */
export function openIndexDocs(
  database: Database,
  unit: number,
  numbers: Numbers,
  { grams, words: writer }: { readonly grams: Pick<GramSet, 'take'>; readonly words: WordWriter },
): IndexDocs {
  const sql = (text: string) => prepared(database, text)
  const pieces = sql('SELECT low, high, room FROM pieces WHERE unit = ? ORDER BY low')
    .all(unit)
    .map(({ low, high, room }) => newPiece({ low: Number(low), limit: Number(room) }, Number(high)))
  const isFresh = pieces.length === 0
  let at = 0
  let docs = 0
  let page: Page | undefined
  const scratch = createDocBytes()

  /** The piece that the next entry goes to. */
  const current = (): Piece => {
    for (;;) {
      const piece = pieces[at]
      if (piece !== undefined) {
        const isLast = at === pieces.length - 1
        if (piece.high < (isLast ? piece.limit : piece.there)) return piece
        settlePiece(piece)
        at += 1
      } else pieces.push(newPiece(isFresh && at === 0 ? numbers.begin() : numbers.more(docs)))
    }
  }
  const pageOf = (piece: Piece, number: number): Page => {
    const id = Math.floor(number / PAGE_DOCS)
    if (page?.id === id) return page
    settlePage()
    const row = number < piece.there ? sql('SELECT newest, docs FROM pages WHERE id = ?').get(id) : undefined
    const written = row?.['docs']
    page = {
      id,
      bytes: createPage(written instanceof Uint8Array ? written : undefined),
      newest: Number(row?.['newest'] ?? Number.NaN),
      isNew: row === undefined,
      isChanged: row === undefined,
    }
    return page
  }
  const settlePage = (): void => {
    const piece = pieces[at]
    if (page === undefined || piece === undefined) return
    if (page.isChanged || page.newest !== piece.newest) {
      const used = Math.min(PAGE_DOCS, Math.max(piece.high, piece.there) - page.id * PAGE_DOCS)
      const bytes = page.bytes.subarray(0, used * DOC_BYTES)
      if (page.isNew)
        sql('INSERT INTO pages (newest, docs, id) VALUES (?, ?, ?)').run(piece.newest, bytes, page.id)
      else sql('UPDATE pages SET newest = ?, docs = ? WHERE id = ?').run(piece.newest, bytes, page.id)
    }
    // What was written of a page in several passes is in several rows: what is gone since makes them no less true.
    const bits = grams.take()
    if (bits !== undefined) sql('INSERT INTO grams (page, bits) VALUES (?, ?)').run(page.id, bits)
    page = undefined
  }
  const settlePiece = (piece: Piece): void => {
    settlePage()
    // A new one keeps as much room as it needs: the next unit goes on from there.
    const isOurs = isFresh && piece === pieces[0]
    const high = Math.max(piece.high, piece.there)
    const room = isOurs ? aligned(piece.high) : piece.limit
    const facts = [unit, high, room, piece.oldest, piece.newest, piece.low]
    // Never `OR REPLACE`: a statement that may have to be taken back makes FTS5 sort what it holds, each time.
    sql(
      piece.isNew
        ? 'INSERT INTO pieces (unit, high, room, min_at, max_at, low) VALUES (?, ?, ?, ?, ?, ?)'
        : 'UPDATE pieces SET unit = ?, high = ?, room = ?, min_at = ?, max_at = ? WHERE low = ?',
    ).run(...facts)
    piece.isNew = false
    if (isOurs) numbers.end(piece.high)
  }
  const removePast = (piece: Piece): void => {
    for (let number = piece.high; number < piece.there; number += 1) writer.remove(number)
    removePages(database, Math.ceil(piece.high / PAGE_DOCS), Math.ceil(piece.there / PAGE_DOCS))
    piece.there = piece.high
  }

  return {
    put(doc, began, words) {
      const piece = current()
      const number = piece.high
      const own = pageOf(piece, number)
      const slot = number % PAGE_DOCS
      writeDoc(scratch, doc)
      const from = slot * DOC_BYTES
      const isThere = number < piece.there
      if (!isThere || scratch.bytes.compare(own.bytes, from, from + DOC_BYTES) !== 0) {
        const before = isThere ? readDoc(own.bytes, slot) : undefined
        if (before?.mark !== doc.mark || before.identity !== doc.identity) {
          if (isThere) writer.remove(number)
          const { text, facets } = words()
          if (slot === 0 && !isThere) writer.open(number, piece.limit)
          writer.add(number, text, facets.join(' '))
        }
        scratch.bytes.copy(own.bytes, from)
        own.isChanged = true
      }
      piece.oldest = Math.min(piece.oldest, doc.at, began)
      piece.newest = Math.max(piece.newest, doc.at, began)
      piece.high = number + 1
      docs += 1
    },
    isPageFull: () => (pieces[at]?.high ?? 1) % PAGE_DOCS === 0,
    settle() {
      const piece = pieces[at]
      if (piece !== undefined) settlePiece(piece)
    },
    end() {
      const last = pieces[at]
      if (last !== undefined) {
        removePast(last)
        settlePage()
        if (last.high > last.low) settlePiece(last)
        else sql('DELETE FROM pieces WHERE low = ?').run(last.low)
      }
      for (const piece of pieces.slice(at + 1)) {
        removePast(piece)
        sql('DELETE FROM pieces WHERE low = ?').run(piece.low)
      }
      return docs
    },
  }
}

function newPiece({ low, limit }: Span, there?: number): Piece {
  return {
    low,
    high: low,
    limit,
    there: there ?? low,
    isNew: there === undefined,
    oldest: Number.POSITIVE_INFINITY,
    newest: 0,
  }
}

function removePages(database: Database, from: number, below: number): void {
  prepared(database, 'DELETE FROM pages WHERE id >= ? AND id < ?').run(from, below)
  prepared(database, 'DELETE FROM grams WHERE page >= ? AND page < ?').run(from, below)
}

/** All that a shard has of a unit. */
export function removeDocs(database: Database, unit: number, words: WordWriter): void {
  for (const { low, high } of prepared(database, 'SELECT low, high FROM pieces WHERE unit = ?').all(unit)) {
    for (let number = Number(low); number < Number(high); number += 1) words.remove(number)
    removePages(database, Number(low) / PAGE_DOCS, Math.ceil(Number(high) / PAGE_DOCS))
  }
  prepared(database, 'DELETE FROM pieces WHERE unit = ?').run(unit)
}
