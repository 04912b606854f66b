/** A shard's tables of words, asked as one: from the highest numbers down, and no further than the answer needs. */
import type { Prepared } from './shard-statements.ts'
import type { WordRange } from './spelling-ranges.ts'
import { readLeaves } from './word-leaves.ts'
import { KEPT_OF_LONG } from './words-output.ts'
import type { WordTable } from './word-tables.ts'

/** Its entries have numbers from `low` on, below `high`. */
export type TableRange = WordTable & { readonly high: number }

export type WordLookup = {
  /** From the highest numbers down. */
  ranges(): readonly TableRange[]
  /** Numbers of docs of one table that match and are there, from below a number down. */
  matchesIn(table: TableRange, asked: AskedIn): readonly number[]
  /** The words of a table that have one of these texts within, and those that may be the beginning of longer ones; undefined for more. */
  wordsHaving(table: string, asked: AskedWithin, most: number): readonly string[] | undefined
  /** Numbers of docs that match, from below a number down. */
  matches(fts: string, below: number, limit: number): readonly number[]
  ranked(fts: string, asked: AskedRanked): Ranked
  count(fts: string): number
  /** Words in ranges, none within another, of such lengths, and how many entries have each. */
  words(ranges: readonly WordRange[], lengths: readonly [number, number]): ReadonlyMap<string, number>
}

export type AskedWithin = {
  readonly texts: readonly string[]
  /** Of those, the ones that are given and counted. */
  readonly isWanted: (word: string) => boolean
}

export type AskedIn = {
  readonly fts: string
  readonly below: number
  readonly limit: number
  readonly isThere: (number: number) => boolean
}

/** The best `limit` of the newest `among` below a number. */
export type AskedRanked = {
  readonly below: number
  readonly among: number
  readonly limit: number
  /**
   * The score of an entry that says nothing but the words. Scores are a part of it then, and the same wherever an entry stands; without
   * it they are those of bm25, which go by how rare a word is in the entry's table.
   */
  readonly ideal: number | undefined
}

export type Ranked = {
  /** Lower scores are better. */
  readonly best: readonly { readonly number: number; readonly score: number }[]
  /** How many were ranked, and the lowest number of them. */
  readonly count: number
  readonly last: number
}

/** `run`: for what makes a table that lasts as long as the connection. */
export function createWordLookup(
  prepared: Prepared,
  run: (sql: string) => void,
  tables: () => readonly WordTable[],
): WordLookup {
  const vocabularies = new Set<string>()
  const vocabularyOf = (name: string): string => {
    const vocabulary = `temp.vocabulary_of_${name}`
    if (!vocabularies.has(name)) run(`CREATE VIRTUAL TABLE ${vocabulary} USING fts5vocab(main, ${name}, row)`)
    vocabularies.add(name)
    return vocabulary
  }
  return {
    ranges: () => {
      let high = Number.MAX_SAFE_INTEGER
      return tables().map((table) => {
        const range = { ...table, high }
        high = table.low
        return range
      })
    },
    matchesIn({ name, low }, { fts, below, limit, isThere }) {
      const found: number[] = []
      for (let from = below; ;) {
        const rows = prepared(
          `SELECT rowid FROM ${name} WHERE ${name} MATCH ? AND rowid < ? AND rowid >= ? ORDER BY rowid DESC LIMIT ?`,
        ).all(fts, from, low, AT_ONCE)
        for (const { rowid } of rows) {
          from = Number(rowid)
          if (isThere(from)) found.push(from)
          if (found.length >= limit) return found
        }
        if (rows.length < AT_ONCE) return found
      }
    },
    wordsHaving(table, { texts, isWanted }, most) {
      const found = new Set<string>()
      const asked = { texts, lengths: [KEPT_OF_LONG - 3, KEPT_OF_LONG] as const }
      const isRead = readLeaves(prepared, table, asked, (word) => {
        if (!word.includes(FACET) && isWanted(word)) found.add(word)
        return found.size <= most
      })
      if (isRead) return found.size > most ? undefined : [...found]
      const having = texts.map(() => 'instr(term, ?) > 0').join(' OR ')
      const rows = prepared(
        `SELECT term FROM ${vocabularyOf(table)}
         WHERE (${having} OR length(CAST(term AS BLOB)) BETWEEN ${KEPT_OF_LONG - 3} AND ${KEPT_OF_LONG})
         AND instr(term, '${FACET}') = 0 LIMIT ?`,
      ).all(...texts, most + 1)
      return rows.length > most ? undefined : rows.map(({ term }) => String(term)).filter(isWanted)
    },
    matches(fts, below, limit) {
      const found: number[] = []
      for (const { name, low } of tables()) {
        if (low >= below) continue
        const rows = prepared(
          `SELECT rowid FROM ${name} WHERE ${name} MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?`,
        ).all(fts, below, limit - found.length)
        for (const { rowid } of rows) found.push(Number(rowid))
        if (found.length >= limit) break
      }
      return found
    },
    ranked(fts, { below, among, limit, ideal }) {
      const found: { number: number; score: number }[] = []
      let count = 0
      let last = below
      for (const { name, low } of tables()) {
        if (low >= below) continue
        const score = ideal === undefined ? scoreOf(name) : `coalesce(${ideal} * ${partOf(name)}, 0.0)`
        const rows = prepared(
          `SELECT rowid, score, min(rowid) OVER () AS last, count(*) OVER () AS count FROM (
             SELECT rowid, ${score} AS score FROM ${name}
             WHERE ${name} MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?
           ) ORDER BY score, rowid DESC LIMIT ?`,
        ).all(fts, below, among - count, limit)
        for (const { rowid, score } of rows) found.push({ number: Number(rowid), score: Number(score) })
        count += Number(rows[0]?.['count'] ?? 0)
        last = Number(rows[0]?.['last'] ?? last)
        if (count >= among) break
      }
      const best = found.sort((a, b) => a.score - b.score || b.number - a.number).slice(0, limit)
      return { best, count, last }
    },
    count(fts) {
      let count = 0
      for (const { name } of tables())
        count += Number(
          prepared(`SELECT count(*) AS count FROM ${name} WHERE ${name} MATCH ?`).get(fts)?.['count'] ?? 0,
        )
      return count
    },
    words(ranges, [shortest, longest]) {
      const found = new Map<string, number>()
      const asked = JSON.stringify(ranges)
      for (const { name } of tables()) {
        // Whatever order SQLite thinks best, going over all words is not.
        const rows = prepared(
          `SELECT term, doc FROM json_each(?) AS asked CROSS JOIN ${vocabularyOf(name)} AS known
           WHERE term >= asked.value ->> 0 AND term <= asked.value ->> 1 AND length(term) BETWEEN ? AND ?`,
        ).all(asked, shortest, longest)
        for (const { term, doc } of rows)
          found.set(String(term), (found.get(String(term)) ?? 0) + Number(doc))
      }
      return found
    },
  }
}

/** Facets have this in them, and are no words. */
const FACET = ':'

/** Rows of one question. */
const AT_ONCE = 1024

/** Facets count nothing. */
function scoreOf(name: string): string {
  return `bm25(${name}, 1.0, 0.0)`
}

/** Words that stood there without end would have the best score there is: by that, how rare each is in the table cancels out. */
function partOf(name: string): string {
  return `${scoreOf(name)} / bm25(${name}, 1e12, 0.0)`
}
