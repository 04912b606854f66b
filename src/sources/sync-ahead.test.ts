import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeLog, claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { unprivileged } from '../../test/unprivileged.ts'
import { openKept } from '../archive/kept.ts'
import { addTombstone } from '../archive/tombstones.ts'
import { VERSION } from '../version.ts'
import { openState, peekState, remember } from './state.ts'
import { WORTH_READING_BESIDE, type ReadReport } from './sync-read.ts'
import { rebuild, type SyncProgress } from './sync.ts'

const FILES = 12
const idOf = (n: number): string => `${n.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
/** Together just more than is worth reading beside, even without one of them. */
const LONG = 'x'.repeat(WORTH_READING_BESIDE / (FILES - 1))

let machine: Machine
beforeEach(() => {
  machine = createMachine()
  for (let n = 0; n < FILES; n += 1) {
    const lines = [0, 1, 2, 3].map((at) =>
      claudeLog(at, { session: idOf(n), ...(at === 0 && { text: LONG }) }),
    )
    machine.write(machine.log(idOf(n)), lines.join(''))
  }
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

/** What is kept, by the names of logs. */
async function kept(): Promise<ReadonlyMap<string, Buffer>> {
  const found = new Map<string, Buffer>()
  for (const place of openKept(machine.archive()).places())
    for await (const path of place.paths())
      found.set(
        path.slice(path.lastIndexOf('/') + 1),
        (await place.file(path)?.bytes(1e9)) ?? Buffer.alloc(0),
      )
  return found
}

async function expectKeptAsSources(without: readonly string[] = []): Promise<void> {
  const folder = join(machine.user, '.claude/projects/-p')
  const now = await kept()
  const names = fs.readdirSync(folder).filter((name) => !without.includes(name))
  expect([...now.keys()].sort()).toEqual(names)
  for (const name of names) expect(now.get(name)?.equals(fs.readFileSync(join(folder, name)))).toBe(true)
}

async function files() {
  const state = await peekState(machine.archive())
  try {
    return state?.database.prepare('SELECT * FROM files').all() ?? []
  } finally {
    state?.close()
  }
}

/** Syncs, and does something when all is read and nothing is kept. */
async function syncWith(atReady: () => void, options: Parameters<Machine['sync']>[0] = {}) {
  let ready = 0
  const report = await machine.sync({
    ...options,
    onReady() {
      ready += 1
      atReady()
    },
  })
  return { report, ready }
}

const nothing = (): void => {}

/** Does something when the first is read. */
function once(work: () => void): (progress: SyncProgress) => void {
  return ({ doing, done }) => void (doing === 'reading' && done === 1 && work())
}

function asSomebody<T>(work: () => Promise<T>): Promise<T> {
  fs.mkdirSync(machine.home)
  return unprivileged({ base: machine.base, own: [machine.user, machine.home, machine.cwd] }, work)
}

/** The state is what one that is made of what is kept would be. */
async function expectListAsRebuilt(): Promise<void> {
  const list = await machine.list()
  await rebuild(machine.archive())
  expect(await machine.list()).toEqual(list)
}

describe('a place that is new', () => {
  it('is listed whole before a byte of it is kept, and kept whole right behind', async () => {
    let early: Promise<unknown> | undefined
    const doing: string[] = []
    const { report } = await syncWith(
      () => {
        expect(fs.readdirSync(join(machine.home, 'kept'))).toEqual([])
        early = machine.list()
      },
      { onProgress: ({ doing: now }) => void (doing.at(-1) !== now && doing.push(now)) },
    )
    expect(report).toMatchObject({
      files: { seen: FILES, new: FILES, unchanged: 0, failed: 0 },
      sessions: FILES,
      entries: 4 * FILES,
      problems: [],
    })
    expect(doing).toEqual(['looking', 'reading', 'keeping'])
    const list = await machine.list()
    expect(list).toHaveLength(FILES)
    expect(await early).toEqual(list)
    await expectKeptAsSources()
    await expectListAsRebuilt()
    expect(await machine.sync()).toMatchObject({
      files: { unchanged: FILES, new: 0 },
      sessions: 0,
      bytesRead: 0,
    })
  })

  it('is kept first where it is known already, and where what is kept is not what is read', async () => {
    const other = createMachine()
    try {
      for (const keep of [false, 'redacted'] as const)
        expect(await syncWith(nothing, { keep, patienceMs: 0 })).toMatchObject({ ready: 0 })
      other.write(other.log(idOf(100)), claudeLogs(2, { session: idOf(100) }))
      await other.sync()
      for (let n = 0; n < FILES; n += 1)
        other.write(other.log(idOf(n)), claudeLog(0, { session: idOf(n), text: LONG }))
      let ready = 0
      await other.sync({ onReady: () => void (ready += 1) })
      expect(ready).toBe(0)
      expect(await other.list()).toHaveLength(FILES + 1)
    } finally {
      fs.rmSync(other.base, { recursive: true, force: true })
    }
  })
})

describe('between looking and reading', () => {
  it('a log that only its content says the unit of may go away, and the others are read', async () => {
    const agent = machine.write('.claude/projects/-p/agent-1.jsonl', claudeLogs(2, { session: idOf(1) }))
    const { report, ready } = await syncWith(nothing, { onPlan: () => fs.rmSync(agent) })
    expect(report).toMatchObject({ files: { new: FILES, failed: 0 }, sessions: FILES, problems: [] })
    expect(ready).toBe(1)
    await expectKeptAsSources()
    await expectListAsRebuilt()
  })

  it('a place that goes away and comes back as it was is read when it is there', async () => {
    const [place, away] = [join(machine.user, '.claude/projects'), join(machine.user, 'away')]
    let early: Promise<readonly unknown[]> | undefined
    const atReady = (): void => {
      fs.renameSync(away, place)
      early = machine.list()
    }
    await syncWith(atReady, { onProgress: once(() => fs.renameSync(place, away)) })
    expect((await early)?.length).toBeLessThan(FILES)
    expect(await machine.list()).toHaveLength(FILES)
    await expectKeptAsSources()
    await expectListAsRebuilt()
  })

  it('a log of a subagent that may not be read leaves its session listed, and is told of once', async () => {
    const closed = machine.write(
      `.claude/projects/-p/${idOf(2)}/subagents/agent-1.jsonl`,
      claudeLog(1, { session: idOf(2), more: { isSidechain: true, agentId: '1' } }),
    )
    const [early, late] = await asSomebody(async () => {
      fs.chmodSync(closed, 0o000)
      let early: Promise<readonly unknown[]> | undefined
      const { report } = await syncWith(() => void (early = machine.list()))
      expect(report).toMatchObject({ files: { new: FILES, failed: 1 }, sessions: FILES })
      expect(report.problems.filter(({ cause }) => cause !== 'purge')).toEqual([
        { cause: 'not-permitted', count: 1, example: expect.stringContaining('agent-1') as string },
      ])
      const first = [await early, await machine.list()]
      fs.chmodSync(closed, 0o600)
      return first
    })
    expect(late).toHaveLength(FILES)
    expect(early).toEqual(late)
    expect(await machine.sync()).toMatchObject({ files: { new: 1, failed: 0 }, sessions: 1, problems: [] })
    await expectListAsRebuilt()
  })

  it('a log of a subagent that may no longer be read is one that its session is read without', async () => {
    const log = machine.write(
      `.claude/projects/-p/${idOf(11)}/subagents/agent-1.jsonl`,
      claudeLog(1, { session: idOf(11), more: { isSidechain: true, agentId: '1' } }),
    )
    await asSomebody(async () => {
      const { report } = await syncWith(nothing, { onProgress: once(() => fs.chmodSync(log, 0o000)) })
      expect(report).toMatchObject({ files: { new: FILES, failed: 1 }, sessions: FILES })
      expect(await machine.list()).toHaveLength(FILES)
      fs.chmodSync(log, 0o600)
    })
    expect(await machine.sync()).toMatchObject({ files: { new: 1, failed: 0 }, sessions: 1, problems: [] })
    await expectListAsRebuilt()
  })
})

describe('between reading and keeping', () => {
  it('a log that grows is kept as it is then, and read again', async () => {
    const log = machine.log(idOf(3))
    const { report } = await syncWith(() => fs.appendFileSync(log, claudeLog(5, { session: idOf(3) })))
    expect(report).toMatchObject({ sessions: FILES, files: { new: FILES, failed: 0 }, problems: [] })
    const grown = (await machine.list()).find(({ native }) => native?.sessionId === idOf(3))
    expect(grown?.totals).toMatchObject({ entries: 5, calls: 3 })
    await expectKeptAsSources()
    await expectListAsRebuilt()
  })

  it('what is read again is counted once', async () => {
    const [grown, torn, emptied] = [3, 4, 5].map((n) => machine.log(idOf(n)))
    const append = (log: string | undefined, text: string): void => fs.appendFileSync(String(log), text)
    append(torn, '{"torn\n')
    let ready: ReadReport | undefined
    const report = await machine.sync({
      onReady(read) {
        ready = read
        append(grown, claudeLog(5, { session: idOf(3) }))
        append(torn, '{"torn again\n')
        fs.truncateSync(String(emptied))
      },
    })
    expect(ready).toEqual({ sessions: FILES, entries: 4 * FILES, damage: 1 })
    expect(report).toMatchObject({ entries: 4 * FILES + 1 - 4, damage: 2 })
  })

  it('a log that is rewritten at the same length is read again', async () => {
    const log = machine.log(idOf(4))
    await syncWith(() =>
      fs.writeFileSync(
        log,
        fs.readFileSync(log, 'utf8').replaceAll('claude-sonnet-4-5', 'claude-sonnet-4-0'),
      ),
    )
    const models = (await machine.list()).map(({ totals }) => totals?.models?.join())
    expect(models.filter((model) => model === 'claude-sonnet-4-0')).toHaveLength(1)
    await expectKeptAsSources()
    await expectListAsRebuilt()
  })

  it('a log that was written just before it was looked at is read again, for no clock tells what happened since', async () => {
    const now = new Date()
    fs.utimesSync(machine.log(idOf(5)), now, now)
    let [isReady, again] = [false, 0]
    const { report } = await syncWith(() => void (isReady = true), {
      onProgress: ({ doing }) => void (again += Number(isReady && doing === 'reading')),
    })
    expect(again).toBe(1)
    expect(report).toMatchObject({ sessions: FILES, entries: 4 * FILES })
    await expectListAsRebuilt()
  })

  it('a log that goes away leaves what was read of it, as one that is not kept does, and fails nothing', async () => {
    const { report } = await syncWith(() => fs.rmSync(machine.log(idOf(6))))
    expect(report).toMatchObject({ files: { new: FILES - 1, failed: 0 }, problems: [] })
    expect(await machine.list()).toHaveLength(FILES)
    await expectKeptAsSources()
    expect((await files()).filter(({ bytes }) => bytes === null)).toHaveLength(1)
    expect(await machine.sync()).toMatchObject({ files: { failed: 0 }, problems: [] })
    await rebuild(machine.archive())
    expect(await machine.list()).toHaveLength(FILES - 1)
  })

  it('a disk that fills up keeps no more, says so, and the next sync completes it', async () => {
    let isFull = false
    const disk = () => ({ free: isFull ? 0 : 1e12, total: 1e12 })
    const { report } = await syncWith(() => void (isFull = true), { disk })
    expect(report).toMatchObject({ files: { new: 0, failed: FILES } })
    expect(report.problems.every(({ cause }) => cause === 'disk-full' || cause === 'purge')).toBe(true)
    const list = await machine.list()
    expect(list).toHaveLength(FILES)
    expect(await kept()).toEqual(new Map())
    isFull = false
    const again = await syncWith(nothing, { disk })
    expect(again).toMatchObject({ ready: 0, report: { files: { new: FILES, failed: 0 }, problems: [] } })
    expect(await machine.list()).toEqual(list)
    await expectKeptAsSources()
    await expectListAsRebuilt()
  })

  it('a sync that is stopped has kept nothing, says nothing else, and the next one keeps all of it', async () => {
    const stopping = new AbortController()
    await syncWith(() => stopping.abort(), { signal: stopping.signal })
    expect((await files()).map(({ bytes, pending }) => [bytes, pending])).toEqual(
      Array.from({ length: FILES }, () => [null, 1]),
    )
    const list = await machine.list()
    expect(await machine.sync()).toMatchObject({ files: { new: FILES, failed: 0 }, problems: [] })
    expect(await machine.list()).toEqual(list)
    await expectKeptAsSources()
    await expectListAsRebuilt()
  })

  it('a sync that is stopped while it reads is gone on with', async () => {
    const stopping = new AbortController()
    const { ready } = await syncWith(nothing, {
      signal: stopping.signal,
      onProgress: ({ doing, done }) => void (doing === 'reading' && done > 3 && stopping.abort()),
    })
    expect(ready).toBe(0)
    await machine.sync()
    expect(await machine.list()).toHaveLength(FILES)
    await expectKeptAsSources()
    await expectListAsRebuilt()
  })
})

it('a session that was deleted on purpose is not kept again', async () => {
  await machine.sync()
  const [{ id } = { id: '' }] = (await machine.list()).filter(({ native }) => native?.sessionId === idOf(7))
  fs.rmSync(machine.home, { recursive: true })
  const { files: disk, home } = machine.archive()
  addTombstone(disk, home, { session: id, at: '2026-01-01T00:00:00.000Z', reason: 'clean' })
  expect((await syncWith(nothing)).ready).toBe(1)
  expect(await machine.list()).toHaveLength(FILES - 1)
  await expectKeptAsSources([`${idOf(7)}.jsonl`])
  expect(await machine.sync()).toMatchObject({ files: { unchanged: FILES }, bytesRead: 0 })
})

it('what a sync kept that died before it was noted is an older version of what is read', async () => {
  await machine.sync()
  // A state as that sync had it when it began.
  fs.rmSync(join(machine.home, 'index'), { recursive: true })
  const state = await openState(machine.archive())
  remember(state.database, 'adopted', VERSION)
  state.close()
  machine.write(machine.log(idOf(8)), claudeLog(7, { session: idOf(8) }))
  expect((await syncWith(nothing)).ready).toBe(1)
  const list = await machine.list()
  const rewritten = list.find(({ native }) => native?.sessionId === idOf(8))
  expect(rewritten?.totals).toMatchObject({ entries: 5, calls: 3 })
  expect((await files()).every(({ bytes, pending }) => Number(bytes) > 0 && pending === 0)).toBe(true)
  await expectKeptAsSources()
  await expectListAsRebuilt()
})
