/**
 * Some units put into a shard in one transaction: all of them or none, whenever the process dies. Only a unit that is too large for
 * one comes in several, and counts when its last one is done.
 */
import { messageOf } from '../errors.ts'
import type { Redactor } from '../redact/redactor.ts'
import { prepared } from '../sources/state-statements.ts'
import type { Database } from '../sqlite/driver.ts'
import { openFacetList, type FacetList } from './facet-list.ts'
import { createNumbers } from './index-numbers.ts'
import { removeUnit, UnitFailed, writeUnit, type UnitWriter } from './index-unit.ts'
import type { Shard } from './shard.ts'
import { ownTurn, type Turn } from './turns.ts'
import type { ListedUnit } from './unit-list.ts'
import { toldOf } from './word-lists.ts'
import { openWordWriter } from './word-tables.ts'

export type Batch = {
  readonly units: readonly ListedUnit[]
  /** Names of units that are no more. */
  readonly gone: readonly string[]
}
export type BatchResult = {
  readonly units: number
  readonly docs: number
  readonly bytes: number
  /** Not indexed, and searched where they lie. */
  readonly failed: readonly { readonly name: string; readonly message: string }[]
  /** FTS5 itself was told of words on this connection, now or before. */
  readonly isTold: boolean
}

export type BatchOptions = { readonly commitBytes?: number; readonly turn?: Turn }

/** Throws what is wrong with the shard or the disk; what is wrong with a unit is told. */
export async function indexBatch(
  { database }: Shard,
  { units, gone }: Batch,
  redactor: Redactor,
  { commitBytes = COMMIT_BYTES, turn = ownTurn() }: BatchOptions = {},
): Promise<BatchResult> {
  const failed: { name: string; message: string }[] = []
  let left = units.toSorted((a, b) => a.endedAt - b.endedAt || (a.name < b.name ? -1 : 1))
  for (;;) {
    database.exec('BEGIN IMMEDIATE')
    try {
      const isMuch = left.reduce((sum, { bytes }) => sum + bytes, 0) >= MUCH_BYTES
      const words = openWordWriter(database, { isMuch })
      for (const name of [...gone, ...failed.map(({ name }) => name)]) removeUnit(database, name, words)
      const facets = openFacetList(database)
      const writer = createWriter(database, left, { redactor, commitBytes, turn, words, facets })
      let docs = 0
      for (const unit of left) docs += await writeUnit(writer, unit)
      words.flush()
      facets.flush()
      database.exec('COMMIT')
      facets.committed()
      const bytes = left.reduce((sum, { bytes: own }) => sum + own, 0)
      return { units: left.length, docs, bytes, failed, isTold: toldOf(database).size > 0 }
    } catch (error) {
      rollBack(database)
      if (!(error instanceof UnitFailed)) throw error
      failed.push({ name: error.unit.name, message: messageOf(error.cause) })
      left = left.filter(({ name }) => name !== error.unit.name)
    }
  }
}

/** A full disk ends the transaction by itself. */
function rollBack(database: Database): void {
  try {
    database.exec('ROLLBACK')
  } catch {}
}

/** Bytes of logs from which on words are sorted here. */
const MUCH_BYTES = 4 * 1024 * 1024

/** Bytes of words in one transaction of a unit that is larger than a batch. */
const COMMIT_BYTES = 96 * 1024 * 1024

type WriterOptions = Required<BatchOptions> &
  Pick<UnitWriter, 'redactor' | 'words'> & { readonly facets: FacetList }

/** For one transaction: what it knows of names is not known after it was rolled back. */
function createWriter(
  database: Database,
  units: readonly ListedUnit[],
  { redactor, commitBytes, turn, words, facets }: WriterOptions,
): UnitWriter {
  const names = new Map<string, number>()
  const sql = (text: string) => prepared(database, text)
  const isKnown = ({ name }: ListedUnit): boolean =>
    sql('SELECT 1 FROM pieces WHERE unit = (SELECT id FROM units WHERE name = ?)').get(name) !== undefined
  let bytes = 0
  return {
    database,
    redactor,
    turn,
    words,
    numbers: createNumbers(
      database,
      units.filter((unit) => !isKnown(unit)),
    ),
    nameId(name) {
      const known = names.get(name)
      if (known !== undefined) return known
      sql('INSERT OR IGNORE INTO names (name) VALUES (?)').run(name)
      const id = Number(sql('SELECT id FROM names WHERE name = ?').get(name)?.['id'])
      // A hostile file may name any number of sources.
      if (names.size > MOST_NAMES) names.clear()
      names.set(name, id)
      return id
    },
    addFacet: (facet) => facets.add(facet),
    wrote(more) {
      bytes += more
      return bytes >= commitBytes
    },
    commit() {
      bytes = 0
      words.flush()
      facets.flush()
      database.exec('COMMIT; BEGIN IMMEDIATE')
      facets.committed()
    },
  }
}

const MOST_NAMES = 10_000
