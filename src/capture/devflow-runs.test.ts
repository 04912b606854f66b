import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { openArchive } from '../archive/archive.ts'
import { recoverSession } from '../archive/recover.ts'
import { tarEnd, tarHeader, tarPadding } from '../archive/tar.ts'
import { textOf } from '../transcript/block.ts'
import { openDevflow, type DevflowStore } from './devflow-runs.ts'
import type { RunTurn } from './devflow-turns.ts'

const DAY = 86_400_000
let folder: string
let base: string
let now: number
let store: DevflowStore

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'devflow-'))
  base = join(folder, '.devflow')
  now = Date.parse('2025-01-15T10:30:00Z')
  store = open()
})

describe('a run', () => {
  it('is recorded, ended and loaded: start, turns, tool calls, cost, end', async () => {
    await store.startRun('2025-01-15-ticket-to-pr-TK421', {
      flowId: 'ticket-to-pr',
      nodeId: 'generate-spec',
      input: { ticketId: 'TK-421' },
    })
    expect(json('runs/2025-01-15-ticket-to-pr-TK421/metadata.json')).toMatchObject({
      status: 'running',
      flowId: 'ticket-to-pr',
    })
    const run = '2025-01-15-ticket-to-pr-TK421'
    expect(store.recordTurn(run, { role: 'system', content: 'You are…', tokensIn: 500 })).toBe(1)
    store.recordTurn(run, {
      role: 'user',
      content: 'Generate',
      tokensIn: 1200,
      timestamp: '2025-01-15T10:30:01Z',
    })
    expect(
      store.recordTurn(run, { role: 'assistant', content: '# Spec', tokensOut: 2500, durationMs: 900 }),
    ).toBe(3)
    store.recordToolCall(run, { name: 'read_file', input: { path: 'a.go' }, output: 'package a' })
    store.recordToolCall(run, { id: 'c2', name: 'run', input: {}, error: 'exit 1' })
    store.recordTurn(run, { role: 'tool_result', content: 'done' })
    store.addCost(run, 0.1)
    store.addCost(run, '0.02')
    now += 60_000
    await store.endRun(run)
    const document = json(`runs/${run}/transcript.json`)
    expect(document).toMatchObject({
      runId: run,
      metadata: {
        status: 'completed',
        totalTokensIn: 1700,
        totalTokensOut: 2500,
        totalCost: 0.12,
        turnCount: 4,
        endedAt: '2025-01-15T10:31:00Z',
      },
      turns: [
        { id: 1, role: 'system', content: 'You are…', tokensIn: 500 },
        { id: 2, role: 'user', timestamp: '2025-01-15T10:30:01Z' },
        {
          id: 3,
          role: 'assistant',
          content: '# Spec',
          durationMs: 900,
          toolCalls: [
            { name: 'read_file', input: { path: 'a.go' }, output: 'package a' },
            { id: 'c2', name: 'run', error: 'exit 1' },
          ],
        },
        { id: 4, role: 'tool_result', content: 'done' },
      ],
    })
    expect(document).toHaveProperty('turns.length', 4)
    const { session, entries } = await store.load(run)
    expect(session).toMatchObject({
      status: 'completed',
      reportedCost: '0.12',
      input: { ticketId: 'TK-421' },
    })
    expect(entries.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool', 'tool'])
    expect(json('runs/index.json')).toMatchObject({ runs: [{ runId: run, status: 'completed' }] })
  })

  it('says the same of its tokens live as when it is read back', async () => {
    await store.startRun('r', { flowId: 'f' })
    store.recordTurn('r', { role: 'user', content: 'a', tokensIn: 10 })
    store.recordTurn('r', { role: 'assistant', content: 'b', tokensOut: 5 })
    const live = store.getActive('r')?.recorder
    await store.endRun('r')
    expect(live?.session().totals?.usage).toEqual({ input: 10, output: 5, quality: 'estimated' })
    const { entries } = await store.load('r')
    expect(entries.map(({ usage }) => usage)).toEqual([
      { input: 10, quality: 'estimated' },
      { output: 5, quality: 'reported' },
    ])
  })

  it('can be loaded while it is recorded', async () => {
    await store.startRun('r', { flowId: 'f' })
    store.recordTurn('r', { role: 'user', content: 'so far' })
    const { session, entries } = await store.load('r')
    expect(session.status).toBe('running')
    expect(entries.map(({ blocks }) => textOf(blocks))).toEqual(['so far'])
    expect(store.loadMetadata('r')).toMatchObject({ runId: 'r', status: 'running', flowId: 'f' })
    expect(store.active()).toEqual(['r'])
    expect(store.getActive('r')?.turnCount()).toBe(1)
    await store.endRun('r')
    expect(store.active()).toEqual([])
    expect(store.getActive('r')).toBeUndefined()
  })

  it('keeps a call with its turn when subagents speak between', async () => {
    await store.startRun('r', { flowId: 'f' })
    store.getActive('r')?.recorder.subagent('a').assistant('mine')
    store.recordTurn('r', { role: 'assistant', content: 'hers' })
    store.getActive('r')?.recorder.subagent('a').assistant('mine too')
    store.recordToolCall('r', { name: 't', output: 'x' })
    await store.endRun('r')
    const { turns } = json('runs/r/transcript.json') as {
      turns: { content: string; toolCalls?: unknown[] }[]
    }
    expect(turns.map(({ content, toolCalls }) => [content, toolCalls?.length])).toEqual([
      ['mine', undefined],
      ['hers', 1],
      ['mine too', undefined],
    ])
  })

  it.each([
    ['completed', undefined],
    ['canceled', undefined],
    ['failed', 'failed without an error'],
  ] as const)('ends as %s', async (status, error) => {
    await store.startRun('r')
    await store.endRun('r', status)
    expect(store.loadMetadata('r').status).toBe(status)
    expect(store.loadMetadata('r').error).toBe(error)
  })

  it.each([
    [new Error('out of tokens'), 'out of tokens'],
    ['no luck', 'no luck'],
    [undefined, 'failed without an error'],
    [null, 'failed without an error'],
  ])('fails with %s without crashing', async (error, message) => {
    await store.startRun('r')
    await store.failRun('r', error)
    expect(store.loadMetadata('r')).toMatchObject({ status: 'failed', error: message })
  })

  it('loses no turn when the process is killed, and recover finishes its files', async () => {
    const library = join(import.meta.dirname, '../../dist/src/capture/devflow-runs.js')
    const script = `
      import { openDevflow } from ${JSON.stringify(library)}
      const store = openDevflow('.devflow', { home: 'home' })
      await store.startRun('r', { flowId: 'f' })
      for (let n = 1; n <= 20; n += 1) {
        store.recordTurn('r', { role: 'assistant', content: 'turn ' + n })
        store.recordToolCall('r', { name: 'Bash', output: 'result ' + n })
      }
      process.kill(process.pid, 'SIGKILL')`
    const died = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect([died.signal, died.stderr]).toEqual(['SIGKILL', ''])
    expect(store.loadMetadata('r').status).toBe('running')

    const archive = openArchive(join(folder, 'home'))
    expect(await recoverSession(archive, archive.ids()[0] ?? '')).toMatchObject({ outcome: 'recovered' })
    expect(store.loadMetadata('r')).toMatchObject({ status: 'failed', turnCount: 20 })
    const { turns } = json('runs/r/transcript.json') as { turns: unknown[] }
    expect(turns).toHaveLength(20)
    expect(turns.at(-1)).toMatchObject({ content: 'turn 20', toolCalls: [{ output: 'result 20' }] })
  })
})

describe('the four errors', () => {
  it('run-already-exists: active, on disk, or being started at the same moment', async () => {
    const both = [store.startRun('r'), store.startRun('r')]
    await expect(both[1]).rejects.toMatchObject({ code: 'run-already-exists' })
    await both[0]
    await expect(store.startRun('r')).rejects.toMatchObject({ code: 'run-already-exists' })
    await store.endRun('r')
    await expect(store.startRun('r')).rejects.toMatchObject({ code: 'run-already-exists' })
    await expect(open().startRun('r')).rejects.toMatchObject({ code: 'run-already-exists' })
    fs.mkdirSync(join(base, 'runs/empty'))
    await expect(store.startRun('empty')).rejects.toMatchObject({ code: 'run-already-exists' })
  })

  it('run-not-started: before the start, and for a run of another process', async () => {
    const refused = expect.objectContaining({ code: 'run-not-started' })
    expect(() => store.recordTurn('r', { role: 'user', content: 'x' })).toThrow(refused)
    expect(() => store.recordToolCall('r', { name: 't' })).toThrow(refused)
    expect(() => store.addCost('r', 1)).toThrow(refused)
    await expect(store.endRun('r')).rejects.toMatchObject({ code: 'run-not-started' })
    await store.startRun('r')
    expect(() => open().recordTurn('r', { role: 'user', content: 'x' })).toThrow(refused)
    await store.endRun('r')
  })

  it('run-already-ended: after the end, in this process and in another', async () => {
    await store.startRun('r')
    await store.endRun('r')
    const ended = expect.objectContaining({ code: 'run-already-ended' })
    for (const one of [store, open()]) {
      expect(() => one.recordTurn('r', { role: 'user', content: 'x' })).toThrow(ended)
      expect(() => one.recordToolCall('r', { name: 't' })).toThrow(ended)
      await expect(one.endRun('r')).rejects.toMatchObject({ code: 'run-already-ended' })
      await expect(one.failRun('r')).rejects.toMatchObject({ code: 'run-already-ended' })
    }
  })

  it('run-not-found: for what is not there', async () => {
    const missing = expect.objectContaining({ code: 'run-not-found' })
    await expect(store.load('r')).rejects.toMatchObject({ code: 'run-not-found' })
    expect(() => store.loadMetadata('r')).toThrow(missing)
    expect(() => store.delete('r')).toThrow(missing)
    await expect(store.archive('r')).rejects.toMatchObject({ code: 'run-not-found' })
    await expect(store.restore('r')).rejects.toMatchObject({ code: 'run-not-found' })
  })

  it('an id that is no name never becomes a path', async () => {
    for (const id of ['..', '../x', 'a/b', 'a\0b', '', 'x'.repeat(300)]) {
      await expect(store.startRun(id)).rejects.toMatchObject({ code: 'invalid-id' })
      await expect(store.load(id)).rejects.toMatchObject({ code: 'invalid-id' })
      await expect(store.restore(id)).rejects.toMatchObject({ code: 'invalid-id' })
      expect(() => store.delete(id)).toThrow(expect.objectContaining({ code: 'invalid-id' }))
    }
  })

  it('refuses a turn that is wrong before it counts it: the numbers that are given are those on disk', async () => {
    await store.startRun('r')
    const turn = { role: 'user', content: 'x' } as const
    const wrong = [
      { ...turn, role: 'robot' },
      { ...turn, role: 'toString' },
      { ...turn, content: 5 },
      { ...turn, timestamp: 'noon' },
      { ...turn, tokensIn: -1 },
      { ...turn, tokensOut: 0.5 },
      { ...turn, durationMs: Number.NaN },
      null,
      'hello',
      { ...turn, toolCalls: 5 },
      { ...turn, toolCalls: [null] },
      { ...turn, toolCalls: [{ name: '' }] },
      { ...turn, toolCalls: [{ name: 't', input: ['x'] }] },
      { ...turn, toolCalls: [{ name: 't', output: {} }] },
    ] as unknown as RunTurn[]
    const given: number[] = [store.recordTurn('r', turn)]
    for (const one of wrong) {
      expect(() => store.recordTurn('r', one)).toThrow(expect.objectContaining({ code: 'invalid-argument' }))
      given.push(store.recordTurn('r', turn))
    }
    expect(() => store.recordTurn('r', wrong[0] as RunTurn)).toThrow('no such role: "robot"')
    await store.endRun('r')
    const { turns } = json('runs/r/transcript.json') as { turns: { id: number }[] }
    expect(turns.map(({ id }) => id)).toEqual(given)
  })

  it('refuses a status that no run ends with, and the run goes on', async () => {
    await store.startRun('r')
    const weird = 'weird' as unknown as 'failed'
    await expect(store.endRun('r', weird)).rejects.toMatchObject({
      code: 'invalid-argument',
      message: 'a run cannot end as "weird"',
    })
    expect(store.recordTurn('r', { role: 'user', content: 'x' })).toBe(1)
    await store.endRun('r', 'canceled')
    expect(json('runs/r/metadata.json')).toMatchObject({ status: 'canceled' })
  })
})

describe('a tool call', () => {
  it('goes to the last turn where that is the assistant’s, and else nowhere: the caller is told', async () => {
    const call = { name: 't', output: 'x' }
    await store.startRun('r')
    expect(store.recordToolCall('r', call)).toBe(false)
    store.recordTurn('r', { role: 'assistant', content: 'a' })
    expect(store.recordToolCall('r', call)).toBe(true)
    expect(store.recordToolCall('r', call)).toBe(true)
    for (const role of ['user', 'tool_result', 'system'] as const) {
      store.recordTurn('r', { role, content: 'b' })
      expect(store.recordToolCall('r', call)).toBe(false)
    }
    await store.endRun('r')
    const { turns } = json('runs/r/transcript.json') as { turns: { toolCalls?: unknown[] }[] }
    expect(turns.map(({ toolCalls }) => toolCalls?.length)).toEqual([2, undefined, undefined, undefined])
  })

  it('stands on its turn whatever the role, where the turn itself brings it', async () => {
    await store.startRun('r')
    store.recordTurn('r', { role: 'user', content: 'a', toolCalls: [{ name: 't', output: 'x' }] })
    await store.endRun('r')
    expect(json('runs/r/transcript.json')).toMatchObject({
      turns: [{ role: 'user', toolCalls: [{ name: 't', output: 'x' }] }],
    })
  })
})

describe('list', () => {
  beforeEach(() => {
    put('a', { flowId: 'build', startedAt: '2025-01-01T00:00:00Z' })
    put('b', { flowId: 'review', startedAt: '2025-01-03T00:00:00Z', status: 'failed' })
    put('c', { flowId: 'build', startedAt: '2025-01-02T00:00:00.5Z' })
  })

  it.each([
    [{}, ['b', 'c', 'a']],
    [{ flow: 'build' }, ['c', 'a']],
    [{ status: 'failed' as const }, ['b']],
    [{ after: '2025-01-01T00:00:00.000Z' }, ['b', 'c']],
    [{ before: '2025-01-03T00:00:00.000Z' }, ['c', 'a']],
    [{ after: '2025-01-01T12:00:00.000Z', before: '2025-01-02T12:00:00.000Z' }, ['c']],
    [{ limit: 2 }, ['b', 'c']],
  ])('gives for %j, newest first, %j', (filter, expected) => {
    expect(store.list(filter).runs.map(({ runId }) => runId)).toEqual(expected)
  })

  it('passes over metadata that cannot be read, and says which', () => {
    fs.mkdirSync(join(base, 'runs/torn'))
    fs.writeFileSync(join(base, 'runs/torn/metadata.json'), '{"runId":"to')
    fs.mkdirSync(join(base, 'runs/empty'))
    fs.symlinkSync(join(base, 'runs/a'), join(base, 'runs/link'))
    const { runs, unreadable } = store.list()
    expect(runs).toHaveLength(3)
    expect(unreadable.map(({ runId }) => runId)).toEqual(['empty', 'torn'])
  })

  it('is empty where there is nothing', () => {
    expect(openDevflow(join(folder, 'nowhere')).list()).toEqual({ runs: [], unreadable: [] })
  })
})

describe('delete', () => {
  it('removes the run and its place in the index, and nothing behind a link', async () => {
    put('a')
    put('b')
    fs.writeFileSync(join(folder, 'precious'), 'x')
    fs.symlinkSync(join(folder, 'precious'), join(base, 'runs/a/artifacts'))
    store.delete('a')
    expect(fs.readdirSync(join(base, 'runs')).sort()).toEqual(['b', 'index.json'])
    expect(json('runs/index.json')).toMatchObject({ runs: [{ runId: 'b' }] })
    expect(fs.readFileSync(join(folder, 'precious'), 'utf8')).toBe('x')
    expect(fs.readdirSync(base)).toEqual(['runs'])
  })

  it('refuses a run that has not ended', async () => {
    await store.startRun('r')
    expect(() => store.delete('r')).toThrow(expect.objectContaining({ code: 'locked' }))
    expect(() => open().delete('r')).toThrow(expect.objectContaining({ code: 'locked' }))
    await store.endRun('r')
    store.delete('r')
    expect(store.list().runs).toEqual([])
  })
})

describe('archive and restore', () => {
  it('puts every file of a run away under its id, and back to the same bytes', async () => {
    put('2025-01-15-review-pr-123')
    const before = snapshot('runs/2025-01-15-review-pr-123')
    const { path, month } = await store.archive('2025-01-15-review-pr-123')
    expect([month, path]).toEqual(['2025-01', join(base, 'archive/2025-01/2025-01-15-review-pr-123.tar.gz')])
    expect(fs.existsSync(join(base, 'runs/2025-01-15-review-pr-123'))).toBe(false)
    expect(gunzipSync(fs.readFileSync(path)).toString('latin1')).toContain(
      '2025-01-15-review-pr-123/artifacts/spec.md',
    )
    expect(store.listArchives()).toMatchObject([{ runId: '2025-01-15-review-pr-123', month: '2025-01' }])
    await store.restore('2025-01-15-review-pr-123')
    expect(snapshot('runs/2025-01-15-review-pr-123')).toEqual(before)
    expect(fs.existsSync(path)).toBe(true)
    await expect(store.restore('2025-01-15-review-pr-123')).rejects.toMatchObject({
      code: 'run-already-exists',
    })
    await store.archive('2025-01-15-review-pr-123')
    expect(fs.readdirSync(base).sort()).toEqual(['archive', 'runs'])
  })

  it.each([
    ['run-001', { endedAt: '2024-12-31T23:59:59Z' }, '2024-12'],
    ['2025-13-99-x', { endedAt: '2025-02-01T00:00:00Z' }, '2025-02'],
    ['2024-03-05-x', { endedAt: '2025-02-01T00:00:00Z' }, '2024-03'],
  ])('files %s with %j under %s', async (id, metadata, month) => {
    put(id, metadata)
    expect((await store.archive(id)).month).toBe(month)
  })

  it('leaves the run where an archive of that name holds something else', async () => {
    put('2025-01-15-a')
    await store.archive('2025-01-15-a')
    put('2025-01-15-a', { flowId: 'another' })
    await expect(store.archive('2025-01-15-a')).rejects.toMatchObject({ code: 'output-exists' })
    expect(store.loadMetadata('2025-01-15-a').flowId).toBe('another')
  })

  it('does not archive links, nor a run that has not ended', async () => {
    put('2025-01-15-a')
    fs.symlinkSync('/etc/passwd', join(base, 'runs/2025-01-15-a/artifacts/link'))
    await expect(store.archive('2025-01-15-a')).rejects.toMatchObject({ code: 'unsafe-path' })
    expect(fs.existsSync(join(base, 'runs/2025-01-15-a/metadata.json'))).toBe(true)
    put('b', { status: 'running' })
    await expect(store.archive('b')).rejects.toMatchObject({ code: 'locked' })
  })

  it('follows no link that stands where the archive should', async () => {
    put('2025-01-15-a')
    fs.mkdirSync(join(folder, 'elsewhere'))
    fs.symlinkSync(join(folder, 'elsewhere'), join(base, 'archive'))
    await expect(store.archive('2025-01-15-a')).rejects.toMatchObject({ code: 'unsafe-path' })
    expect(fs.readdirSync(join(folder, 'elsewhere'))).toEqual([])
    expect(store.list().runs).toHaveLength(1)
  })

  it('unpacks nothing of an archive that reaches out of its run or is cut off', async () => {
    const hostile = (path: string): Buffer =>
      Buffer.concat([
        tarHeader({ path, sizeBytes: 1, modified: 0 }),
        Buffer.from('x'),
        tarPadding(1),
        tarEnd(),
      ])
    const climbing = hostile('r/aaaaaaaaaa')
    climbing.write('r/../../evil', 0)
    climbing.fill(0x20, 148, 156)
    climbing.write(
      `${climbing
        .subarray(0, 512)
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    )
    fs.mkdirSync(join(base, 'archive/2025-01'), { recursive: true })
    const good = gzipSync(hostile('r/metadata.json'))
    for (const [bytes, code] of [
      [gzipSync(climbing), 'unsafe-path'],
      [gzipSync(hostile('other/file')), 'unsafe-path'],
      [good.subarray(0, good.length - 12), 'not-a-transcript'],
      [Buffer.from('no gzip'), 'not-a-transcript'],
    ] as const) {
      fs.writeFileSync(join(base, 'archive/2025-01/r.tar.gz'), bytes)
      await expect(store.restore('r')).rejects.toMatchObject({ code })
    }
    expect(fs.readdirSync(base)).toEqual(['archive'])
    expect(fs.readdirSync(folder)).not.toContain('evil')
  })
})

describe('clean (ADR-016)', () => {
  const days = (n: number): string => new Date(now - n * DAY).toISOString()

  it('does nothing unless told to', async () => {
    put('old', { endedAt: days(40) })
    const before = snapshot('runs')
    expect(await store.clean({ keepMinRuns: 0 })).toMatchObject({
      archived: ['old'],
      deleted: [],
      kept: [],
      errors: [],
    })
    expect(snapshot('runs')).toEqual(before)
    expect(fs.existsSync(join(base, 'archive'))).toBe(false)
  })

  it('archives a run past its days, also one that is past the days of deletion: never deletes without an archive', async () => {
    put('week', { endedAt: days(8) })
    put('month', { endedAt: days(31) })
    put('fresh', { endedAt: days(6) })
    const result = await store.clean({ keepMinRuns: 0, dryRun: false })
    expect(result).toMatchObject({ archived: ['month', 'week'], deleted: [], kept: ['fresh'], errors: [] })
    expect(
      store
        .listArchives()
        .map(({ runId }) => runId)
        .sort(),
    ).toEqual(['month', 'week'])
    expect(store.list().runs.map(({ runId }) => runId)).toEqual(['fresh'])
    await store.restore('month')
    expect(store.loadMetadata('month').status).toBe('completed')
  })

  it('archives after the shorter of both times', async () => {
    put('a', { endedAt: days(3) })
    expect((await store.clean({ keepMinRuns: 0, retentionDays: 2 })).archived).toEqual(['a'])
  })

  it('never touches runs that are running, failed or unreadable', async () => {
    put('running', { status: 'running', endedAt: '0001-01-01T00:00:00Z', startedAt: days(99) })
    put('failed', { status: 'failed', endedAt: days(99) })
    fs.mkdirSync(join(base, 'runs/torn'), { recursive: true })
    const result = await store.clean({ keepMinRuns: 0, dryRun: false })
    expect(result.archived).toEqual([])
    expect(result.kept.toSorted()).toEqual(['failed', 'running', 'torn'])
    expect(result.errors.map(({ runId }) => runId)).toEqual(['torn'])
    expect((await store.clean({ keepMinRuns: 0, keepFailed: false })).archived).toEqual(['failed'])
  })

  it('keeps at least keepMinRuns, the newest', async () => {
    for (let n = 1; n <= 5; n += 1) put(`r${n}`, { endedAt: days(40 - n) })
    expect((await store.clean()).archived).toEqual([])
    expect((await store.clean({ keepMinRuns: 3 })).archived).toEqual(['r1', 'r2'])
  })

  it('deletes archives past 90 days, but not those of failed runs', async () => {
    put('done', { endedAt: days(200) })
    put('bad', { endedAt: days(200), status: 'failed' })
    await store.archive('done')
    await store.archive('bad')
    const old = new Date(now - 91 * DAY)
    for (const { path } of store.listArchives()) fs.utimesSync(path, old, old)
    expect(await store.clean()).toMatchObject({ deleted: ['done'] })
    expect(store.listArchives()).toHaveLength(2)
    const { deleted, spaceSaved } = await store.clean({ dryRun: false })
    expect(deleted).toEqual(['done'])
    expect(spaceSaved).toBeGreaterThan(0)
    expect(store.listArchives().map(({ runId }) => runId)).toEqual(['bad'])
  })

  it('takes its times from config.json, and stops when that cannot be read', async () => {
    put('a', { endedAt: days(3) })
    fs.writeFileSync(
      join(base, 'config.json'),
      JSON.stringify({ artifacts: { archiveAfterDays: 2, keepMinRuns: 0 } }),
    )
    expect((await store.clean()).archived).toEqual(['a'])
    expect((await store.clean({ archiveAfterDays: 5 })).archived).toEqual([])
    for (const bad of [
      '{',
      '[]',
      '{"artifacts":7}',
      '{"artifacts":{"archiveAfterDays":-1}}',
      '{"artifacts":{"keepFailed":"no"}}',
    ]) {
      fs.writeFileSync(join(base, 'config.json'), bad)
      await expect(store.clean({ dryRun: false })).rejects.toMatchObject({ code: 'invalid-argument' })
    }
    expect(store.list().runs).toHaveLength(1)
  })

  it('goes on past a run that cannot be archived, and says why', async () => {
    put('a', { endedAt: days(40) })
    put('b', { endedAt: days(39) })
    fs.symlinkSync('/etc/passwd', join(base, 'runs/a/link'))
    const result = await store.clean({ keepMinRuns: 0, dryRun: false })
    expect(result).toMatchObject({ archived: ['b'], kept: ['a'], errors: [{ runId: 'a' }] })
  })
})

it('says how much room runs and archives take', async () => {
  expect(store.diskUsage()).toEqual({
    runCount: 0,
    archiveCount: 0,
    activeSize: 0,
    archiveSize: 0,
    totalSize: 0,
  })
  put('a')
  put('2025-01-15-b')
  const size = Object.values(snapshot('runs/a')).reduce((sum, text) => sum + text.length, 0)
  const { sizeBytes } = await store.archive('2025-01-15-b')
  expect(store.diskUsage()).toEqual({
    runCount: 1,
    archiveCount: 1,
    activeSize: size,
    archiveSize: sizeBytes,
    totalSize: size + sizeBytes,
  })
})

function open(): DevflowStore {
  return openDevflow(base, { home: join(folder, 'home'), now: () => now, redact: false })
}

function put(runId: string, metadata: Record<string, unknown> = {}): void {
  const path = join(base, 'runs', runId)
  fs.mkdirSync(join(path, 'artifacts'), { recursive: true })
  const facts = {
    runId,
    flowId: 'f',
    status: 'completed',
    startedAt: '2025-01-01T00:00:00Z',
    endedAt: '2025-01-01T00:01:00Z',
    turnCount: 0,
    ...metadata,
  }
  fs.writeFileSync(join(path, 'metadata.json'), JSON.stringify(facts))
  fs.writeFileSync(join(path, 'transcript.json'), JSON.stringify({ runId, metadata: facts, turns: [] }))
  if (runId !== 'a') fs.writeFileSync(join(path, 'artifacts/spec.md'), '# spec\n')
  else fs.rmdirSync(join(path, 'artifacts'))
}

function json(path: string): unknown {
  return JSON.parse(fs.readFileSync(join(base, path), 'utf8'))
}

function snapshot(path: string): Record<string, string> {
  const root = join(base, path)
  const names = fs.readdirSync(root, { recursive: true, encoding: 'utf8' })
  return Object.fromEntries(
    names
      .filter((name) => fs.statSync(join(root, name)).isFile())
      .map((name) => [name, fs.readFileSync(join(root, name), 'latin1')]),
  )
}
