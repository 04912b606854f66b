import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeLog, claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { unprivileged } from '../../test/unprivileged.ts'
import { acquireLock } from '../archive/lock.ts'
import { addTombstone } from '../archive/tombstones.ts'
import { record } from '../capture/record.ts'
import { openKept } from '../archive/kept.ts'
import { isHansardError } from '../errors.ts'
import { openSessions } from './sessions.ts'
import { readHealth } from './health.ts'
import { peekState } from './state.ts'

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001'
const TWO = 'bbbbbbbb-0000-4000-8000-000000000002'

let machine: Machine
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

async function health() {
  const state = await peekState(machine.archive())
  if (state === undefined) throw new Error('there is no state')
  try {
    return readHealth(state.database)
  } finally {
    state.close()
  }
}

/** The kept copy of a log, newest version. */
async function keptBytes(session: string): Promise<string> {
  for (const one of openKept(machine.archive()).places()) {
    for await (const path of one.paths()) {
      const file = one.file(path)
      if (!path.includes(session) || file === undefined) continue
      const chunks: Buffer[] = []
      for await (const chunk of file.chunks()) chunks.push(chunk)
      return Buffer.concat(chunks).toString()
    }
  }
  throw new Error(`${session} is not kept`)
}

describe('a source that goes away', () => {
  it('takes nothing with it: the list, the entries and the bytes are as before', async () => {
    const text = claudeLogs(6, { session: ONE })
    const log = machine.write(machine.log(ONE), text)
    await machine.sync()
    const list = await machine.list()
    const [{ id } = { id: '' }] = list
    const texts = await machine.texts(id)
    fs.rmSync(dirname(dirname(log)), { recursive: true })
    await machine.sync()
    expect(await machine.list()).toEqual(list)
    expect(await machine.texts(id)).toEqual(texts)
    expect(texts).toEqual(['question 0', 'answer 1', 'question 2', 'answer 3', 'question 4', 'answer 5'])
    expect(await keptBytes(ONE)).toBe(text)
  })

  it('takes nothing with it when it is cut off, rewritten shorter, or another file is put in its place', async () => {
    const log = machine.write(machine.log(ONE), claudeLogs(6, { session: ONE }))
    await machine.sync()
    const [{ id } = { id: '' }] = await machine.list()
    const all = await machine.texts(id)

    fs.truncateSync(log, 700)
    await machine.sync()
    expect(await machine.texts(id)).toEqual(all)
    expect((await machine.list())[0]?.totals).toMatchObject({ calls: 3, usage: { input: 30, output: 15 } })

    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    await machine.sync()
    expect(await machine.texts(id)).toEqual(all)

    fs.rmSync(log)
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE, text: 'another' }))
    await machine.sync()
    expect((await machine.texts(id)).toSorted()).toEqual(expect.arrayContaining(all.toSorted()))
  })

  it('is left alone by a sync that reads in place, and read again by one that keeps', async () => {
    machine.write(machine.log(ONE), claudeLogs(4, { session: ONE }))
    const report = await machine.sync({ keep: false })
    expect(report).toMatchObject({ sessions: 1, files: { new: 1 } })
    expect(openKept(machine.archive()).places()).toEqual([])
    expect(await machine.list()).toHaveLength(1)

    expect(await machine.sync()).toMatchObject({ files: { failed: 0 } })
    expect(await keptBytes(ONE)).toBe(claudeLogs(4, { session: ONE }))
  })
})

describe('a source that changes', () => {
  it('costs no byte while it does not', async () => {
    machine.write(machine.log(ONE), claudeLogs(4, { session: ONE }))
    machine.write(machine.log(TWO), claudeLogs(4, { session: TWO }))
    expect(await machine.sync()).toMatchObject({ sessions: 2, entries: 8, files: { seen: 2, new: 2 } })
    expect(await machine.sync()).toMatchObject({
      sessions: 0,
      bytesRead: 0,
      files: { seen: 2, new: 0, unchanged: 2 },
    })
  })

  it('costs what was added and 4 KB when it has grown', async () => {
    const before = claudeLogs(400, { session: ONE })
    machine.write(machine.log(ONE), before)
    await machine.sync()
    const line = claudeLog(400, { session: ONE })
    fs.appendFileSync(machine.log(ONE), line)
    const report = await machine.sync()
    expect(report.files).toMatchObject({ grown: 1, rewritten: 0 })
    expect(report.bytesRead).toBeLessThanOrEqual(Buffer.byteLength(line) + 4096)
    expect((await machine.list())[0]?.totals?.entries).toBe(401)
  })

  it('is told anew what format it is in when it was rewritten', async () => {
    const path = join(machine.user, 'export.jsonl')
    machine.write('export.jsonl', claudeLogs(2, { session: ONE }))
    await machine.sync({ paths: [path] })
    expect((await machine.list())[0]?.agent).toBe('claude-code')
    const codex = [
      {
        timestamp: '2026-01-01T00:00:00.000Z',
        type: 'session_meta',
        payload: {
          id: TWO,
          cwd: '/p',
          originator: 'codex_cli_rs',
          cli_version: '0.50.0',
          timestamp: '2026-01-01T00:00:00.000Z',
          instructions: null,
          source: 'cli',
        },
      },
      {
        timestamp: '2026-01-01T00:00:01.000Z',
        type: 'response_item',
        payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello codex' }] },
      },
    ]
    machine.write('export.jsonl', codex.map((one) => `${JSON.stringify(one)}\n`).join(''))
    const report = await machine.sync({ paths: [path] })
    expect(report.problems).toEqual([])
    expect((await machine.list()).map(({ agent }) => agent)).toContain('codex')
  })

  it('is whole again after a death between keeping and noting it', async () => {
    machine.write(machine.log(ONE), claudeLogs(4, { session: ONE, text: 'aaaa' }))
    await machine.sync()
    const [{ id } = { id: '' }] = await machine.list()
    machine.write(machine.log(ONE), claudeLogs(4, { session: ONE, text: 'bbbb' }))
    // What a sync does before it dies: the new bytes are kept, and the state knows only that it was about to.
    const root = (await health()).places.find(({ agent }) => agent === 'claude-code')?.root ?? ''
    const path = machine.log(ONE).slice(root.length + 1)
    await openKept(machine.archive())
      .place('claude-code', root)
      .keep(path, { file: machine.log(ONE) })
    await machine.sync()
    expect(await machine.texts(id)).toContain('bbbb')
  })
})

describe('what goes wrong', () => {
  it('with one file or folder leaves all others as they are, with a line for each cause', async () => {
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    const closed = machine.write('.claude/projects/-q/closed.jsonl', claudeLogs(2, { session: TWO }))
    const folder = join(machine.user, '.claude/projects/-r')
    fs.mkdirSync(folder)
    fs.mkdirSync(machine.home)
    const somebody = { base: machine.base, own: [machine.home, machine.cwd], closed: [closed, folder] }
    await unprivileged(somebody, async () => {
      const { files, problems } = await machine.sync()
      expect(files).toMatchObject({ new: 1, failed: 1 })
      expect(problems).toEqual([
        { cause: 'not-permitted', count: 2, example: expect.stringContaining('-r') as string },
      ])
      expect(await machine.list()).toHaveLength(1)
    })
    const later = await machine.sync()
    expect(later).toMatchObject({ problems: [], files: { new: 1, failed: 0 } })
    expect(await machine.list()).toHaveLength(2)
  })

  it('is no link out of the tree: it is told of, and never followed', async () => {
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    const outside = join(machine.base, 'secret.jsonl')
    fs.writeFileSync(outside, claudeLogs(2, { session: TWO }))
    fs.symlinkSync(outside, machine.log(TWO))
    const { problems } = await machine.sync()
    expect(problems.map(({ cause }) => cause)).toEqual(['link'])
    expect(await machine.list()).toHaveLength(1)
  })

  it('says locked while another is at work, and breaks nothing', async () => {
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    const archive = machine.archive()
    const release = acquireLock(archive.files, archive.home)
    const error: unknown = await machine.sync().catch((thrown: unknown) => thrown)
    expect(isHansardError(error) && error.code).toBe('locked')
    release()
    expect(await machine.sync()).toMatchObject({ sessions: 1, problems: [] })
  })

  it('stops keeping below a tenth of the disk, says so, and goes on when there is room', async () => {
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    const full = await machine.sync({ disk: () => ({ free: 99, total: 1000 }) })
    expect(full).toMatchObject({ files: { failed: 1, new: 0 }, problems: [{ cause: 'disk-full', count: 1 }] })
    expect(openKept(machine.archive()).places()).toEqual([])
    expect((await health()).places.some(({ pending, failed }) => pending === 1 && failed === 1)).toBe(true)
    expect(await machine.sync({ disk: () => ({ free: 1e9, total: 2e9 }) })).toMatchObject({
      problems: [],
      sessions: 1,
    })
  })

  it('keeps records of a newer version of the agent, and tells of them', async () => {
    const newer = `${JSON.stringify({ type: 'hologram', uuid: 'x', parentUuid: null, sessionId: ONE, version: '9.0.0', timestamp: '2026-01-01T00:00:00.000Z', light: 1 })}\n`
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }) + newer)
    const report = await machine.sync()
    expect(report).toMatchObject({ damage: 0, entries: 3 })
    expect((await health()).drift).toContainEqual({
      format: 'claude-code',
      kind: 'record',
      name: 'hologram',
      version: '9.0.0',
      count: 1,
      units: 1,
    })
  })
})

describe('what is taken in', () => {
  it('does not bring back what was deleted on purpose', async () => {
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    await machine.sync()
    const [{ id } = { id: '' }] = await machine.list()
    addTombstone(machine.archive().files, machine.home, {
      session: id,
      at: '2026-01-01T00:00:00.000Z',
      reason: 'test',
    })
    fs.appendFileSync(machine.log(ONE), claudeLog(2, { session: ONE }))
    await machine.sync()
    expect(await machine.list()).toEqual([])
    await expect(keptBytes(ONE)).rejects.toThrow('is not kept')
    expect(await machine.sync()).toMatchObject({ bytesRead: 0 })
  })

  it('leaves out what patterns exclude', async () => {
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    machine.write('.claude/projects/-secret/x.jsonl', claudeLogs(2, { session: TWO }))
    expect(await machine.sync({ exclude: ['**/-secret/**'] })).toMatchObject({ files: { seen: 1 } })
  })

  it('has a path that was named once looked into again, and one that was imported not', async () => {
    machine.write('exports/a.jsonl', claudeLogs(2, { session: ONE }))
    machine.write('once/b.jsonl', claudeLogs(2, { session: TWO }))
    await machine.sync({ paths: [join(machine.user, 'exports')] })
    await machine.sync({ paths: [join(machine.user, 'once')], isOnce: true })
    expect(await machine.list()).toHaveLength(2)
    fs.appendFileSync(join(machine.user, 'exports/a.jsonl'), claudeLog(2, { session: ONE }))
    fs.appendFileSync(join(machine.user, 'once/b.jsonl'), claudeLog(2, { session: TWO }))
    expect(await machine.sync()).toMatchObject({ files: { seen: 1, grown: 1 } })
  })

  it('has no session twice that is recorded here and written in a format beside', async () => {
    const recorder = await record({
      home: machine.home,
      cwd: machine.cwd,
      formats: ['entire', 'devflow'],
      flow: 'f',
      step: 's',
    })
    recorder.user('hello')
    recorder.assistant('hi')
    await recorder.end()
    await machine.sync()
    expect(await machine.list()).toMatchObject([{ id: recorder.id }])
    expect(await machine.sync()).toMatchObject({ bytesRead: 0, sessions: 0 })
  })

  it('is one session when it was recorded here and logged by its agent', async () => {
    machine.write(machine.log(ONE), claudeLogs(4, { session: ONE }))
    const recorder = await record({
      home: machine.home,
      cwd: machine.cwd,
      native: { agent: 'claude-code', sessionId: ONE },
    })
    recorder.assistant('answer 1', {
      usage: { input: 10, output: 5, quality: 'reported' },
      call: { provider: 'anthropic', messageId: `msg_${ONE}_1` },
    })
    await recorder.end()
    await machine.sync()
    const listed = await machine.list()
    expect(listed).toHaveLength(1)
    expect(listed[0]?.recordings?.map(({ by }) => by).toSorted()).toEqual(['claude-code', 'journal'])
    expect(listed[0]?.totals).toMatchObject({ calls: 2, usage: { input: 20, output: 10 } })

    // The journal goes: what the log alone says is billed.
    fs.rmSync(join(machine.home, 'sessions', recorder.id), { recursive: true })
    await machine.sync()
    expect((await machine.list())[0]?.totals).toMatchObject({ calls: 2, usage: { input: 20, output: 10 } })
    fs.rmSync(join(machine.home, 'kept'), { recursive: true })
  })

  it.each([0, 700])('is one session when its agent’s name for it is learnt after %i calls', async (calls) => {
    machine.write(machine.log(ONE), claudeLogs(4, { session: ONE }))
    const recorder = await record({ home: machine.home, cwd: machine.cwd })
    const answer = (messageId: string): void =>
      recorder.assistant('an answer', {
        usage: { input: 10, output: 5, quality: 'reported' },
        call: { provider: 'anthropic', messageId },
      })
    for (let nth = 0; nth < calls; nth += 1) answer(`msg_before_${nth}`)
    recorder.update({ native: { agent: 'claude-code', sessionId: ONE } })
    answer(`msg_${ONE}_1`)
    expect(await machine.list()).toHaveLength(1)
    await recorder.end()
    await machine.sync()
    const listed = await machine.list()
    expect(listed).toHaveLength(1)
    expect(listed[0]?.recordings).toHaveLength(2)
    // The fuller recording speaks for the session: two calls are in the log.
    const billed = Math.max(2, calls + 1)
    expect(listed[0]?.totals).toMatchObject({ calls: billed, usage: { input: billed * 10 } })
  })

  it('has of each call what any recording knows of it, and no call that the fullest lacks', async () => {
    machine.write(machine.log(ONE), claudeLogs(4, { session: ONE }))
    const recorder = await record({
      home: machine.home,
      cwd: machine.cwd,
      native: { agent: 'claude-code', sessionId: ONE },
    })
    recorder.assistant('answer 1', {
      usage: { input: 10, output: 5, reasoning: 3 },
      call: { provider: 'anthropic', messageId: `msg_${ONE}_1` },
    })
    await recorder.end()
    await machine.sync()
    expect((await machine.list())[0]?.totals).toMatchObject({
      calls: 2,
      usage: { input: 20, output: 10, reasoning: 3, quality: 'reported' },
    })
  })

  it('counts the tools of all recordings that speak for it, each call once', async () => {
    const native = { agent: 'mine', sessionId: 'one' }
    const call = { type: 'tool-call', callId: 'call_1', name: 'Bash', input: {} } as const
    const first = await record({ home: machine.home, cwd: machine.cwd, native })
    first.assistant([call], { usage: { input: 1, output: 1 }, call: { messageId: 'm1' } })
    await first.end()
    const second = await record({ home: machine.home, cwd: machine.cwd, native })
    // What it was told of before, as it is told again with the next question.
    for (const text of ['one', 'two', 'three']) second.user(text)
    second.assistant('done', { usage: { input: 1, output: 1 }, call: { messageId: 'm2' } })
    await second.end()
    await machine.sync()
    expect(await machine.list()).toMatchObject([{ totals: { calls: 2, toolCalls: 1 } }])
    const third = await record({ home: machine.home, cwd: machine.cwd, native })
    third.assistant([call])
    for (const text of ['one', 'two', 'three']) third.user(text)
    third.assistant([{ ...call, callId: 'call_2' }], {
      usage: { input: 1, output: 1 },
      call: { messageId: 'm3' },
    })
    await third.end()
    await machine.sync()
    expect(await machine.list()).toMatchObject([{ totals: { calls: 3, toolCalls: 2 } }])
  })

  it('leaves the list with the journal that it was recorded in', async () => {
    const recorder = await record({ home: machine.home, cwd: machine.cwd })
    recorder.user('hello')
    await recorder.end()
    expect(await machine.list()).toHaveLength(1)
    fs.rmSync(join(machine.home, 'sessions', recorder.id), { recursive: true })
    expect(await machine.list()).toEqual([])
  })

  it('is seen while another process holds the lock, with what was recorded meanwhile', async () => {
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    await machine.sync()
    const archive = machine.archive()
    const release = acquireLock(archive.files, archive.home)
    const recorder = await record({ home: machine.home, cwd: machine.cwd })
    recorder.user('hello')
    await recorder.end()
    const sessions = await openSessions(machine.home)
    expect(sessions.isCaughtUp).toBe(false)
    expect(sessions.list({}).total).toBe(2)
    expect(sessions.find(recorder.id).id).toBe(recorder.id)
    sessions.close()
    release()
    expect(await machine.list()).toHaveLength(2)
  })

  it('needs no lock to be listed when nothing is new', async () => {
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    await machine.sync()
    const archive = machine.archive()
    const release = acquireLock(archive.files, archive.home)
    const sessions = await openSessions(machine.home)
    expect(sessions.isCaughtUp).toBe(true)
    sessions.close()
    release()
  })
})
