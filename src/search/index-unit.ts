/**
 * One unit put into a shard, without the secrets that are in it. It is read whole, for only so its entries are known; of those that
 * the shard has already nothing is written again, so a session that grew costs the entries it grew by.
 */
import type { Redactor } from '../redact/redactor.ts'
import { prepared } from '../sources/state-statements.ts'
import type { Database } from '../sqlite/driver.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Doc } from './doc-pages.ts'
import { facetsOf, LARGE_UNTOLD, LARGE_WORDS, markOf, markOfLarge } from './doc-facts.ts'
import { identityOf } from './entry-identity.ts'
import { createGramSet, type GramSet } from './grams.ts'
import { openIndexDocs, removeDocs, type Words } from './index-docs.ts'
import type { Numbers } from './index-numbers.ts'
import { addLargeGrams, areLarge, largeTerms } from './large-texts.ts'
import { textsOf } from './match-texts.ts'
import { readListed } from './read-listed.ts'
import { toSearched } from './searched-entry.ts'
import { encodeTexts, type TextBytes } from './text-bytes.ts'
import type { Turn } from './turns.ts'
import type { ListedUnit } from './unit-list.ts'
import type { WordWriter } from './word-tables.ts'
import { createTermList } from './words.ts'

export type UnitWriter = {
  readonly database: Database
  readonly numbers: Numbers
  readonly words: WordWriter
  readonly redactor: Redactor
  readonly turn: Turn
  nameId(name: string): number
  addFacet(facet: string): void
  /** Told of bytes of words that were written; true when it is time to commit what there is of a unit. */
  wrote(bytes: number): boolean
  commit(): void
}

export class UnitFailed extends Error {
  readonly unit: ListedUnit
  constructor(unit: ListedUnit, cause: unknown) {
    super(unit.name, { cause })
    this.unit = unit
  }
}

/** What stands in for the version of a unit that is not written to its end. No version is like it. */
const UNFINISHED = ''

/** Says how many entries it has. Throws `UnitFailed` when it cannot be read. */
export async function writeUnit(writer: UnitWriter, unit: ListedUnit): Promise<number> {
  const { database } = writer
  const sql = (text: string) => prepared(database, text)
  sql('INSERT OR IGNORE INTO units (name, version, bytes) VALUES (?, ?, 0)').run(unit.name, UNFINISHED)
  const id = Number(sql('SELECT id FROM units WHERE name = ?').get(unit.name)?.['id'])
  const grams = createGramSet()
  const docs = openIndexDocs(database, id, writer.numbers, { grams, words: writer.words })
  const sessions = openSessions(database, id)
  let isFull = false
  let at = 0
  for await (const entries of entriesOf(unit, writer.turn)) {
    for (const { key, session, entry } of entries) {
      const said = Date.parse(entry.at ?? '')
      const hasAt = Number.isFinite(said)
      const start = toTime(unit.starts.get(key) ?? session.startedAt)
      at = hasAt ? said : at || start
      const title = unit.titles.get(key)
      const facets = facetsOf(entry)
      const texts = textsOf(entry, title)
      const encoded = areLarge(texts) ? undefined : encodeTexts(texts)
      const mark = encoded === undefined ? markOfLarge(texts, facets) : markOf(encoded, facets)
      let searched: Entry | undefined
      const source = entry.source === 'primary' ? entry : (searched = toSearched(entry, writer.redactor))
      const about = { session: sessions.idOf(key), at, hasAt, mark, isLarge: encoded === undefined }
      docs.put(
        toDoc(entry, source.source, about, writer),
        // Where an entry says nothing, a search by time goes by when the session began.
        hasAt ? at : start,
        () => {
          searched ??= toSearched(entry, writer.redactor)
          // Nothing was secret in most: what was made of them as they were read is it.
          const isSame = searched === entry
          const told = isSame ? facets : facetsOf(searched)
          const safe = isSame ? texts : textsOf(searched, title)
          const words =
            encoded === undefined
              ? wordsOfLarge(safe, told, grams)
              : wordsOf(isSame ? encoded : encodeTexts(safe), told, grams)
          for (const facet of words.facets) writer.addFacet(facet)
          isFull = writer.wrote(words.text.length)
          return words
        },
      )
      if (!isFull || !docs.isPageFull()) continue
      // So much in one transaction would fill the disk twice; what there is of the unit is not searched until all of it is there.
      docs.settle()
      sql('UPDATE units SET version = ? WHERE id = ?').run(UNFINISHED, id)
      writer.commit()
      isFull = false
    }
  }
  const count = docs.end()
  sessions.end()
  sql('UPDATE units SET version = ?, bytes = ? WHERE id = ?').run(unit.version, unit.bytes, id)
  return count
}

export function removeUnit(database: Database, name: string, words: WordWriter): void {
  const sql = (text: string) => prepared(database, text)
  const id = sql('SELECT id FROM units WHERE name = ?').get(name)?.['id']
  if (id === undefined) return
  removeDocs(database, Number(id), words)
  sql('DELETE FROM sessions WHERE unit = ?').run(id)
  sql('DELETE FROM units WHERE id = ?').run(id)
}

async function* entriesOf(unit: ListedUnit, turn: Turn): ReturnType<typeof readListed> {
  try {
    yield* readListed(unit, { enter: () => turn.enter() })
  } catch (error) {
    throw new UnitFailed(unit, error)
  } finally {
    turn.leave()
  }
}

/** The numbers of a unit's sessions: those that it had keep theirs. */
function openSessions(database: Database, unit: number): { idOf(key: string): number; end(): void } {
  const sql = (text: string) => prepared(database, text)
  const rows = sql('SELECT id, key FROM sessions WHERE unit = ?').all(unit)
  const known = new Map(rows.map(({ id, key }) => [String(key), Number(id)]))
  const used = new Set<string>()
  return {
    idOf(key) {
      used.add(key)
      const id = known.get(key)
      if (id !== undefined) return id
      sql('INSERT INTO sessions (unit, key) VALUES (?, ?)').run(unit, key)
      const added = Number(sql('SELECT last_insert_rowid() AS id').get()?.['id'])
      known.set(key, added)
      return added
    },
    end() {
      for (const [key, id] of known) if (!used.has(key)) sql('DELETE FROM sessions WHERE id = ?').run(id)
    },
  }
}

const list = createTermList()

function wordsOf(texts: TextBytes, facets: readonly string[], grams: GramSet): Words {
  grams.add(texts)
  list.addEncoded(texts)
  return { text: list.takeBytes(), facets }
}

function wordsOfLarge(texts: readonly string[], facets: readonly string[], grams: GramSet): Words {
  addLargeGrams(grams, texts)
  const terms = largeTerms(texts)
  if (terms === undefined) return { text: NO_WORDS, facets: [...facets, LARGE_UNTOLD] }
  return { text: terms, facets: [...facets, LARGE_WORDS] }
}

const NO_WORDS = new Uint8Array()

type About = {
  readonly session: number
  readonly at: number
  readonly hasAt: boolean
  readonly mark: number
  readonly isLarge: boolean
}

function toDoc(
  entry: Entry,
  source: string,
  { session, at, hasAt, mark, isLarge }: About,
  writer: UnitWriter,
): Doc {
  const { origin, sequence, role } = entry
  return {
    session,
    source: writer.nameId(source),
    sequence,
    file: origin === undefined ? 0 : writer.nameId(origin.file),
    version: origin?.version,
    byteOffset: origin?.byteOffset ?? 0,
    byteLength: origin?.byteLength ?? 0,
    at,
    hasAt,
    role,
    identity: identityOf(entry),
    mark,
    isLarge,
  }
}

function toTime(value: string | undefined): number {
  const time = Date.parse(value ?? '')
  return Number.isFinite(time) ? time : 0
}
