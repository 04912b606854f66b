import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import { devflowCanHold } from '../../test/devflow-can-hold.ts'
import { at, entry, readOne, text } from '../../test/devflow-run.ts'
import { files, memorySource, readAll, writeTranscript, type MemoryFiles } from '../../test/memory-files.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { devflow } from './devflow.ts'

describe('writing', () => {
  it('holds what it says it can hold of any transcript, live and after the fact', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, fc.boolean(), async (any, live) => {
        const { files } = writeTranscript(devflow, any, { live })
        const [read, ...others] = await readAll(devflow, memorySource(files))
        expect(others).toEqual([])
        expect(read && { ...read, entries: read.entries.map(withoutOrigin) }).toEqual(devflowCanHold(any))
      }),
      { numRuns: 300 },
    )
  })

  it('writes what it reads to the same bytes', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, async (any) => {
        const { files: once } = writeTranscript(devflow, any)
        const read = await readOne(memorySource(once))
        const { files: twice, lost } = writeTranscript(devflow, read)
        expect(asTexts(twice)).toEqual(asTexts(once))
        expect(lost).toEqual([])
      }),
      { numRuns: 200 },
    )
  })

  it('reports a loss for every entry that does not read back as it was', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, async (any) => {
        const { lost } = writeTranscript(devflow, any)
        const unheld = any.entries.filter(({ blocks }) =>
          blocks.some(
            ({ type }) => type === 'thinking' || type === 'image' || type === 'error' || type === 'unknown',
          ),
        )
        for (const { id } of unheld)
          expect(lost.some((note) => note.entry === id && note.what !== 'entry id')).toBe(true)
      }),
      { numRuns: 100 },
    )
  })

  it('has no turn for an error that nobody said, and reports it', () => {
    const session: Session = { id: 's', run: { flow: 'f' }, status: 'failed', error: 'the run failed' }
    const said = { source: 'primary', kind: 'message' } as const
    const entries: Entry[] = [
      { ...said, id: 'a', sequence: 0, role: 'user', blocks: [{ type: 'text', text: 'go' }] },
      { ...said, id: 'b', sequence: 1, blocks: [{ type: 'error', message: 'overloaded' }] },
    ]
    const { files, lost } = writeTranscript(devflow, { session, entries })
    const [, text = ''] = [...files].find(([path]) => path.endsWith('transcript.json')) ?? []
    const { turns, metadata } = JSON.parse(text.toString()) as { turns: object[]; metadata: object }
    expect(turns).toMatchObject([{ id: 1, role: 'user', content: 'go' }])
    expect(metadata).toMatchObject({ status: 'failed', error: 'the run failed' })
    expect(lost).toContainEqual({ entry: 'b', what: 'the whole entry: an error, which nobody said' })
  })

  it('has metadata.json from the start, and the transcript only at the end', () => {
    const session: Session = {
      id: 's',
      names: { devflow: 'r' },
      run: { flow: 'f' },
      startedAt: '2025-01-15T10:30:00.000Z',
      status: 'running',
    }
    const writing = devflow.write?.begin(session, quiet())
    const [first, ...others] = writing?.start() ?? []
    expect(others).toEqual([])
    expect(first).toMatchObject({ op: 'write', path: 'runs/r/metadata.json' })
    expect(JSON.parse(String(first && 'content' in first && first.content))).toEqual({
      runId: 'r',
      flowId: 'f',
      startedAt: '2025-01-15T10:30:00Z',
      status: 'running',
      totalTokensIn: 0,
      totalTokensOut: 0,
      totalCost: 0,
      turnCount: 0,
    })
    expect(writing?.entry(entry(0, { role: 'user', blocks: [] }))).toEqual([])
    expect(writing?.end(session).map((operation) => operation.op)).toEqual([
      'write',
      'remove',
      'write',
      'update',
    ])
  })

  it('compresses from exactly 102,400 bytes of the pretty-printed document on', () => {
    const sized = (bytes: number): MemoryFiles => {
      const make = (length: number): MemoryFiles =>
        writeTranscript(devflow, {
          session: plainSession(),
          entries: [
            entry(0, {
              role: 'user',
              blocks: [{ type: 'text', text: 'é'.repeat(100) + 'x'.repeat(length) }],
            }),
          ],
        }).files
      const base = make(0).get('runs/r/transcript.json')?.length ?? 0
      return make(bytes - base)
    }
    const below = sized(102_399)
    expect(below.get('runs/r/transcript.json')).toHaveLength(102_399)
    expect(below.has('runs/r/transcript.json.gz')).toBe(false)
    const from = sized(102_400)
    expect(from.has('runs/r/transcript.json')).toBe(false)
    expect(gunzipSync(from.get('runs/r/transcript.json.gz') as Buffer)).toHaveLength(102_400)
  })

  it('gives a failed tool its output as the error, and one that said nothing a reason', () => {
    const calls = ['a', 'b', 'c'].map((callId) => ({
      type: 'tool-call' as const,
      callId,
      name: 't',
      input: {},
    }))
    const entries = [
      entry(0, { role: 'assistant', blocks: calls }),
      entry(1, {
        role: 'tool',
        blocks: [{ type: 'tool-result', callId: 'a', output: 'boom', isError: true }],
      }),
      entry(2, { role: 'tool', blocks: [{ type: 'tool-result', callId: 'b', isError: true }] }),
      entry(3, { role: 'tool', blocks: [{ type: 'tool-result', callId: 'c' }] }),
    ]
    const { files, filled } = writeTranscript(devflow, { session: plainSession(), entries })
    expect(at(JSON.parse(text(files, 'runs/r/transcript.json')), 'turns.0.toolCalls')).toEqual([
      { id: 'a', name: 't', input: {}, error: 'boom' },
      { id: 'b', name: 't', input: {}, error: 'the tool failed' },
      { id: 'c', name: 't', input: {}, output: '' },
    ])
    expect(filled).toContainEqual({ entry: 'e2', what: 'toolCalls.error' })
    expect(filled).toContainEqual({ entry: 'e3', what: 'toolCalls.output' })
  })

  it('gives a Go reader an object as every tool input', () => {
    const blocks = [
      { type: 'tool-call' as const, name: 'a', input: 'not JSON' },
      { type: 'tool-call' as const, name: 'b' },
    ]
    const { files, lost, filled } = writeTranscript(devflow, {
      session: plainSession(),
      entries: [entry(0, { role: 'assistant', blocks })],
    })
    expect(at(JSON.parse(text(files, 'runs/r/transcript.json')), 'turns.0.toolCalls')).toEqual([
      { name: 'a', input: { value: 'not JSON' } },
      { name: 'b', input: {} },
    ])
    expect(lost).toContainEqual({ entry: 'e0', what: 'entry id, that a tool input is no object' })
    expect(filled).toContainEqual({ entry: 'e0', what: 'toolCalls.input' })
  })

  it('makes a result that answers nothing a tool_result turn, and says so when a result moved', () => {
    const entries = [
      entry(0, { role: 'tool', blocks: [{ type: 'tool-result', callId: 'gone', output: 'late' }] }),
      entry(1, { role: 'assistant', blocks: [{ type: 'tool-call', callId: 'c', name: 't', input: {} }] }),
      entry(2, { role: 'user', blocks: [{ type: 'text', text: 'well?' }] }),
      entry(3, { role: 'tool', blocks: [{ type: 'tool-result', callId: 'c', output: 'here' }] }),
    ]
    const { files, lost } = writeTranscript(devflow, { session: plainSession(), entries })
    const { turns } = JSON.parse(text(files, 'runs/r/transcript.json'))
    expect(turns.map((turn: { role: string; content: string }) => [turn.role, turn.content])).toEqual([
      ['tool_result', 'late'],
      ['assistant', ''],
      ['user', 'well?'],
    ])
    expect(lost).toContainEqual({ entry: 'e3', what: 'its place in the order' })
    expect(lost).toContainEqual({ entry: 'e0', what: 'which call a result answers' })
  })

  it('says when results of one turn came in another order than their calls, and that ids of other formats go', () => {
    const calls = ['a', 'b'].map((callId) => ({ type: 'tool-call' as const, callId, name: 't', input: {} }))
    const result = (sequence: number, callId: string): Entry =>
      entry(sequence, { role: 'tool', blocks: [{ type: 'tool-result', callId, output: callId }] })
    const entries = [entry(0, { role: 'assistant', blocks: calls }), result(1, 'b'), result(2, 'a')]
    const { lost } = writeTranscript(devflow, { session: plainSession(), entries })
    expect(lost).toEqual([
      { entry: 'e0', what: 'entry id' },
      { entry: 'e1', what: 'entry id' },
      { entry: 'e2', what: 'its place in the order' },
      { entry: 'e2', what: 'entry id' },
      { entry: undefined, what: 'session id' },
    ])
  })

  it('writes the entries of one provider message as one turn, with its last usage', () => {
    const call = { messageId: 'm1' }
    const usage = (output: number) => ({ input: 10, output, quality: 'reported' as const })
    const entries = [
      entry(0, { role: 'assistant', blocks: [{ type: 'text', text: 'a' }], call, usage: usage(1) }),
      entry(1, {
        role: 'assistant',
        blocks: [{ type: 'tool-call', callId: 'c', name: 't', input: {} }],
        call,
        usage: usage(9),
      }),
      entry(2, { role: 'tool', blocks: [{ type: 'tool-result', callId: 'c', output: 'x' }] }),
      entry(3, { role: 'assistant', blocks: [{ type: 'text', text: 'b' }], call: { messageId: 'm2' } }),
    ]
    const { files, lost } = writeTranscript(devflow, { session: plainSession(), entries })
    const { metadata, turns } = JSON.parse(text(files, 'runs/r/transcript.json'))
    expect(metadata).toMatchObject({ totalTokensIn: 10, totalTokensOut: 9, turnCount: 2 })
    expect(turns).toMatchObject([
      { id: 1, content: 'a', tokensIn: 10, tokensOut: 9, toolCalls: [{ id: 'c', output: 'x' }] },
      { id: 2, content: 'b' },
    ])
    expect(lost).toContainEqual({ entry: 'e1', what: 'that it is an entry of its own' })
  })

  it('counts a call that only its request names once, on the turn of its last report', () => {
    const usage = (output: number) => ({ input: 10, output, quality: 'reported' as const })
    const entries = [1, 9].map((output, index) =>
      entry(index, {
        role: 'assistant',
        blocks: [{ type: 'text', text: 'a' }],
        call: { requestId: 'q' },
        usage: usage(output),
      }),
    )
    const { files } = writeTranscript(devflow, { session: plainSession(), entries })
    const { metadata, turns } = JSON.parse(text(files, 'runs/r/transcript.json'))
    expect(metadata).toMatchObject({ totalTokensIn: 10, totalTokensOut: 9 })
    expect(turns[0]).not.toHaveProperty('tokensIn')
    expect(turns[1]).toMatchObject({ tokensIn: 10, tokensOut: 9 })
  })

  it('keeps the counts that the last report of a call does not state', () => {
    const reports = [{ input: 10, cacheRead: 5 }, { output: 9 }]
    const entries = reports.map((counts, index) =>
      entry(index, {
        role: 'assistant',
        blocks: [{ type: 'text', text: 'a' }],
        call: { requestId: 'q' },
        usage: { ...counts, quality: 'reported' },
      }),
    )
    const { files } = writeTranscript(devflow, { session: plainSession(), entries })
    const { metadata, turns } = JSON.parse(text(files, 'runs/r/transcript.json'))
    expect(metadata).toMatchObject({ totalTokensIn: 15, totalTokensOut: 9 })
    expect(turns[0]).not.toHaveProperty('tokensIn')
    expect(turns[1]).toMatchObject({ tokensIn: 15, tokensOut: 9 })
  })

  it('calls an interrupted run failed, with a reason', () => {
    const { files, lost, filled } = writeTranscript(devflow, {
      session: { ...plainSession(), status: 'interrupted' },
      entries: [],
    })
    expect(JSON.parse(text(files, 'runs/r/metadata.json'))).toMatchObject({
      status: 'failed',
      error: 'interrupted before it ended',
    })
    expect(lost).toContainEqual({ entry: undefined, what: 'status interrupted' })
    expect(filled).toContainEqual({ entry: undefined, what: 'error' })
  })

  it('removes the other variant of the transcript', () => {
    const writing = devflow.write?.begin(plainSession(), quiet())
    expect(writing?.end(plainSession())).toContainEqual({ op: 'remove', path: 'runs/r/transcript.json.gz' })
  })

  it('keeps the index of runs, and begins again one that cannot be read', () => {
    const old = {
      runs: [
        { runId: 'a', extra: 1 },
        { runId: 'r', status: 'running' },
      ],
      lastUpdated: '2024-01-01T00:00:00Z',
      v: 2,
    }
    const index = (before: string): unknown =>
      JSON.parse(
        text(
          writeTranscript(
            devflow,
            { session: plainSession(), entries: [] },
            { files: files({ 'runs/index.json': before }) },
          ).files,
          'runs/index.json',
        ),
      )
    const own = { runId: 'r', flowId: 'f', status: 'completed', startedAt: '2025-01-15T10:30:00Z' }
    const lastUpdated = '2025-01-15T10:31:00Z'
    expect(index(JSON.stringify(old))).toEqual({ runs: [{ runId: 'a', extra: 1 }, own], lastUpdated, v: 2 })
    for (const bad of ['', '{"runs":[{"ru', '[]', '{"runs":7}'])
      expect(index(bad)).toEqual({ runs: [own], lastUpdated })
  })
})

describe('run ids', () => {
  it('refuses a run that exists', () => {
    for (const name of ['metadata.json', 'transcript.json', 'transcript.json.gz']) {
      const before = files({ [`runs/r/${name}`]: '{}' })
      expect(() =>
        writeTranscript(devflow, { session: plainSession(), entries: [] }, { files: before }),
      ).toThrow(expect.objectContaining({ code: 'run-already-exists' }))
    }
  })

  it.each(['..', '../x', 'a/b', 'a\0b', '', '.hidden', 'x'.repeat(300)])(
    'refuses the name %j',
    (devflowName) => {
      const session = { ...plainSession(), names: { devflow: devflowName } }
      expect(() => writeTranscript(devflow, { session, entries: [] })).toThrow(
        expect.objectContaining({ code: 'invalid-id' }),
      )
    },
  )

  it('names a run after its run, its step, or its date, flow and session', () => {
    const named = (facts: Partial<Session>): string | undefined => {
      const { names: _, ...session } = plainSession()
      return [
        ...writeTranscript(devflow, { session: { ...session, ...facts }, entries: [] }).files.keys(),
      ].find((path) => path.endsWith('metadata.json'))
    }
    expect(named({ run: { id: 'run-001' } })).toBe('runs/run-001/metadata.json')
    expect(named({ run: { id: 'run-001', step: 'build' } })).toBe('runs/run-001-build/metadata.json')
    expect(named({ run: { id: '../../etc', flow: 'review pr' } })).toMatch(
      /^runs\/2025-01-15-reviewpr-[0-9a-f]{8}\/metadata.json$/,
    )
    expect(named({})).toBe(named({}))
  })
})

function plainSession(): Session {
  return {
    id: 's',
    names: { devflow: 'r' },
    run: { flow: 'f' },
    startedAt: '2025-01-15T10:30:00.000Z',
    endedAt: '2025-01-15T10:31:00.000Z',
    status: 'completed',
  }
}

function quiet() {
  return { taken: () => false, lost: () => undefined, filled: () => undefined, version: 'hansard/test' }
}

function asTexts(files: MemoryFiles): Record<string, string> {
  return Object.fromEntries([...files].map(([path, bytes]) => [path, bytes.toString('latin1')]))
}

function withoutOrigin(read: Entry): Entry {
  const { origin: _, ...entry } = read
  return entry
}
