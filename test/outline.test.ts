import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openArchive, type Archive } from '../src/archive/archive.ts'
import { openOutlines, type Outlines } from '../src/search/outline.ts'
import type { Outline } from '../src/search/outline-now.ts'
import { outlineFolder } from '../src/search/outline-files.ts'
import type { OutlineEntry } from '../src/search/outline-read.ts'
import { openSessions } from '../src/sources/sessions.ts'
import { sync } from '../src/sources/sync.ts'
import { peekState } from '../src/sources/state.ts'
import type { FoundSession } from '../src/sources/state-sessions.ts'
import type { Entry } from '../src/transcript/entry.ts'
import { KIND_FLAGS, roleOfKind } from '../src/transcript/kinds.ts'
import { SAMPLES } from './kept-samples.ts'
import { recordSession } from './searched-archive.ts'

const made: string[] = []

afterEach(() => {
  for (const folder of made.splice(0)) fs.rmSync(folder, { recursive: true, force: true })
})

function createArchive(): { readonly archive: Archive; readonly root: string } {
  const root = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'hansard-outline-')))
  made.push(root)
  return { archive: openArchive(join(root, 'home'), { write: true }), root }
}

type Read = { readonly entries: readonly Entry[]; readonly found: FoundSession }

/** All sessions as `hansard show --as json` reads them. */
async function readAll(archive: Archive): Promise<readonly Read[]> {
  const sessions = await openSessions(archive.home)
  try {
    const all: Read[] = []
    for (const { id } of sessions.list({}).sessions) {
      const found = sessions.find(id)
      const entries: Entry[] = []
      for await (const items of sessions.read(found))
        for (const item of items) if (item.type === 'entry') entries.push(item.entry)
      all.push({ found, entries })
    }
    return all
  } finally {
    sessions.close()
  }
}

async function withOutlines<T>(archive: Archive, work: (open: Open) => Promise<T>): Promise<T> {
  const outlines: Outlines = openOutlines(archive)
  try {
    return await work(async (found) => {
      const state = await peekState(archive)
      try {
        return await outlines.open(found, state?.database).reach(Number.POSITIVE_INFINITY, 20_000)
      } finally {
        state?.close()
      }
    })
  } finally {
    outlines.close()
  }
}

type Open = (found: FoundSession) => Promise<Outline>

async function take(entries: AsyncIterable<OutlineEntry>): Promise<readonly OutlineEntry[]> {
  const all: OutlineEntry[] = []
  for await (const one of entries) all.push(one)
  return all
}

async function expectSame(archive: Archive): Promise<number> {
  let count = 0
  const all = await readAll(archive)
  await withOutlines(archive, async (open) => {
    for (const { found, entries } of all) {
      const outline = await open(found)
      expect(outline.state).toBe('ready')
      expect(outline.length).toBe(entries.length)
      const got = await take(outline.entries(0, entries.length))
      expect(got.map(({ entry }) => entry)).toEqual(entries)
      expect(got.map(({ position }) => position)).toEqual(entries.map((_, at) => at))
      expect(got.map(({ row }) => roleOfKind(row.kind))).toEqual(entries.map(({ role }) => role))
      // Any range alone is the same as among others.
      const middle = Math.floor(entries.length / 2)
      const [one] = await take(outline.entries(middle, middle + 1))
      expect(one?.entry).toEqual(entries[middle])
      count += entries.length
    }
  })
  return count
}

const UUID = '77777777-7777-4777-8777-777777777777'

function line(n: number, text = `says ${n}`): string {
  const at = new Date(Date.UTC(2026, 5, 1, 9, 0, n)).toISOString()
  const isUser = n % 2 === 0
  const shared = {
    uuid: `u-${n}`,
    parentUuid: n === 0 ? null : `u-${n - 1}`,
    sessionId: UUID,
    timestamp: at,
    version: '2.1.90',
    cwd: '/p',
    isSidechain: false,
  }
  return `${JSON.stringify(
    isUser
      ? { ...shared, type: 'user', message: { role: 'user', content: text } }
      : {
          ...shared,
          type: 'assistant',
          message: {
            id: `msg_${n}`,
            type: 'message',
            role: 'assistant',
            model: 'claude-opus-4-5',
            content: [{ type: 'text', text }],
            usage: { input_tokens: 10, output_tokens: 5 },
          },
        },
  )}\n`
}

function claudeLog(root: string, text: string): string {
  const folder = join(root, 'claude', 'projects', '-p')
  fs.mkdirSync(folder, { recursive: true })
  const path = join(folder, `${UUID}.jsonl`)
  fs.writeFileSync(path, text)
  return path
}

async function take1(archive: Archive, root: string): Promise<void> {
  await sync(archive, { paths: [join(root, 'claude')] })
}

const lines = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, at) => line(from + at)).join('')

describe('an outline', () => {
  for (const { format, title, path, records, isLines } of SAMPLES) {
    it(`has the entries of ${format}, ${title}, as show prints them`, async () => {
      const { archive, root } = createArchive()
      const file = join(root, 'logs', path)
      fs.mkdirSync(join(file, '..'), { recursive: true })
      const text =
        isLines && Array.isArray(records)
          ? records.map((one: unknown) => `${JSON.stringify(one)}\n`).join('')
          : JSON.stringify(records)
      fs.writeFileSync(file, text)
      await sync(archive, { paths: [join(root, 'logs')] })
      expect(await expectSame(archive)).toBeGreaterThan(0)
    })
  }

  it('has those of a journal, with what lies in blobs in its place', async () => {
    const { archive } = createArchive()
    const texts = Array.from({ length: 20 }, (_, n) => (n === 7 ? 'large '.repeat(50_000) : `text ${n}`))
    await recordSession(archive, texts)
    expect(await expectSame(archive)).toBeGreaterThanOrEqual(20)
  })

  it('joins what several recordings of a session say', async () => {
    const { archive, root } = createArchive()
    claudeLog(root, lines(0, 20))
    await take1(archive, root)
    const other = join(root, 'other', 'projects', '-p')
    fs.mkdirSync(other, { recursive: true })
    fs.writeFileSync(join(other, `${UUID}.jsonl`), lines(10, 40))
    await sync(archive, { paths: [join(root, 'other')] })
    expect(await expectSame(archive)).toBe(40)
  })

  it('keeps its rows when a session grows, and adds what is new', async () => {
    const { archive, root } = createArchive()
    const path = claudeLog(root, lines(0, 30))
    await take1(archive, root)
    await withOutlines(archive, async (open) => {
      const [{ found }] = (await readAll(archive)) as [Read]
      const before = await open(found)
      expect(before.length).toBe(30)
      for (let round = 1; round <= 5; round += 1) {
        fs.appendFileSync(path, lines(30 * round, 30 * (round + 1)))
        await take1(archive, root)
        const outline = await open(found)
        expect(outline.length).toBe(30 * (round + 1))
        expect(outline.note?.generation).toBe(before.note?.generation)
        const [{ entries }] = (await readAll(archive)) as [Read]
        const got = await take(outline.entries(0, outline.length))
        expect(got.map(({ entry }) => entry)).toEqual(entries)
        // What was opened before goes on being right.
        expect((await take(before.entries(0, 30))).map(({ entry }) => entry)).toEqual(entries.slice(0, 30))
      }
    })
  })

  it('is made anew from where a session is another than before', async () => {
    const { archive, root } = createArchive()
    const path = claudeLog(root, lines(0, 30))
    await take1(archive, root)
    await expectSame(archive)
    fs.writeFileSync(path, lines(0, 10) + line(10, 'another') + lines(11, 20))
    await take1(archive, root)
    await expectSame(archive)
  })

  it('is made again when its files are gone, cut short or damaged', async () => {
    const { archive, root } = createArchive()
    claudeLog(root, lines(0, 30))
    await take1(archive, root)
    await expectSame(archive)
    const folder = outlineFolder(archive.home)
    for (const damage of [
      (file: string) => fs.truncateSync(file, 100),
      (file: string) => fs.rmSync(file),
      (file: string) => fs.writeFileSync(file, 'nonsense'),
    ]) {
      for (const name of fs.readdirSync(folder)) {
        damage(join(folder, name))
        await expectSame(archive)
      }
    }
  })

  it('has damage at its place', async () => {
    const { archive, root } = createArchive()
    claudeLog(root, `${lines(0, 5)}{"type":"user","uui\n${lines(5, 9)}not json at all\n`)
    await take1(archive, root)
    await expectSame(archive)
    const [{ found }] = (await readAll(archive)) as [Read]
    await withOutlines(archive, async (open) => {
      const outline = await open(found)
      expect(outline.note?.damage.map(({ position }) => position)).toEqual([5, 9])
      const rows = await take(outline.entries(0, 9))
      const marked = rows.filter(({ row }) => (row.kind & KIND_FLAGS.damage) !== 0)
      expect(marked.map(({ position }) => position)).toEqual([5])
    })
  })

  it('sums what was used and what it cost, each call once', async () => {
    const { archive, root } = createArchive()
    claudeLog(root, lines(0, 40) + line(39).replace('u-39', 'u-39-again'))
    await take1(archive, root)
    const [{ found }] = (await readAll(archive)) as [Read]
    const sessions = await openSessions(archive.home)
    const [listed] = sessions.list({}).sessions
    sessions.close()
    await withOutlines(archive, async (open) => {
      const outline = await open(found)
      const last = (await take(outline.entries(outline.length - 1, outline.length)))[0]
      expect(last?.row.counts.slice(0, 1)).toEqual([listed?.totals?.usage?.input])
      expect(last?.row.counts[4]).toBe(listed?.totals?.usage?.output)
      expect(Number(last?.row.pico) / 1e12).toBeCloseTo(Number(listed?.totals?.cost?.usd), 6)
    })
  })

  it('gives the beginning before it is made', async () => {
    const { archive, root } = createArchive()
    claudeLog(root, lines(0, 400))
    await take1(archive, root)
    const [{ found, entries }] = (await readAll(archive)) as [Read]
    const outlines = openOutlines(archive)
    const state = await peekState(archive)
    const outline = outlines.open(found, state?.database)
    expect(outline.length).toBe(0)
    const got = await take(outline.entries(0, 50))
    expect(got.map(({ entry }) => entry)).toEqual(entries.slice(0, 50))
    await outline.reach(400, 20_000)
    outlines.close()
    state?.close()
  })

  it('is gone with its session', async () => {
    const { archive, root } = createArchive()
    claudeLog(root, lines(0, 30))
    await take1(archive, root)
    await expectSame(archive)
    expect(fs.readdirSync(outlineFolder(archive.home))).not.toEqual([])
    fs.rmSync(join(archive.home, 'index', 'state.db'), { force: true })
    fs.rmSync(join(archive.home, 'kept'), { recursive: true })
    fs.rmSync(join(root, 'claude'), { recursive: true })
    await readAll(archive)
    const state = await peekState(archive)
    if (state !== undefined) openOutlines(archive).prune(state.database)
    state?.close()
    expect(fs.readdirSync(outlineFolder(archive.home))).toEqual([])
  })
})
