/** How the index is built: without secrets, only what is new, in as many steps as it takes, and never trusted when it was touched. */
import fs from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Redactor } from '../src/redact/redactor.ts'
import { indexBatch } from '../src/search/index-batch.ts'
import { catchUpIndex } from '../src/search/indexer.ts'
import { isIndexed, noteWriting, readIndexRecord, shardPath } from '../src/search/index-record.ts'
import { parseQuery } from '../src/search/query.ts'
import { openSearchIndex, type SearchResult } from '../src/search/search.ts'
import { redactorOf } from '../src/search/searched-entry.ts'
import { listShards, openShard } from '../src/search/shard.ts'
import { knownUnits } from '../src/search/known-units.ts'
import { findUnit, findUnits, unitVersions, type ListedUnit } from '../src/search/unit-list.ts'
import { openSessions } from '../src/sources/sessions.ts'
import type { Database } from '../src/sqlite/driver.ts'
import { peekState } from '../src/sources/state.ts'
import { githubToken } from './fake-keys.ts'
import { seededRandom } from './faulty-files.ts'
import { createSearched, line, recordSession, writeLog, type SearchedArchive } from './searched-archive.ts'

let searched: SearchedArchive
beforeEach(() => {
  searched = createSearched('search-build')
})

const texts = (count: number, about = 'ordinary'): string[] =>
  Array.from({ length: count }, (_, at) => `${about} words number${at}`)
const home = (): string => searched.archive.home

async function search(query: string): Promise<SearchResult> {
  const index = await openSearchIndex(searched.archive)
  try {
    return await index.search(parseQuery(query), { limit: 10_000 })
  } finally {
    index.close()
  }
}
const citations = async (query: string): Promise<string[]> =>
  (await search(query)).hits.map(({ citation }) => citation).sort()

const listUnits = (database: Database): readonly ListedUnit[] => {
  const left = knownUnits(database, home()).left()
  return left.part(0, left.count).map(({ unit }) => unit)
}

async function units(): Promise<readonly ListedUnit[]> {
  const state = await peekState(searched.archive)
  try {
    return state === undefined ? [] : listUnits(state.database)
  } finally {
    state?.close()
  }
}

describe('a secret in a log', () => {
  const token = githubToken(5)
  const password = 'zebraquartz77'

  it('is in no byte of the index, and is found neither before nor after it is indexed', async () => {
    writeLog(searched.config, 1, [
      `use ${token} to log in`,
      `curl -H 'Authorization: Bearer ${token}' ordinary`,
      `DB_PASSWORD=${password} ordinary`,
    ])
    await searched.sync()
    const queries = [
      token,
      token.toLowerCase(),
      password,
      `'${password.slice(2, 9)}'`,
      `/${password}/`,
      'ghp*',
    ]
    for (const query of queries) expect([query, await citations(query)]).toEqual([query, []])
    const before = await citations('redacted')
    expect(before.length).toBeGreaterThanOrEqual(2)
    await catchUpIndex(searched.archive)
    expect((await search('ordinary')).scanned.units).toBe(0)
    for (const query of queries) expect([query, await citations(query)]).toEqual([query, []])
    expect(await citations('redacted')).toEqual(before)
    for (const number of listShards(searched.archive)) {
      const bytes = fs.readFileSync(shardPath(home(), number)).toString('latin1').toLowerCase()
      for (const part of [token, token.slice(4, 24), password])
        expect(bytes).not.toContain(part.toLowerCase())
    }
    const index = await openSearchIndex(searched.archive)
    const { hits } = await index.search(parseQuery('login OR log OR ordinary'))
    expect(hits.length).toBeGreaterThan(1)
    for (const hit of hits) expect(JSON.stringify(await index.entry(hit))).not.toContain(password)
    index.close()
  })
})

describe('versions of units', () => {
  it('are the same whether all, one or only versions are asked for, with titles and without', async () => {
    writeLog(searched.config, 1, texts(3))
    writeLog(searched.config, 2, texts(3))
    await searched.sync()
    await recordSession(searched.archive, ['ordinary journal'])
    ;(await openSessions(home())).close()
    const state = await peekState(searched.archive)
    if (state === undefined) throw new Error('no state')
    const { database } = state
    const all = listUnits(database)
    expect(all).toHaveLength(3)
    expect(all.flatMap(({ titles }) => [...titles.values()])).toContainEqual({ title: 'titledneedle of it' })
    const versions = all
      .map(({ name, version }) => ({ name, version }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    // However few are asked for at a time.
    for (const atOnce of [1, 2, 100]) {
      const told = [...unitVersions(database, atOnce)].map(({ name, version }) => ({ name, version }))
      expect(told.sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual(versions)
    }
    for (const atOnce of [1, 2]) {
      const left = knownUnits(database, home(), atOnce).left()
      const parts = [0, 1, 2].flatMap((from) => left.part(from, from + 1))
      expect(parts.map(({ unit }) => unit).sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual(
        all.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      )
      expect([0, 1, 2].map((place) => left.endedAt(place))).toEqual(parts.map(({ unit }) => unit.endedAt))
      expect(left.bytes).toBe(all.reduce((sum, { bytes }) => sum + bytes, 0))
    }
    for (const unit of all) expect(findUnit(database, home(), unit.name)).toEqual(unit)
    const names = all.map(({ name }) => name)
    expect(findUnits(database, home(), [...names, '["nobody","/nowhere","x"]'])).toEqual(
      new Map(all.map((unit) => [unit.name, unit])),
    )
    state.close()
  })
})

describe('a session that grew', () => {
  /** How many entries were looked at for secrets: those whose words were written. */
  const countingRedactor = (): { redactor: Redactor; count: () => number } => {
    let count = 0
    const redactor = redactorOf(searched.archive)
    const entry: Redactor['entry'] = (one) => {
      count += 1
      return redactor.entry(one)
    }
    return { redactor: { ...redactor, entry }, count: () => count }
  }
  const write = async (): Promise<number> => {
    const { redactor, count } = countingRedactor()
    const shard = await openShard(searched.archive, 0)
    await indexBatch(shard, { units: await units(), gone: [] }, redactor)
    shard.close()
    return count()
  }

  it('has only its new entries written, however often, and is found as one that was indexed at once', async () => {
    noteWriting(searched.archive)
    writeLog(searched.config, 1, texts(100))
    writeLog(searched.config, 2, texts(70))
    await searched.sync()
    expect(await write()).toBe(170)
    let before = 100
    for (const count of [101, 103, 200, 1000, 1001]) {
      writeLog(searched.config, 1, texts(count))
      await searched.sync()
      expect(await write()).toBe(count - before)
      before = count
    }
    const shard = await openShard(searched.archive, 0)
    const pieces = shard.database.prepare('SELECT low, high, room FROM pieces ORDER BY low').all()
    shard.close()
    expect(pieces.length).toBeLessThan(8)
    for (const [at, piece] of pieces.entries())
      expect(Number(piece['room'])).toBeLessThanOrEqual(Number(pieces[at + 1]?.['low'] ?? Infinity))
    expect((await search('ordinary')).hits).toHaveLength(before + 70)
    expect((await search('number1000')).hits).toHaveLength(1)
    await catchUpIndex(searched.archive)
    const { hits, scanned } = await search('ordinary')
    expect([hits.length, scanned.units]).toEqual([before + 70, 0])
  })

  it('has what was rewritten written anew, and what is no longer there removed', async () => {
    noteWriting(searched.archive)
    writeLog(searched.config, 1, texts(200))
    await searched.sync()
    await write()
    const changed = texts(200).map((text, at) => (at === 57 ? 'changedneedle here' : text))
    writeLog(searched.config, 1, changed)
    await searched.sync()
    expect(await write()).toBeLessThan(400)
    await catchUpIndex(searched.archive)
    expect((await search('changedneedle')).hits.length).toBeGreaterThan(0)
    expect((await search('ordinary')).scanned.units).toBe(0)
  })
})

describe('a unit that is too large for one transaction', () => {
  it('comes in several, and counts when the last is done', async () => {
    noteWriting(searched.archive)
    writeLog(searched.config, 1, texts(500))
    await searched.sync()
    const shard = await openShard(searched.archive, 0)
    const plain = redactorOf(searched.archive)
    let left = 300
    const failing: Redactor = {
      ...plain,
      entry(entry) {
        if (left-- === 0) throw new Error('stop here')
        return plain.entry(entry)
      },
    }
    await expect(
      indexBatch(shard, { units: await units(), gone: [] }, failing, { commitBytes: 1000 }),
    ).rejects.toThrow('stop here')
    const [row] = shard.database.prepare('SELECT version FROM units').all()
    expect(row?.['version']).toBe('')
    const there = Number(shard.database.prepare('SELECT sum(high - low) AS docs FROM pieces').get()?.['docs'])
    expect(there).toBeGreaterThan(100)
    shard.close()
    const half = await search('ordinary')
    expect([half.hits.length, half.scanned.units]).toEqual([500, 1])

    let written = 0
    const counting: Redactor = {
      ...plain,
      entry(entry) {
        written += 1
        return plain.entry(entry)
      },
    }
    const again = await openShard(searched.archive, 0)
    await indexBatch(again, { units: await units(), gone: [] }, counting, { commitBytes: 1000 })
    again.close()
    expect(written).toBe(500 - there)
    await catchUpIndex(searched.archive)
    const whole = await search('ordinary')
    expect([whole.hits.length, whole.scanned.units]).toEqual([500, 0])
  })
})

describe('an index that somebody touched', () => {
  beforeEach(async () => {
    for (let n = 0; n < 6; n += 1) writeLog(searched.config, n, texts(30, `ordinary s${n}`))
    await searched.sync()
    await catchUpIndex(searched.archive)
  })

  it('gives the same answers with any byte changed, and heals', async () => {
    const queries = ['ordinary', 's3 number7', '"words number1"', 'tool:bash']
    const answers = new Map<string, string[]>()
    for (const query of queries) answers.set(query, await citations(query))
    const random = seededRandom(3)
    for (let round = 0; round < 40; round += 1) {
      const path = shardPath(home(), round % 2)
      const whole = fs.readFileSync(path)
      const at = Math.floor(random() * whole.length)
      const bit = 1 << Math.floor(random() * 8)
      const fd = fs.openSync(path, 'r+')
      fs.writeSync(fd, Buffer.from([(whole[at] ?? 0) ^ bit]), 0, 1, at)
      fs.closeSync(fd)
      const query = queries[round % queries.length] as string
      expect([round, at, await citations(query)]).toEqual([round, at, answers.get(query)])
      expect(await isIndexed(searched.archive)).toBe(false)
      if (round % 8 === 0) {
        await catchUpIndex(searched.archive)
        expect((await search(query)).scanned.units).toBe(0)
        expect(await citations(query)).toEqual(answers.get(query))
      } else {
        fs.writeFileSync(path, whole)
      }
    }
  })

  it('is known to be whole by a look at its files alone', async () => {
    expect(await isIndexed(searched.archive)).toBe(true)
    fs.appendFileSync(
      writeLogPath(1),
      `${JSON.stringify(line('00000001-3333-4333-8333-333333333333', 1, 30, 'one more'))}\n`,
    )
    await searched.sync()
    expect(await isIndexed(searched.archive)).toBe(false)
    await catchUpIndex(searched.archive)
    expect(await isIndexed(searched.archive)).toBe(true)
    fs.rmSync(shardPath(home(), 1))
    expect(await isIndexed(searched.archive)).toBe(false)
  })

  it('of a newer program is left alone, and not used', async () => {
    const path = join(home(), 'index', 'search.json')
    const record = readIndexRecord(searched.archive)
    const expected = await citations('ordinary')
    fs.writeFileSync(path, JSON.stringify({ ...record, version: 999 }))
    const bytes = listShards(searched.archive).map((number) => fs.readFileSync(shardPath(home(), number)))
    expect(await catchUpIndex(searched.archive)).toMatchObject({ isNewer: true, units: 0 })
    const { hits, scanned } = await search('ordinary')
    expect([hits.map(({ citation }) => citation).sort(), scanned.units]).toEqual([expected, 6])
    for (const [number, before] of bytes.entries())
      expect(fs.readFileSync(shardPath(home(), number)).equals(before)).toBe(true)
  })
})

function writeLogPath(number: number): string {
  const session = `${number.toString(16).padStart(8, '0')}-3333-4333-8333-333333333333`
  return join(searched.config, 'projects', `-p-${number % 3}`, `${session}.jsonl`)
}
