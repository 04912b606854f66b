/** Outlines of logs that grow: the end is added without reading what was there, and is what reading all of it gives. */
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openArchive, type Archive } from '../src/archive/archive.ts'
import { openOutlines, type Outlines } from '../src/search/outline.ts'
import type { Outline } from '../src/search/outline-now.ts'
import { outlineFolder } from '../src/search/outline-files.ts'
import { openSessions } from '../src/sources/sessions.ts'
import { sync } from '../src/sources/sync.ts'
import { peekState } from '../src/sources/state.ts'
import type { FoundSession } from '../src/sources/state-sessions.ts'
import type { Entry } from '../src/transcript/entry.ts'

const made: string[] = []
const opened: Outlines[] = []
afterEach(() => {
  for (const outlines of opened.splice(0)) outlines.close()
  for (const folder of made.splice(0)) fs.rmSync(folder, { recursive: true, force: true })
})

const ID = '88888888-8888-4888-8888-888888888888'

/** As Claude Code writes them: an answer of two lines, of which the first has not the last word on usage, a call, and what came of it. */
function line(n: number, more: object = {}): string {
  const shared = {
    uuid: `u-${n}`,
    parentUuid: n === 0 ? null : `u-${n - 1}`,
    sessionId: ID,
    timestamp: new Date(Date.UTC(2026, 5, 1, 9) + n * 1000).toISOString(),
    version: '2.1.90',
    cwd: '/p',
    isSidechain: false,
  }
  const user = (content: unknown): object => ({ type: 'user', message: { role: 'user', content } })
  const assistant = (block: object, stopReason: string | null): object => ({
    type: 'assistant',
    message: {
      id: `msg_${Math.floor(n / 4)}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-4-5',
      content: [block],
      stop_reason: stopReason,
      usage: { input_tokens: 10 + n, output_tokens: stopReason === null ? 1 : 5 },
    },
  })
  const said = [
    user(`says ${n}`),
    assistant({ type: 'text', text: `answers ${n}` }, null),
    assistant({ type: 'tool_use', id: `call-${n}`, name: 'Bash', input: { command: `ls ${n}` } }, 'tool_use'),
    user([{ type: 'tool_result', tool_use_id: `call-${n - 1}`, content: `of ${n}` }]),
  ][n % 4]
  return `${JSON.stringify({ ...shared, ...said, ...more })}\n`
}

const lines = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, at) => line(from + at)).join('')

type Grown = {
  readonly archive: Archive
  readonly path: string
  readonly outlines: Outlines
  readonly found: FoundSession
  readonly takeIn: () => Promise<void>
  readonly open: () => Promise<Outline>
  /** As `hansard show` reads them. */
  readonly entries: () => Promise<readonly Entry[]>
}

async function start(count: number, options: { readonly keep?: false } = {}): Promise<Grown> {
  const root = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'hansard-growth-')))
  made.push(root)
  const folder = join(root, 'claude', 'projects', '-p')
  fs.mkdirSync(folder, { recursive: true })
  const path = join(folder, `${ID}.jsonl`)
  fs.writeFileSync(path, lines(0, count))
  const archive = openArchive(join(root, 'home'), { write: true })
  const takeIn = async (): Promise<void> =>
    void (await sync(archive, { paths: [join(root, 'claude')], ...options }))
  await takeIn()
  const outlines = openOutlines(archive, { follow: true })
  opened.push(outlines)
  const sessions = await openSessions(archive.home)
  const found = sessions.find(sessions.list({}).sessions[0]?.id ?? '')
  sessions.close()
  const own: Grown = {
    archive,
    path,
    outlines,
    found,
    takeIn,
    async open() {
      const state = await peekState(archive)
      try {
        return await outlines.open(found, state?.database).reach(Number.POSITIVE_INFINITY, 20_000)
      } finally {
        state?.close()
      }
    },
    async entries() {
      const reader = await openSessions(archive.home)
      const all: Entry[] = []
      for await (const items of reader.read(found))
        for (const item of items) if (item.type === 'entry') all.push(item.entry)
      reader.close()
      return all
    },
  }
  const first = await own.open()
  expect([first.length, first.note?.isExtended]).toEqual([count, undefined])
  return own
}

async function read(outline: Outline): Promise<readonly (Entry | undefined)[]> {
  const all: (Entry | undefined)[] = []
  for await (const { entry } of outline.entries(0, outline.length)) all.push(entry)
  return all
}

async function rows(outline: Outline): Promise<readonly object[]> {
  const all: object[] = []
  for await (const { row } of outline.entries(0, outline.length)) all.push(row)
  return all
}

describe('a log that grows', () => {
  it.each([{}, { keep: false }] as const)(
    'is known to its end before it is synced, and comes out as if it was read through (%o)',
    async (options) => {
      const { path, open, takeIn, entries, archive } = await start(402, options)
      let count = 402
      // Also in the middle of an answer of two lines.
      for (const more of [1, 1, 1, 1, 2, 7, 150]) {
        fs.appendFileSync(path, lines(count, count + more))
        count += more
        const outline = await open()
        expect([outline.state, outline.length, outline.note?.isExtended]).toEqual(['ready', count, true])
        const now = await read(outline)
        await takeIn()
        expect(now).toEqual(await entries())
      }
      // By itself, from nothing, it is the same to the last sum.
      const extended = await open()
      expect(extended.note?.isExtended).toBe(true)
      const other = openOutlines(archive, { folder: join(archive.home, 'elsewhere') })
      opened.push(other)
      const state = await peekState(archive)
      const found = (await start1(archive)) as FoundSession
      const whole = await other.open(found, state?.database).reach(Number.POSITIVE_INFINITY, 20_000)
      state?.close()
      expect(await rows(extended)).toEqual(await rows(whole))
      const {
        stamp: _,
        generation: __,
        isExtended: ___,
        ...note
      } = extended.note ?? { stamp: '', generation: '' }
      const { stamp: ____, generation: _____, ...same } = whole.note ?? { stamp: '', generation: '' }
      expect(note).toEqual(same)
    },
  )

  it('has no entry of a line that is not finished', async () => {
    const { path, open } = await start(100)
    const next = line(100)
    fs.appendFileSync(path, next.slice(0, 50))
    expect((await open()).length).toBe(100)
    fs.appendFileSync(path, next.slice(50))
    const outline = await open()
    expect([outline.length, outline.note?.damageCount]).toEqual([101, 0])
  })

  it('goes on from what is not kept yet', async () => {
    const { path, open, takeIn, entries } = await start(100)
    for (let n = 100; n < 110; n += 1) {
      fs.appendFileSync(path, line(n))
      expect((await open()).length).toBe(n + 1)
    }
    const now = await read(await open())
    await takeIn()
    expect(now).toEqual(await entries())
  })

  it('is told of once', async () => {
    const { path, open, outlines, found } = await start(100)
    expect(outlines.grown()).toEqual([])
    fs.appendFileSync(path, line(100))
    expect(outlines.grown()).toEqual([found])
    await open()
    expect(outlines.grown()).toEqual([])
    expect(outlines.followedTo(found.id)).toBe(101)
  })

  it('that is another than before waits for a sync, which reads all of it', async () => {
    const { path, open, takeIn, entries } = await start(100)
    fs.writeFileSync(
      path,
      lines(0, 98) + line(98, { uuid: 'x-98' }) + line(99, { uuid: 'x-99' }) + lines(100, 120),
    )
    const before = await open()
    expect([before.length, before.note?.isExtended]).toEqual([100, undefined])
    await takeIn()
    const after = await open()
    expect(after.note?.isExtended).toBeUndefined()
    expect(await read(after)).toEqual(await entries())
  })

  it('whose other files grow is read through', async () => {
    const { path, open, takeIn, entries } = await start(100)
    const folder = join(path.replace(/\.jsonl$/, ''), 'subagents')
    fs.mkdirSync(folder, { recursive: true })
    fs.writeFileSync(
      join(folder, 'agent-a1.jsonl'),
      lines(0, 8)
        .replaceAll('"isSidechain":false', '"isSidechain":true,"agentId":"a1"')
        .replaceAll('"u-', '"s-'),
    )
    await takeIn()
    const outline = await open()
    expect(outline.note?.isExtended).toBeUndefined()
    expect(await read(outline)).toEqual(await entries())
  })
})

describe('what is left of outlines', () => {
  it('by those who died is removed, and what counts stays', async () => {
    const { archive, outlines, open, entries } = await start(100)
    const folder = outlineFolder(archive.home)
    const [name = ''] = fs.readdirSync(folder).map((file) => file.slice(0, 32))
    const old = [`${name}-aaaaaaaaaaaa.rows`, `${name}-aaaaaaaaaaaa.copies`, `${name}.json.bbbbbbbbbbbb`]
    const recent = `${name}-cccccccccccc.rows`
    for (const file of [...old, recent]) fs.writeFileSync(join(folder, file), 'x')
    const gone = `${'0'.repeat(32)}.json`
    fs.writeFileSync(join(folder, gone), '{}')
    const then = new Date(Date.now() - 120_000)
    for (const file of old) fs.utimesSync(join(folder, file), then, then)
    const state = await peekState(archive)
    if (state !== undefined) outlines.prune(state.database)
    state?.close()
    const left = fs.readdirSync(folder)
    expect(left.filter((file) => old.includes(file) || file === gone)).toEqual([])
    // Somebody may be writing it.
    expect(left).toContain(recent)
    expect(await read(await open())).toEqual(await entries())
  })
})

async function start1(archive: Archive): Promise<FoundSession | undefined> {
  const sessions = await openSessions(archive.home)
  try {
    return sessions.find(sessions.list({}).sessions[0]?.id ?? '')
  } finally {
    sessions.close()
  }
}
