/** What is looked for in files that are one document each, of which no entry can be read by itself: as reading all of it. */
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { catchUpIndex } from '../src/search/indexer.ts'
import { parseQuery } from '../src/search/query.ts'
import { openSearchIndex, type SearchIndex } from '../src/search/search.ts'
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

async function createDocuments(keep: boolean): Promise<{ searched: SearchedArchive; folder: string }> {
  const searched = createSearched('search-documents')
  const folder = join(searched.config, '..', 'documents')
  fs.mkdirSync(folder)
  for (let document = 0; document < DOCUMENTS; document += 1) {
    const messages = Array.from({ length: MESSAGES }, (_, message) => ({
      role: message % 2 === 0 ? 'user' : 'assistant',
      content: textOf(document, message),
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
