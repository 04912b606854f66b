/** A session that several files speak for, whose entries have no ids but their places: what is shown once is found once, where it is shown. */
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { catchUpIndex } from '../src/search/indexer.ts'
import { parseQuery } from '../src/search/query.ts'
import { openSearchIndex } from '../src/search/search.ts'
import { openSessions } from '../src/sources/sessions.ts'
import { sync } from '../src/sources/sync.ts'
import { citation } from '../src/transcript/entry.ts'
import { createSearched, readAnswer, type SearchedArchive } from './searched-archive.ts'

/** Three trajectories of one session: some steps are the same, some stand at the place of another or are somebody else's, one is said twice. */
const FIRST = ['shared beginning', 'heard in one', 'again and again', 'again and again', 'heard last']
const SECOND = ['shared beginning', 'heard in two', 'again and again', 'again and again', 'again and again']
const THIRD = ['heard in three', 'shared beginning', 'heard in one']

type Step = { readonly message: string; readonly timestamp?: string }

function write(folder: string, name: string, steps: readonly Step[]): void {
  const trajectory = {
    schema_version: 'ATIF-v1.7',
    session_id: 'one-for-all',
    agent: { name: 'tester', version: '1' },
    steps: steps.map((step, at) => ({
      step_id: at + 1,
      source: at % 2 === 0 ? 'user' : 'agent',
      ...step,
    })),
  }
  fs.writeFileSync(join(folder, `${name}.json`), JSON.stringify(trajectory))
}

async function create(files: Readonly<Record<string, readonly Step[]>>): Promise<SearchedArchive & Take> {
  const searched = createSearched('search-recordings')
  const folder = join(searched.config, '..', 'runs')
  fs.mkdirSync(folder)
  const take = async (more: typeof files): Promise<void> => {
    for (const [name, steps] of Object.entries(more)) write(folder, name, steps)
    await sync(searched.archive, { paths: [folder], keep: true, env: {}, userHome: folder, cwd: folder })
  }
  await take(files)
  return { ...searched, take }
}

type Take = { take(files: Readonly<Record<string, readonly Step[]>>): Promise<void> }

const steps = (texts: readonly string[]): Step[] => texts.map((message) => ({ message }))

async function found({ archive }: SearchedArchive, query: string): Promise<string[]> {
  const index = await openSearchIndex(archive)
  try {
    const { hits } = await index.search(parseQuery(query), { limit: 1000 })
    for (const hit of hits) {
      const entry = await index.entry(hit)
      expect([hit.citation, entry?.sequence]).toEqual([hit.citation, hit.sequence])
    }
    return hits.map((hit) => hit.citation).sort()
  } finally {
    index.close()
  }
}

async function shown({ archive }: SearchedArchive): Promise<Map<string, string>> {
  const sessions = await openSessions(archive.home)
  const texts = new Map<string, string>()
  try {
    for (const { id } of sessions.list({}).sessions)
      for await (const items of sessions.read(sessions.find(id)))
        for (const item of items)
          if (item.type === 'entry') texts.set(citation(id, item.entry), JSON.stringify(item.entry.blocks))
  } finally {
    sessions.close()
  }
  return texts
}

const QUERIES = ['heard', 'again', 'shared', "'eard i'", '/e+ard/', '/[h][e]/', 'role:user', '-shared']

describe('a session out of several files without ids', () => {
  it.each([
    ['with an index', true],
    ['without one', false],
  ])('is found as it is shown, %s', async (_, isIndexed) => {
    const searched = await create({ one: steps(FIRST), two: steps(SECOND), three: steps(THIRD) })
    if (isIndexed) await catchUpIndex(searched.archive)
    const texts = await shown(searched)
    expect([...texts.values()].filter((text) => text.includes('heard'))).toHaveLength(5)
    expect([...texts.values()].filter((text) => text.includes('again'))).toHaveLength(3)
    for (const query of QUERIES) {
      const answer = await readAnswer(searched.archive, query)
      expect([query, await found(searched, query)]).toEqual([query, answer])
    }
    for (const one of await found(searched, 'heard')) expect(texts.get(one)).toContain('heard')
  })

  it('is found as it is shown while one of the files is not indexed yet', async () => {
    const searched = await create({ one: steps(FIRST) })
    await catchUpIndex(searched.archive)
    await searched.take({ two: steps(SECOND), three: steps(THIRD) })
    for (const query of QUERIES)
      expect([query, await found(searched, query)]).toEqual([
        query,
        await readAnswer(searched.archive, query),
      ])
    await catchUpIndex(searched.archive)
    for (const query of QUERIES)
      expect([query, await found(searched, query)]).toEqual([
        query,
        await readAnswer(searched.archive, query),
      ])
  })

  it.each([
    ['first to last', ['one', 'three', 'two']],
    ['last to first', ['two', 'three', 'one']],
    ['the middle one last', ['two', 'one', 'three']],
  ])('is cited as it is shown, whatever came first: %s', async (_, order) => {
    const all: Readonly<Record<string, readonly Step[]>> = {
      one: steps(FIRST),
      two: steps(SECOND),
      three: steps(THIRD),
    }
    const searched = await create({})
    for (const name of order) await searched.take({ [name]: all[name] ?? [] })
    for (const isIndexed of [false, true]) {
      if (isIndexed) await catchUpIndex(searched.archive)
      const texts = await shown(searched)
      for (const one of await found(searched, 'heard')) expect(texts.get(one)).toContain('heard')
      expect(await found(searched, 'heard')).toHaveLength(5)
    }
  })

  it('is found by the time at which it began where entries say none, whichever file they are in', async () => {
    const at = (day: number): Step => ({ message: 'dated', timestamp: `2026-03-0${day}T10:00:00.000Z` })
    const searched = await create({
      one: [at(5), { message: 'heard in one' }],
      // More than are looked at before it is asked whether what is left is too old.
      two: [at(7), ...Array.from({ length: 80 }, (_, nth) => ({ message: `heard in two ${nth}` })), at(8)],
      three: [{ message: 'heard in three' }],
    })
    // As `show` says it: the joined session begins with the first of its recordings.
    const sessions = await openSessions(searched.archive.home)
    const { id, startedAt } = sessions.list({}).sessions[0] ?? { id: '' }
    const facts: (string | undefined)[] = []
    for await (const items of sessions.read(sessions.find(id)))
      for (const item of items) if (item.type === 'session') facts.push(item.session.startedAt)
    sessions.close()
    expect([startedAt, ...new Set(facts)]).toEqual([at(5).timestamp, at(5).timestamp])
    for (const isIndexed of [false, true]) {
      if (isIndexed) await catchUpIndex(searched.archive)
      for (const day of [5, 6, 8])
        for (const field of ['since:', '-since:', 'until:', '-until:']) {
          const query = `heard ${field}2026-03-0${day}T00:00Z`
          expect([query, await found(searched, query)]).toEqual([
            query,
            await readAnswer(searched.archive, query),
          ])
        }
    }
  })

  it('has what was said at another time as another entry', async () => {
    const at = (minute: number): Step => ({
      message: 'heard again',
      timestamp: `2026-03-01T10:0${minute}:00.000Z`,
    })
    const searched = await create({ one: [at(0), at(1)], two: [at(1), at(2)] })
    await catchUpIndex(searched.archive)
    const answer = await readAnswer(searched.archive, 'heard')
    expect(answer.length).toBeGreaterThan(2)
    expect(await found(searched, 'heard')).toEqual(answer)
  })
})
