/**
 * Needles: a word of every script, in every kind of block, in files that are kept, compressed, read where they lie, and being
 * written. A search finds each of them and nothing else, with an index and without, as going through everything by hand does.
 */
import fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INLINE_LIMIT } from '../src/archive/blobs.ts'
import { record } from '../src/capture/record.ts'
import { catchUpIndex } from '../src/search/indexer.ts'
import { createMatcher } from '../src/search/match.ts'
import { parseQuery } from '../src/search/query.ts'
import { openSearchIndex, type SearchIndex } from '../src/search/search.ts'
import { sync } from '../src/sources/sync.ts'
import { citation } from '../src/transcript/entry.ts'
import { createSearched, packAll, writeLog, type SearchedArchive } from './searched-archive.ts'
import { shownEntries, type ShownEntry } from './shown-entries.ts'

/** Each with another spelling that finds it, and a part of it. */
const SCRIPTS: Readonly<Record<string, readonly [needle: string, other: string, part: string]>> = {
  latin: ['haystackneedle', 'HayStackNeedle', 'stackneed'],
  identifier: ['findTheNeedle_here', 'needle_here', 'heneedl'],
  accents: ['crèmebrûlée', 'cremebrulee', 'èmebrû'],
  german: ['straßenfest', 'STRASSENFEST', 'raßenf'],
  cyrillic: ['иголкасена', 'ИГОЛКАСЕНА', 'голкасе'],
  greek: ['βελόναάχυρα', 'ΒΕΛΟΝΑΑΧΥΡΑ', 'ελόναά'],
  arabic: ['إبرةقش', 'إِبْرةقش', 'برةق'],
  hebrew: ['מחטשחת', 'מחטשחת', 'חטשח'],
  devanagari: ['सुईभूसा', 'सुईभूसा', 'ईभू'],
  thai: ['เข็มฟาง', 'เข็มฟาง', 'มฟา'],
  han: ['大海捞针处', '捞针', '海捞针'],
  hiragana: ['はりとわら', 'とわ', 'りとわ'],
  katakana: ['ハリトワラ', 'トワ', 'リトワ'],
  hangul: ['바늘건초더미', '건초', '늘건초'],
  emoji: ['🪡🌾', '🪡', '🪡🌾'],
  number: ['4077319', '4077319', '07731'],
}
const NEEDLES = Object.values(SCRIPTS).map(([needle]) => needle)
const PLACES = ['kept', 'packed', 'inplace', 'journal', 'live'] as const

const FIELDS = [
  'role:user',
  'role:tool,assistant',
  'tool:bash',
  'tool:B*',
  'agent:claude-code',
  'model:haiku',
  'project:p/1',
  'branch:main',
  'file:src/haystackneedle',
  'file:/p/*needle*.ts',
  'run:run-7',
  'flow:build',
  'step:impl',
  'status:running',
  'status:completed',
  'source:subagent',
  'source:subagent:helper',
  'since:2026-03-02T00:00:00Z',
  'until:2026-03-02T00:00:00Z',
  'cost>0',
  'cost<1',
  'tokens>10',
  'tokens<100k',
  'has:error',
  'has:thinking',
]

let searched: SearchedArchive
let live: Awaited<ReturnType<typeof record>>
let all: ShownEntry[] = []

/** Everything there is, read once. */
async function readAll(): Promise<typeof all> {
  const found: typeof all = []
  for await (const one of shownEntries(searched.archive.home)) found.push(one)
  return found
}

function byHand(text: string, caseSensitive = false): string[] {
  const matcher = createMatcher(parseQuery(text, { caseSensitive }))
  return all
    .filter(({ session, entry }) => matcher.entry(entry, session) !== undefined)
    .map(({ session, entry }) => citation(session.id, entry))
    .sort()
}

async function expectSame(index: SearchIndex, text: string, caseSensitive = false): Promise<string[]> {
  const query = parseQuery(text, { caseSensitive })
  const { hits } = await index.search(query, { limit: 10_000 })
  const found = hits.map((hit) => hit.citation).sort()
  expect([text, found]).toEqual([text, byHand(text, caseSensitive)])
  return found
}

async function withIndex(work: (index: SearchIndex) => Promise<void>): Promise<void> {
  const index = await openSearchIndex(searched.archive)
  try {
    await work(index)
  } finally {
    index.close()
  }
}

beforeAll(async () => {
  searched = createSearched('search-needles')
  const { archive, config } = searched
  // Each needle as a prompt, as thinking, a tool's input and a file's name, and as what a tool returned.
  const texts = (place: string): string[] =>
    NEEDLES.flatMap((needle) => Array<string>(3).fill(`${needle} in${place}`))
  writeLog(config, 0, texts('packed'))
  await searched.sync()
  await packAll(archive)
  writeLog(config, 1, texts('kept'))
  await searched.sync()
  const elsewhere = join(config, '../elsewhere')
  fs.mkdirSync(elsewhere, { recursive: true })
  writeLog(elsewhere, 2, texts('inplace'))
  await sync(archive, {
    env: { CLAUDE_CONFIG_DIR: elsewhere },
    userHome: '/nowhere',
    cwd: elsewhere,
    keep: false,
  })
  const options = { home: archive.home, cwd: archive.home, durability: 'os' } as const
  const done = await record({
    ...options,
    title: 'a title with titleneedle',
    runId: 'run-7',
    flow: 'build',
    step: 'impl',
  })
  for (const needle of NEEDLES) done.user(`${needle} injournal`)
  done.error(new Error('errorneedle is why it failed'))
  const callId = done.toolCall({ name: 'Grep', input: { deep: [{ pattern: 'inputneedle' }] } })
  done.toolResult({ callId, error: 'toolerrorneedle', isError: true })
  done.assistant([{ type: 'thinking', text: 'thoughtneedle' }])
  done.subagent('helper').assistant('subagentneedle')
  done.user(`${' '.repeat(INLINE_LIMIT)} blobneedle`)
  await done.end()
  live = await record({ ...options, title: 'still going' })
  for (const needle of NEEDLES) live.user(`${needle} inlive`)
  await live.flush()
  all = await readAll()
})

afterAll(async () => {
  await live.end()
})

const BLOCKS = [
  'titleneedle',
  'errorneedle',
  'inputneedle',
  'toolerrorneedle',
  'thoughtneedle',
  'subagentneedle',
  'blobneedle',
]

describe.each([
  ['without an index', false],
  ['with one', true],
])('every needle is found, and nothing else, %s', (_, isIndexed) => {
  beforeAll(async () => {
    if (isIndexed) await catchUpIndex(searched.archive)
  })

  it.each(Object.entries(SCRIPTS))(
    'of %s',
    async (_name, [needle, other, part]) => {
      await withIndex(async (index) => {
        for (const place of PLACES) {
          const found = await expectSame(index, `${needle} in${place}`)
          expect([place, found.length]).toEqual([place, place === 'journal' || place === 'live' ? 1 : 3])
        }
        expect(await expectSame(index, other)).toHaveLength(11)
        expect(await expectSame(index, `"${needle} inkept"`)).toHaveLength(3)
        expect(await expectSame(index, `'${part}'`)).toHaveLength(11)
        expect(await expectSame(index, `/${part}/`)).toHaveLength(11)
        await expectSame(index, needle, true)
      })
    },
    60_000,
  )

  it('in blocks of every kind', async () => {
    await withIndex(async (index) => {
      for (const needle of BLOCKS)
        expect([needle, await expectSame(index, needle)]).toEqual([needle, [expect.any(String)]])
      expect(await expectSame(index, 'nosuchneedle')).toEqual([])
    })
  })

  it('by every field, alone and with others', async () => {
    await withIndex(async (index) => {
      for (const field of FIELDS) {
        expect([field, (await expectSame(index, field)).length > 0]).toEqual([field, true])
        await expectSame(index, `${field} haystackneedle`)
        await expectSame(index, `haystackneedle -${field}`)
        await expectSame(index, `(${field} haystackneedle) OR titleneedle`)
        await expectSame(index, `${field} OR status:running`)
      }
      await expectSame(index, "role:user -status:running has:error OR 'stackneed' -tool:bash")
    })
  })

  it('in a session while it is written', async () => {
    live.user(`grownneedle ${isIndexed}`)
    await live.flush()
    all = await readAll()
    await withIndex(async (index) => {
      expect(await expectSame(index, `grownneedle ${isIndexed}`)).toHaveLength(1)
      expect(await expectSame(index, "'rownneed'")).toHaveLength(isIndexed ? 2 : 1)
    })
  })
})
