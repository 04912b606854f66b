/** ADR-011 on a real disk: its fields as they are read, its run ids, its compression, its code example, and whole files only. */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { openArchive } from '../src/archive/archive.ts'
import { createCarryOut } from '../src/archive/carry-out.ts'
import { readSession } from '../src/archive/read-session.ts'
import { openDevflow, type DevflowStore } from '../src/capture/devflow-runs.ts'
import { record } from '../src/capture/record.ts'
import { devflow, devflowRunId } from '../src/formats/devflow.ts'
import type { Writer } from '../src/formats/format.ts'
import { readTranscripts } from '../src/sources/read.ts'
import { textOf } from '../src/transcript/block.ts'
import type { Entry } from '../src/transcript/entry.ts'
import type { Session } from '../src/transcript/session.ts'
import type { Transcript } from '../src/transcript/transcript.ts'
import { createDisk, withFault } from './faulty-files.ts'
import { memoryFileSource, readAll, writeTranscript } from './memory-files.ts'

const START = Date.parse('2025-01-15T10:30:00Z')

let folder: string
let store: DevflowStore
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'hansard-devflow-'))
  store = openDevflow(join(folder, '.devflow'), { home: join(folder, 'home'), now: () => START })
})

const pathOf = (runId: string, name: string): string => join(folder, '.devflow/runs', runId, name)

/** A document that uses every field of the type definitions. */
const DOCUMENT = {
  runId: 'r',
  metadata: {
    flowId: 'ticket-to-pr',
    nodeId: 'generate-spec',
    input: { ticketId: 'TK-421' },
    startedAt: '2025-01-15T10:30:00Z',
    endedAt: '2025-01-15T10:45:32Z',
    status: 'failed',
    totalTokensIn: 5200,
    totalTokensOut: 8400,
    totalCost: 0.12,
    error: 'out of tokens',
  },
  turns: [
    {
      id: 1,
      role: 'assistant',
      content: '# Technical Specification...',
      tokensIn: 1500,
      tokensOut: 2500,
      timestamp: '2025-01-15T10:30:45Z',
      toolCalls: [
        { id: 'c1', name: 'read_file', input: { path: 'a.go' }, output: 'package a' },
        { name: 'run', input: {}, error: 'exit 1' },
      ],
      durationMs: 900,
    },
  ],
}

describe('ADR-011 §2, read', () => {
  it.each([
    ['Transcript.runId', 'session.names.devflow', 'r'],
    ['TranscriptMeta.flowId', 'session.run.flow', 'ticket-to-pr'],
    ['TranscriptMeta.nodeId', 'session.run.node', 'generate-spec'],
    ['TranscriptMeta.input', 'session.input', { ticketId: 'TK-421' }],
    ['TranscriptMeta.startedAt', 'session.startedAt', '2025-01-15T10:30:00.000Z'],
    ['TranscriptMeta.endedAt', 'session.endedAt', '2025-01-15T10:45:32.000Z'],
    ['TranscriptMeta.status', 'session.status', 'failed'],
    ['TranscriptMeta.totalTokensIn', 'session.reportedUsage.input', 5200],
    ['TranscriptMeta.totalTokensOut', 'session.reportedUsage.output', 8400],
    ['TranscriptMeta.totalCost', 'session.reportedCost', '0.12'],
    ['TranscriptMeta.error', 'session.error', 'out of tokens'],
    ['Turn.id', 'entries.0.id', '1'],
    ['Turn.role', 'entries.0.role', 'assistant'],
    ['Turn.content', 'entries.0.blocks.0.text', '# Technical Specification...'],
    ['Turn.tokensIn', 'entries.0.usage.input', 1500],
    ['Turn.tokensOut', 'entries.0.usage.output', 2500],
    ['Turn.timestamp', 'entries.0.at', '2025-01-15T10:30:45.000Z'],
    ['Turn.durationMs', 'entries.0.durationMs', 900],
    ['ToolCall.id', 'entries.0.blocks.1.callId', 'c1'],
    ['ToolCall.name', 'entries.0.blocks.1.name', 'read_file'],
    ['ToolCall.input', 'entries.0.blocks.1.input', { path: 'a.go' }],
    ['ToolCall.output', 'entries.1.blocks.0.output', 'package a'],
    ['ToolCall.error', 'entries.2.blocks.0.error', 'exit 1'],
  ])('%s becomes %s', async (_, path, value) => {
    const [found] = await readAll(devflow, memoryFileSource('transcript.json', JSON.stringify(DOCUMENT)))
    expect(found).toHaveProperty(path, value)
  })
})

describe('ADR-011 §4', () => {
  it('a run of 100 KB is transcript.json.gz, a smaller one transcript.json, and both load', async () => {
    for (const [runId, length] of [
      ['large', 110_000],
      ['small', 10],
    ] as const) {
      await store.startRun(runId, { flowId: 'f' })
      store.recordTurn(runId, { role: 'assistant', content: 'x'.repeat(length) })
      await store.endRun(runId)
      const { entries } = await store.load(runId)
      expect(entries.map(({ blocks }) => textOf(blocks))).toEqual(['x'.repeat(length)])
    }
    expect(fs.readdirSync(pathOf('large', '')).sort()).toEqual(['metadata.json', 'transcript.json.gz'])
    expect(fs.readdirSync(pathOf('small', '')).sort()).toEqual(['metadata.json', 'transcript.json'])
    const unpacked = gunzipSync(fs.readFileSync(pathOf('large', 'transcript.json.gz'))).toString('utf8')
    expect(unpacked).toBe(JSON.stringify(JSON.parse(unpacked), null, 2))
  })
})

describe('ADR-011 §5', () => {
  it.each([
    [{ flow: 'ticket-to-pr', identifier: 'TK-421' }, '2025-01-15-ticket-to-pr-TK421'],
    [{ flow: 'review-pr', identifier: '123' }, '2025-01-15-review-pr-123'],
    [{ flow: 'manual-run', identifier: '001' }, '2025-01-15-manual-run-001'],
    [{ flow: 'review-pr', identifier: '123', suffix: 'retry-2' }, '2025-01-15-review-pr-123-retry-2'],
  ])('a run of %j has the id %s', async (about, runId) => {
    expect(devflowRunId({ date: '2025-01-15', ...about })).toBe(runId)
    const session = await record({
      ...about,
      home: join(folder, 'home'),
      cwd: folder,
      formats: ['devflow'],
      now: () => START,
    })
    expect(JSON.parse(fs.readFileSync(pathOf(runId, 'metadata.json'), 'utf8'))).toMatchObject({
      runId,
      flowId: about.flow,
      status: 'running',
    })
    await session.end()
    expect(store.list().runs.map((run) => run.runId)).toEqual([runId])
  })

  it('a run’s day is taken by the offset of its time', async () => {
    const startedAt = '2025-01-15T23:00:00-05:00'
    expect(devflowRunId({ date: startedAt, flow: 'f', identifier: 'x' })).toBe('2025-01-15-f-x')
    const session = await record({
      flow: 'f',
      identifier: 'x',
      startedAt,
      home: join(folder, 'home'),
      cwd: folder,
      formats: ['devflow', 'entire'],
    })
    await session.end()
    expect(session.session()).toMatchObject({
      startedAt: '2025-01-16T04:00:00.000Z',
      run: { id: '2025-01-15-f-x' },
      names: { devflow: '2025-01-15-f-x', entire: expect.stringMatching(/^2025-01-16-/) },
    })
  })

  it('an id needs something that may stand in a name, and never leads elsewhere', () => {
    const made = (flow: string, identifier: string): string =>
      devflowRunId({ date: '2025-01-15', flow, identifier })
    expect(made('../../etc', 'a/b')).toBe('2025-01-15-etc-ab')
    for (const [flow, identifier] of [
      ['', 'x'],
      ['f', '???'],
    ] as const)
      expect(() => made(flow, identifier)).toThrow(expect.objectContaining({ code: 'invalid-argument' }))
    expect(() => devflowRunId({ date: 'today', flow: 'f', identifier: 'x' })).toThrow(/date/)
  })

  it.each(['run-2025-01-15-001', 'run-001', '2025-01-15-ticket-to-pr-1f0c9a3e'])(
    'other safe ids are taken too: %s',
    async (runId) => {
      await store.startRun(runId, { flowId: 'f' })
      await store.endRun(runId)
      expect((await store.load(runId)).session.names).toEqual({ devflow: runId })
    },
  )
})

describe('the code example of ADR-011', () => {
  const RUN = '2025-01-15-ticket-to-pr-TK421'

  it('NewTranscript, AddTurn, AddToolCall, Complete and Save give the document it describes', async () => {
    await store.startRun(RUN, { flowId: 'ticket-to-pr' })
    expect(store.recordTurn(RUN, { role: 'system', content: 'system prompt', tokensIn: 500 })).toBe(1)
    expect(store.recordTurn(RUN, { role: 'user', content: 'user prompt', tokensIn: 1200 })).toBe(2)
    expect(store.recordTurn(RUN, { role: 'assistant', content: 'output', tokensOut: 800 })).toBe(3)
    store.recordToolCall(RUN, { name: 'read_file', input: { path: 'a.go' }, output: 'package a' })
    await store.endRun(RUN)
    const text = fs.readFileSync(pathOf(RUN, 'transcript.json'), 'utf8')
    const { metadata, turns } = JSON.parse(text)
    expect(metadata).toMatchObject({
      flowId: 'ticket-to-pr',
      startedAt: '2025-01-15T10:30:00Z',
      endedAt: '2025-01-15T10:30:00Z',
      status: 'completed',
      totalTokensIn: 1700,
      totalTokensOut: 800,
    })
    expect(turns).toMatchObject([
      { id: 1, role: 'system', tokensIn: 500, timestamp: '2025-01-15T10:30:00Z' },
      { id: 2, role: 'user', tokensIn: 1200 },
      { id: 3, role: 'assistant', tokensOut: 800, toolCalls: [{ name: 'read_file', output: 'package a' }] },
    ])
    expect(text).toBe(JSON.stringify({ runId: RUN, metadata, turns }, null, 2))
  })

  it('AddToolCall: assistant() and then toolCall() are one turn, live and from the journal', async () => {
    const home = join(folder, 'home')
    const live = await record({ runId: RUN, flow: 'f', home, cwd: folder, formats: ['devflow'] })
    live.user('Generate a spec')
    live.assistant('# Spec', { usage: { output: 2500 } })
    for (const name of ['read_file', 'write_file'])
      live.toolResult({ callId: live.toolCall({ name, input: { path: 'a.go' } }), output: 'done' })
    const helper = live.subagent('a')
    helper.toolCall({ name: 'alone' })
    live.toolCall({ name: 'counted', usage: { output: 7 } })
    await live.end()
    const { turns, metadata } = JSON.parse(fs.readFileSync(pathOf(RUN, 'transcript.json'), 'utf8'))
    expect(metadata).toMatchObject({ totalTokensOut: 2507, turnCount: 4 })
    expect(turns).toMatchObject([
      { id: 1, role: 'user' },
      {
        id: 2,
        role: 'assistant',
        content: '# Spec',
        tokensOut: 2500,
        toolCalls: [
          { name: 'read_file', input: { path: 'a.go' }, output: 'done' },
          { name: 'write_file', output: 'done' },
        ],
      },
      { id: 3, source: 'subagent:a', content: '', toolCalls: [{ name: 'alone' }] },
      { id: 4, tokensOut: 7, content: '', toolCalls: [{ name: 'counted' }] },
    ])
    const [recorded] = (await readTranscripts(readSession(openArchive(home), live.id))).transcripts
    const { files } = writeTranscript(devflow, recorded as Transcript)
    expect(JSON.parse(files.get(`runs/${RUN}/transcript.json`)?.toString('utf8') ?? '')).toMatchObject({
      turns,
    })
  })

  it('Save leaves a whole document or none, wherever the disk gives up', () => {
    const session: Session = {
      id: 's',
      names: { devflow: RUN },
      run: { flow: 'ticket-to-pr' },
      startedAt: '2025-01-15T10:30:00.000Z',
      status: 'running',
    }
    const entry: Entry = {
      id: 'e',
      source: 'primary',
      sequence: 0,
      kind: 'message',
      role: 'user',
      blocks: [{ type: 'text', text: 'x'.repeat(5000) }],
    }
    const saveUntil = (at: number) => {
      const disk = createDisk()
      const faulty = withFault(disk, { at, kind: 'crash', sticky: true })
      try {
        const out = createCarryOut({ root: '/w/.devflow', way: 'live', files: faulty.files })
        const writing = (devflow.write as Writer).begin(session, {
          taken: (path) => out.taken(path),
          lost: () => {},
          filled: () => {},
          version: 'test',
        })
        out.run(writing.start())
        out.run(writing.entry(entry))
        out.run(writing.end({ ...session, status: 'completed' }))
      } catch (error) {
        expect(String(error)).toContain('EIO')
      }
      return { calls: faulty.calls(), files: disk.now() }
    }
    const whole = saveUntil(Number.POSITIVE_INFINITY)
    const place = `/w/.devflow/runs/${RUN}`
    expect(whole.files.has(`${place}/transcript.json`)).toBe(true)
    const seen = new Set<string>()
    for (let at = 1; at <= whole.calls; at += 1) {
      const { files } = saveUntil(at)
      for (const name of ['metadata.json', 'transcript.json']) {
        const bytes = files.get(`${place}/${name}`)
        seen.add(`${name} ${bytes === undefined ? 'absent' : 'whole'}`)
        if (bytes !== undefined) expect(() => JSON.parse(bytes.toString('utf8')), `call ${at}`).not.toThrow()
      }
    }
    expect([...seen].sort()).toEqual([
      'metadata.json absent',
      'metadata.json whole',
      'transcript.json absent',
      'transcript.json whole',
    ])
  })
})
