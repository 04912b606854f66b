/** What is looked for in files that are one document each, of which no entry can be read by itself: as reading all of it. */
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { catchUpIndex } from '../src/search/indexer.ts'
import { parseQuery } from '../src/search/query.ts'
import { readTogether } from '../src/search/resolve.ts'
import { openSearchIndex, type SearchHit, type SearchIndex } from '../src/search/search.ts'
import { createShownEntries } from '../src/search/shown-entries.ts'
import { sync } from '../src/sources/sync.ts'
import { createSearched, readAnswer, type SearchedArchive } from './searched-archive.ts'

const DOCUMENTS = 6
const MESSAGES = 90

/** Every tenth message has the needle, within a word. */
function textOf(document: number, message: number): string {
  if (message % 10 === 3) return `calls setNeedleName${document} and says so ${message}`
  return `${message % 2 === 0 ? 'needle or name' : 'neither'} in message ${message} of ${document}`
}

async function createDocuments(
  keep: boolean,
  say: (document: number, message: number) => string = textOf,
): Promise<{ searched: SearchedArchive; folder: string }> {
  const searched = createSearched('search-documents')
  const folder = join(searched.config, '..', 'documents')
  fs.mkdirSync(folder)
  for (let document = 0; document < DOCUMENTS; document += 1) {
    const messages = Array.from({ length: MESSAGES }, (_, message) => ({
      role: message % 2 === 0 ? 'user' : 'assistant',
      content: say(document, message),
    }))
    const request = { model: 'gpt-5', messages }
    fs.writeFileSync(join(folder, `request-${document}.json`), JSON.stringify(request))
  }
  await sync(searched.archive, { paths: [folder], keep, env: {}, userHome: folder, cwd: folder })
  await catchUpIndex(searched.archive)
  return { searched, folder }
}

async function withIndex<T>(searched: SearchedArchive, work: (index: SearchIndex) => Promise<T>): Promise<T> {
  const index = await openSearchIndex(searched.archive)
  try {
    return await work(index)
  } finally {
    index.close()
  }
}

describe.each([true, false])('a search in documents, with copies kept: %s', (keep) => {
  it('finds what reading everything does, ranked or not, however many are asked for', async () => {
    const { searched } = await createDocuments(keep)
    for (const query of [
      "'eedleNam'",
      '/need\\w+name\\d/',
      "says 'eedleName3'",
      "role:user 'eedle'",
      '/mess.ge 4\\d/',
    ]) {
      const answer = await readAnswer(searched.archive, query)
      expect(answer.length).toBeGreaterThan(8)
      await withIndex(searched, async (index) => {
        for (const order of ['newest', 'ranked'] as const) {
          const all = await index.search(parseQuery(query), { limit: 10_000, order })
          expect([query, all.scanned.units]).toEqual([query, 0])
          expect([query, all.hits.map(({ citation }) => citation).sort()]).toEqual([query, answer])
          const some = await index.search(parseQuery(query), { limit: 7, order })
          expect(some.hits.map(({ score }) => score)).toEqual(all.hits.slice(0, 7).map(({ score }) => score))
          expect(answer).toEqual(expect.arrayContaining(some.hits.map(({ citation }) => citation)))
        }
      })
    }
  })

  it('shows every hit, in any order', async () => {
    const { searched } = await createDocuments(keep)
    await withIndex(searched, async (index) => {
      const { hits } = await index.search(parseQuery('neither'), { limit: 100 })
      expect(hits).toHaveLength(100)
      const entryOf = createShownEntries(index, hits)
      for (const hit of [...hits.slice(50), ...hits.slice(0, 50)]) {
        const entry = await entryOf(hit)
        expect(entry).toMatchObject({ sequence: hit.sequence })
        // What the request asks for comes before its first message.
        expect(JSON.stringify(entry?.blocks)).toContain(`in message ${hit.sequence - 1} of`)
      }
    })
  })
})

it('a search that may not read ends with the first unit that has to be', async () => {
  const { searched } = await createDocuments(true)
  await withIndex(searched, async (index) => {
    const all = await index.search(parseQuery("'ei'"), { limit: 1000 })
    expect(all).toMatchObject({ isPartial: false, scanned: { units: DOCUMENTS } })
    const none = await index.search(parseQuery("'ei'"), { limit: 1000, mayRead: false })
    expect(none).toMatchObject({ isPartial: true, scanned: { units: 1 } })
    const words = await index.search(parseQuery('neither'), { limit: 1000, mayRead: false })
    expect(words).toMatchObject({ isPartial: false, scanned: { units: 0 } })
  })
})

describe('entries of documents that are read together', () => {
  it('are given until it is late, and no longer', async () => {
    const { searched } = await createDocuments(true)
    await withIndex(searched, async (index) => {
      const { hits } = await index.search(parseQuery('neither'), { limit: 100 })
      let taken = 0
      const take = (): void => void (taken += 1)
      const wanted = hits.map(({ located }) => ({ located, isShown: true, take }))
      const onUnreadable = (): never => expect.unreachable()
      await readTogether(searched.archive, wanted, { isLate: () => taken >= 3, onUnreadable })
      expect(taken).toBe(3)
    })
  })

  /** Nine of one document. */
  const long = (document: number, message: number): string =>
    document === 0 && message % 10 === 3 ? `neither${' more'.repeat(60_000)} in ${message}` : 'nothing'

  it('are held while there is room, and are shown all the same', async () => {
    const { searched } = await createDocuments(true, long)
    await withIndex(searched, async (index) => {
      const { hits } = await index.search(parseQuery('neither'), { limit: 9 })
      expect(hits).toHaveLength(9)
      const together = await index.searched(hits)
      expect(together.has(hits[0] as SearchHit)).toBe(true)
      expect(together.size).toBeLessThan(6)
      const entryOf = createShownEntries(index, hits)
      for (const hit of hits)
        expect(JSON.stringify((await entryOf(hit))?.blocks)).toContain(` in ${hit.sequence - 1}"`)
    })
  })

  it('are read again where they were read to find them and are too long to be held', async () => {
    const { searched } = await createDocuments(true, long)
    await withIndex(searched, async (index) => {
      const { hits, scanned } = await index.search(parseQuery('/[n][e]i/'), { limit: 3 })
      expect(scanned.units).toBe(DOCUMENTS)
      expect(hits).toHaveLength(3)
      const shown = createShownEntries(index, hits)
      for (const hit of hits) {
        expect(hit.entry).toBeUndefined()
        expect(JSON.stringify((await shown(hit))?.blocks)).toContain(` in ${hit.sequence - 1}"`)
        expect(await index.entry(hit)).toMatchObject({ sequence: hit.sequence })
      }
    })
  })
})

it('documents that are gone are each said to be once', async () => {
  const { searched, folder } = await createDocuments(false)
  for (const name of fs.readdirSync(folder)) fs.rmSync(join(folder, name))
  await withIndex(searched, async (index) => {
    const { hits, unreadable } = await index.search(parseQuery('/message \\d/'), { limit: 1000 })
    expect(hits).toEqual([])
    expect(new Set(unreadable.map(({ unit }) => unit)).size).toBe(DOCUMENTS)
    expect(unreadable).toHaveLength(DOCUMENTS)
  })
})

it('a document that is gone is said to be, and the others are found', async () => {
  const { searched, folder } = await createDocuments(false)
  fs.rmSync(join(folder, 'request-2.json'))
  await withIndex(searched, async (index) => {
    const { hits, unreadable } = await index.search(parseQuery("'eedleName'"), { limit: 1000 })
    expect(hits).toHaveLength(((DOCUMENTS - 1) * MESSAGES) / 10)
    expect(unreadable).toMatchObject([{ message: expect.stringMatching(/request-2\.json is gone/) }])
    const words = await index.search(parseQuery('neither'), { limit: 1000 })
    const shown = await index.searched(words.hits)
    expect(shown.size).toBe(words.hits.filter((hit) => shown.has(hit)).length)
    expect(shown.size).toBeLessThan(words.hits.length)
  })
})
