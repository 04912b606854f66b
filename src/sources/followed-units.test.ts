import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openArchive } from '../archive/archive.ts'
import { counted, meta, said, text, THREAD, turn } from '../../test/codex-lines.ts'
import { claudeLog, createMachine, type Machine } from '../../test/machine.ts'
import { stateWords } from '../../test/state-words.ts'
import { followedUnits, LONG_BYTES, type FollowedUnit } from './followed-units.ts'
import { prepareFollowed } from './prepare-followed.ts'
import { openState } from './state.ts'
import { openStateFiles } from './state-files.ts'
import { toFollowed } from './sync-read-followed.ts'
import { sync, type SyncReport } from './sync.ts'

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001'
const TWO = 'aaaaaaaa-0000-4000-8000-000000000002'

let machine: Machine
beforeEach(() => void (machine = createMachine()))
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

const follow = (): Promise<SyncReport> => machine.sync({ isFollowing: true })

async function prepareAll(): Promise<void> {
  while (await prepareFollowed(machine.archive()));
}

function append(path: string, more: string): void {
  fs.mkdirSync(dirname(path), { recursive: true })
  fs.appendFileSync(path, more)
}

/** What an archive says that reads all of it for the first time. */
async function fresh(): Promise<readonly string[]> {
  const home = fs.mkdtempSync(join(machine.base, 'fresh-'))
  const archive = openArchive(home, { write: true })
  await sync(archive, { env: {}, userHome: machine.user, cwd: machine.cwd })
  return stateWords(archive)
}

/** Some MB of a session, taken in and prepared. */
async function longLog(session = ONE): Promise<string> {
  const path = machine.log(session)
  const words = 'x'.repeat(200_000)
  for (let n = 0; n * words.length < LONG_BYTES + words.length; n += 1)
    append(path, claudeLog(n, { session, text: `${n} ${words}` }))
  await follow()
  // Of what has never grown nothing is held, unless it was written to of late.
  await prepareAll()
  return path
}

async function change(sql: string): Promise<void> {
  const state = await openState(machine.archive())
  state.database.exec(sql)
  state.close()
}

async function knownUnit(): Promise<FollowedUnit> {
  const archive = machine.archive()
  const state = await openState(archive)
  try {
    const files = openStateFiles(state.database)
    const known = files.unitAt(1)
    const unit = known && toFollowed(state.database, known, files, archive)
    if (unit === undefined) throw new Error('it is not known')
    return unit
  } finally {
    state.close()
  }
}

const answer = (n: number, session = ONE, more: object = {}): string =>
  claudeLog(2 * n + 1, { session, input: n, more })

describe('a long log that is followed', () => {
  it('is read on, one line at a time, and the archive says what a new one would', async () => {
    const path = await longLog()
    for (let n = 500; n < 505; n += 1) {
      append(path, answer(n))
      expect(await follow()).toMatchObject({ files: { grown: 1 }, sessions: 1, entries: 1 })
      expect(await stateWords(machine.archive())).toEqual(await fresh())
    }
  })

  it('is read on with what its subagents write, also those that come', async () => {
    const path = await longLog()
    const agent = join(path.slice(0, -'.jsonl'.length), 'subagents', 'agent-a1.jsonl')
    append(agent, answer(600, ONE, { isSidechain: true, agentId: 'a1' }))
    expect((await follow()).entries).toBe(1)
    append(agent, answer(601, ONE, { isSidechain: true, agentId: 'a1' }))
    append(path, answer(602))
    append(agent.replace(/jsonl$/, 'meta.json'), '{"agentType":"explore"}')
    expect((await follow()).entries).toBe(3)
    expect(await stateWords(machine.archive())).toEqual(await fresh())
  })

  it('shares the calls that another session mentions as one that is read whole does', async () => {
    const path = await longLog()
    machine.write(machine.log(TWO), claudeLog(1, { session: TWO, call: 'shared' }))
    await follow()
    append(path, claudeLog(701, { session: ONE, call: 'shared' }))
    expect((await follow()).entries).toBe(1)
    expect(await stateWords(machine.archive())).toEqual(await fresh())
    append(path, claudeLog(703, { session: ONE, call: 'shared', input: 99 }))
    await follow()
    expect(await stateWords(machine.archive())).toEqual(await fresh())
  })

  it('is read whole when it was rewritten, or ends within a line, and read on after that', async () => {
    const path = await longLog()
    append(path, answer(800).slice(0, -20))
    const torn = await follow()
    expect(torn.entries).toBeGreaterThan(1)
    expect(await stateWords(machine.archive())).toEqual(await fresh())
    append(path, answer(800).slice(-20))
    expect((await follow()).entries).toBeGreaterThan(1)
    await prepareAll()
    append(path, answer(801))
    expect((await follow()).entries).toBe(1)
    const whole = fs.readFileSync(path, 'utf8')
    fs.writeFileSync(path, whole.replace('question 0', 'another 0').replaceAll(':10,', ':11,') + answer(802))
    expect((await follow()).entries).toBeGreaterThan(1)
    await prepareAll()
    append(path, answer(803))
    await follow()
    const [session] = await machine.list()
    expect(session?.totals?.entries).toBeGreaterThan(25)
  })

  it('is read whole when a damaged line, or a byte order mark, was added', async () => {
    const path = await longLog()
    append(path, `{"type":"user","par${answer(810)}`)
    expect((await follow()).entries).toBeGreaterThan(1)
    expect(await stateWords(machine.archive())).toEqual(await fresh())
    await prepareAll()
    append(path, `\uFEFF${answer(811)}`)
    expect((await follow()).entries).toBeGreaterThan(1)
    expect(await stateWords(machine.archive())).toEqual(await fresh())
  })

  it('is read whole after another process has read it, and its new words are found', async () => {
    const path = await longLog()
    append(path, answer(900))
    await machine.sync()
    append(path, claudeLog(1801, { session: ONE, text: 'a needle' }))
    expect((await follow()).entries).toBeGreaterThan(1)
    expect(await stateWords(machine.archive())).toEqual(await fresh())
  })

  it('is read whole after what was read on could not be written: no call is lost', async () => {
    const path = await longLog()
    append(path, answer(500))
    const full = `CREATE TRIGGER full BEFORE INSERT ON recordings BEGIN SELECT RAISE(ABORT, 'disk full'); END`
    await change(full)
    await expect(follow()).rejects.toThrow('disk full')
    await change('DROP TRIGGER full')
    await follow()
    expect(await stateWords(machine.archive())).toEqual(await fresh())
  })

  it('that is still to be read is not waited for by who is to stop', async () => {
    append(machine.log(ONE), answer(1))
    await follow()
    followedUnits.wish({ home: machine.home, files: [{ path: 'x', size: LONG_BYTES, bytes: 0 }] }, 1)
    await change('UPDATE units SET dirty = 1')
    const ending = new AbortController()
    setTimeout(() => ending.abort(), 50)
    await prepareFollowed(machine.archive(), ending.signal)
    // It was the one that was looked for.
    expect(followedUnits.nextWish(machine.home)).toBeUndefined()
  })

  it('is read whole in a state that was begun anew, though its passes have the same numbers', async () => {
    const path = await longLog()
    fs.rmSync(machine.home, { recursive: true })
    fs.rmSync(path)
    const words = 'z'.repeat(210_000)
    for (let n = 0; n < 26; n += 1)
      append(path, claudeLog(n, { session: ONE, input: 77, text: `${n} ${words}` }))
    await follow()
    append(path, answer(500))
    await follow()
    expect(await stateWords(machine.archive())).toEqual(await fresh())
  })

  it('is read whole after another process has read it on: calls without a name are billed once', async () => {
    const path = await longLog()
    const nameless = (n: number): string => {
      const {
        requestId: _,
        message,
        ...line
      } = JSON.parse(answer(n)) as { requestId: string; message: object }
      return `${JSON.stringify({ ...line, message: { ...message, id: undefined } })}\n`
    }
    append(path, nameless(500))
    const other = await import('./followed-units.ts')
    // As one that holds it as it was, and is behind.
    const behind = other.createFollowedUnits()
    const unit = await knownUnit()
    await behind.prepare(unit, async () => ({ unit, isKnown: () => true }))
    expect((await follow()).entries).toBe(1)
    expect(await behind.more(await knownUnit())).toBeUndefined()
    expect(await stateWords(machine.archive())).toEqual(await fresh())
  })

  it("is read on: Codex's, whose counts go on from those before", async () => {
    const name = `.codex/sessions/2026/02/10/rollout-2026-02-10T10-00-01-${THREAD}.jsonl`
    const first = [meta(), turn('gpt-5'), said('x'.repeat(LONG_BYTES)), counted([50, 0, 5, 0])]
    const path = machine.write(name, text(...first))
    await follow()
    // It was written long ago: the first line after that is read with all before it.
    append(path, text(said('more')))
    expect((await follow()).entries).toBe(5)
    await prepareAll()
    append(path, text(counted([170, 10, 9, 1], [120, 10, 4, 1])))
    expect((await follow()).entries).toBe(1)
    expect(await stateWords(machine.archive())).toEqual(await fresh())
    const [session] = await machine.list()
    expect(session?.totals?.usage).toMatchObject({ input: 160, cacheRead: 10, output: 9 })
  })

  it('is told to be deleted: nothing of it comes back', async () => {
    const path = await longLog()
    const [session] = await machine.list()
    fs.appendFileSync(
      join(machine.home, 'tombstones.jsonl'),
      `${JSON.stringify({ session: session?.id, at: new Date().toISOString() })}\n`,
    )
    append(path, answer(950))
    await follow()
    expect(await machine.list()).toEqual([])
  })
})
