import { describe, expect, it } from 'vitest'
import { IN_MEMORY, openDatabase, type Database } from '../sqlite/driver.ts'
import { openFacetList } from './facet-list.ts'

async function withTable(): Promise<Database> {
  const database = await openDatabase(IN_MEMORY)
  database.exec('CREATE TABLE facets (name TEXT PRIMARY KEY) WITHOUT ROWID')
  return database
}

function namesIn(database: Database): unknown[] {
  return database
    .prepare('SELECT name FROM facets')
    .all()
    .map(({ name }) => name)
}

/** One transaction. */
function write(database: Database, facets: readonly string[], end: 'COMMIT' | 'ROLLBACK' = 'COMMIT'): void {
  const list = openFacetList(database)
  database.exec('BEGIN')
  for (const facet of facets) list.add(facet)
  list.flush()
  database.exec(end)
  if (end === 'COMMIT') list.committed()
}

describe('facets of a shard', () => {
  it('are all there, each once, over any number of transactions', async () => {
    const database = await withTable()
    const all = Array.from({ length: 333 }, (_, nth) => `file:${nth}`)
    write(database, [...all.slice(0, 200), ...all.slice(0, 50)])
    write(database, all.slice(100))
    expect(namesIn(database)).toEqual(all.toSorted())
  })

  it('are written again when the transaction that wrote them was rolled back', async () => {
    const database = await withTable()
    write(database, ['tool:bash'])
    write(database, ['tool:bash', 'tool:read'], 'ROLLBACK')
    write(database, ['tool:bash', 'tool:read'])
    expect(namesIn(database)).toEqual(['tool:bash', 'tool:read'])
  })

  it('are all there when there are more than are held', async () => {
    const database = await withTable()
    const all = Array.from({ length: 6000 }, (_, nth) => `file:${'x'.repeat(1000)}${nth}`)
    write(database, all)
    write(database, [...all, 'tool:bash'])
    expect(namesIn(database)).toEqual([...all, 'tool:bash'].toSorted())
  })
})
