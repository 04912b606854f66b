import { describe, expect, it } from 'vitest'
import { at, entry, readOne, text } from '../../test/devflow-run.ts'
import { files, memoryFileSource, memorySource, writeTranscript } from '../../test/memory-files.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { devflow } from './devflow.ts'

/** The document of ADR-011 §1, value for value. */
const EXAMPLE = {
  runId: '2025-01-15-ticket-to-pr-TK421',
  metadata: {
    flowId: 'ticket-to-pr',
    nodeId: 'generate-spec',
    input: { ticketId: 'TK-421' },
    startedAt: '2025-01-15T10:30:00Z',
    endedAt: '2025-01-15T10:45:32Z',
    status: 'completed',
    totalTokensIn: 5200,
    totalTokensOut: 8400,
    totalCost: 0.12,
  },
  turns: [
    {
      id: 1,
      role: 'system',
      content: 'You are an expert software architect...',
      timestamp: '2025-01-15T10:30:00Z',
    },
    {
      id: 2,
      role: 'user',
      content: 'Generate a spec for TK-421...',
      tokensIn: 1500,
      timestamp: '2025-01-15T10:30:01Z',
    },
    {
      id: 3,
      role: 'assistant',
      content: '# Technical Specification...',
      tokensOut: 2500,
      timestamp: '2025-01-15T10:30:45Z',
      toolCalls: [{ name: 'read_file', input: { path: 'api/handler.go' }, output: 'package api...' }],
    },
  ],
}

const RUN = `runs/${EXAMPLE.runId}`

describe('ADR-011: the document', () => {
  it('reads the example: facts, stated totals, roles, tokens, and the nested call as call and result', async () => {
    const { session, entries, damage } = await readDocument(EXAMPLE)
    expect(damage).toEqual([])
    expect(session).toMatchObject({
      names: { devflow: '2025-01-15-ticket-to-pr-TK421' },
      run: { id: '2025-01-15-ticket-to-pr-TK421', flow: 'ticket-to-pr', node: 'generate-spec' },
      input: { ticketId: 'TK-421' },
      startedAt: '2025-01-15T10:30:00.000Z',
      endedAt: '2025-01-15T10:45:32.000Z',
      status: 'completed',
      reportedUsage: { input: 5200, output: 8400, quality: 'estimated' },
      reportedCost: '0.12',
    })
    expect(session.totals).toBeUndefined()
    expect(entries.map(({ id, role, blocks }) => [id, role, blocks])).toEqual([
      ['1', 'system', [{ type: 'text', text: 'You are an expert software architect...' }]],
      ['2', 'user', [{ type: 'text', text: 'Generate a spec for TK-421...' }]],
      [
        '3',
        'assistant',
        [
          { type: 'text', text: '# Technical Specification...' },
          { type: 'tool-call', name: 'read_file', input: { path: 'api/handler.go' } },
        ],
      ],
      ['3/1', 'tool', [{ type: 'tool-result', name: 'read_file', output: 'package api...' }]],
    ])
    expect(entries.map(({ usage }) => usage)).toEqual([
      undefined,
      { input: 1500, quality: 'estimated' },
      { output: 2500, quality: 'reported' },
      undefined,
    ])
  })

  it('writes the example back to the same values, in the same order', async () => {
    const { files, lost, filled } = writeTranscript(devflow, await readDocument(EXAMPLE))
    expect(text(files, `${RUN}/transcript.json`)).toBe(JSON.stringify(EXAMPLE, null, 2))
    expect({ lost, filled }).toEqual({ lost: [], filled: [] })
  })

  it('says where each entry stands in the file', async () => {
    const bytes = Buffer.from(JSON.stringify(EXAMPLE, null, 2))
    const { entries } = await readOne(memoryFileSource('transcript.json', bytes))
    for (const [index, { origin }] of entries.entries()) {
      const turn = Math.min(index, 2)
      expect(origin).toMatchObject({ format: 'devflow', file: 'transcript.json', record: turn + 1 })
      const { byteOffset = 0, byteLength = 0 } = origin ?? {}
      expect(JSON.parse(bytes.toString('utf8', byteOffset, byteOffset + byteLength))).toEqual(
        EXAMPLE.turns[turn],
      )
    }
  })
})

describe('ADR-011 §2: every field of the type definitions', () => {
  const session: Session = {
    id: 's',
    names: { devflow: 'r' },
    run: { flow: 'f', node: 'n' },
    input: { a: [1, null] },
    startedAt: '2025-01-15T10:30:00.123456Z',
    endedAt: '2025-01-15T10:31:00.000Z',
    status: 'failed',
    error: 'out of tokens',
    reportedUsage: { input: 1, output: 2, quality: 'reported' },
    reportedCost: '0.0000001',
  }
  const entries: Entry[] = [
    entry(0, {
      role: 'assistant',
      at: '2025-01-15T10:30:01.000Z',
      durationMs: 1200,
      blocks: [
        { type: 'text', text: 'hi' },
        { type: 'tool-call', callId: 'c1', name: 'Bash', input: { command: 'ls' } },
        { type: 'tool-call', callId: 'c2', name: 'Bash', input: {} },
      ],
      usage: { input: 3, cacheRead: 4, cacheWrite5m: 5, output: 6, quality: 'reported' },
    }),
    entry(1, { role: 'tool', blocks: [{ type: 'tool-result', callId: 'c1', output: 'a.txt' }] }),
    entry(2, {
      role: 'tool',
      blocks: [{ type: 'tool-result', callId: 'c2', output: 'part', error: 'exit 1', isError: true }],
    }),
  ]
  const { files: written } = writeTranscript(devflow, { session, entries })
  const document = JSON.parse(text(written, 'runs/r/transcript.json'))

  it.each([
    ['Transcript.RunID', 'runId', 'r'],
    ['Transcript.Metadata.FlowID', 'metadata.flowId', 'f'],
    ['Transcript.Metadata.NodeID', 'metadata.nodeId', 'n'],
    ['Transcript.Metadata.Input', 'metadata.input', { a: [1, null] }],
    ['Transcript.Metadata.StartedAt', 'metadata.startedAt', '2025-01-15T10:30:00.123456Z'],
    ['Transcript.Metadata.EndedAt', 'metadata.endedAt', '2025-01-15T10:31:00Z'],
    ['Transcript.Metadata.Status', 'metadata.status', 'failed'],
    ['Transcript.Metadata.TotalTokensIn', 'metadata.totalTokensIn', 1],
    ['Transcript.Metadata.TotalTokensOut', 'metadata.totalTokensOut', 2],
    ['Transcript.Metadata.TotalCost', 'metadata.totalCost', 1e-7],
    ['Transcript.Metadata.Error', 'metadata.error', 'out of tokens'],
    ['Turn.ID', 'turns.0.id', 1],
    ['Turn.Role', 'turns.0.role', 'assistant'],
    ['Turn.Content', 'turns.0.content', 'hi'],
    ['Turn.TokensIn, cache included', 'turns.0.tokensIn', 12],
    ['Turn.TokensOut', 'turns.0.tokensOut', 6],
    ['Turn.Timestamp', 'turns.0.timestamp', '2025-01-15T10:30:01Z'],
    ['Turn.Duration', 'turns.0.durationMs', 1200],
    ['ToolCall.ID', 'turns.0.toolCalls.0.id', 'c1'],
    ['ToolCall.Name', 'turns.0.toolCalls.0.name', 'Bash'],
    ['ToolCall.Input', 'turns.0.toolCalls.0.input', { command: 'ls' }],
    ['ToolCall.Output', 'turns.0.toolCalls.0.output', 'a.txt'],
    ['ToolCall.Output beside an error', 'turns.0.toolCalls.1.output', 'part'],
    ['ToolCall.Error', 'turns.0.toolCalls.1.error', 'exit 1'],
  ])('%s is %s', (_, path, value) => {
    expect(at(document, path)).toEqual(value)
  })

  it.each(['completed', 'failed', 'canceled', 'running'] as const)(
    'RunStatus %s is written and read',
    async (status) => {
      const { files } = writeTranscript(devflow, { session: { ...session, status }, entries })
      expect((await readOne(memorySource(files))).session.status).toBe(status)
    },
  )

  it('ADR-011 §3: system, user, assistant and tool_result are read, and `tool` too', async () => {
    const roles = ['system', 'user', 'assistant', 'tool_result', 'tool', 'developer']
    const turns = roles.map((role, index) => ({
      id: index + 1,
      role,
      content: role,
      timestamp: '2025-01-15T10:30:00Z',
    }))
    const document = { ...EXAMPLE, turns }
    const read = await readDocument(document)
    expect(read.entries.map((entry) => entry.role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'tool',
      undefined,
    ])
    const { files } = writeTranscript(devflow, read)
    expect(JSON.parse(text(files, `${RUN}/transcript.json`))).toEqual(document)
  })

  it('leaves out endedAt while running, as `omitempty` was meant to', () => {
    const { endedAt: _, ...running } = session
    const { files } = writeTranscript(devflow, { session: { ...running, status: 'running' }, entries })
    expect(text(files, 'runs/r/metadata.json')).not.toContain('endedAt')
  })
})

describe('what Go cannot leave out', () => {
  it('reads the zero time, empty texts and zero totals as absent, and writes them back', async () => {
    const metadata = {
      flowId: '',
      startedAt: '0001-01-01T00:00:00Z',
      status: 'running',
      totalTokensIn: 0,
      totalTokensOut: 0,
      totalCost: 0,
    }
    const turns = [{ id: 1, role: 'user', content: '', timestamp: '0001-01-01T00:00:00Z' }]
    const read = await readDocument({
      runId: 'r',
      metadata: { ...metadata, endedAt: '0001-01-01T00:00:00Z' },
      turns,
    })
    const { id: _, ...session } = read.session
    expect(session).toEqual({
      names: { devflow: 'r' },
      run: { id: 'r' },
      status: 'running',
      metadata: { devflow: { bare: true } },
    })
    expect(read.entries).toMatchObject([{ id: '1', role: 'user', blocks: [] }])
    expect(read.entries[0]).not.toHaveProperty('at')
    const { files, filled } = writeTranscript(devflow, read)
    expect(JSON.parse(text(files, 'runs/r/transcript.json'))).toEqual({ runId: 'r', metadata, turns })
    expect(filled.map(({ entry, what }) => `${entry ?? ''} ${what}`)).toEqual([
      ' flowId',
      ' startedAt',
      ' totalTokensIn',
      ' totalTokensOut',
      ' totalCost',
      '1 timestamp',
    ])
  })

  it('keeps a count of 0 on a turn apart from an unknown one', async () => {
    const turns = [{ id: 1, role: 'assistant', content: 'x', tokensIn: 0, timestamp: '2025-01-15T10:30:00Z' }]
    const { entries } = await readDocument({ ...EXAMPLE, turns })
    expect(entries[0]?.usage).toEqual({ input: 0, quality: 'estimated' })
  })

  it.each([
    [0.1 + 0.2, '0.3'],
    [1e-7, '0.0000001'],
    [1e21, '1000000000000000000000'],
    [12.5, '12.5'],
    [120, '120'],
  ])('reads a cost of %d as the decimal %s', async (totalCost, decimal) => {
    const { session } = await readDocument({ ...EXAMPLE, metadata: { ...EXAMPLE.metadata, totalCost } })
    expect(session.reportedCost).toBe(decimal)
  })

  it('never recomputes stated totals, though the turns add up to something else', async () => {
    const read = await readDocument(EXAMPLE)
    const { files } = writeTranscript(devflow, read)
    expect(JSON.parse(text(files, `${RUN}/transcript.json`)).metadata).toMatchObject({
      totalTokensIn: 5200,
      totalTokensOut: 8400,
      totalCost: 0.12,
    })
  })
})

describe('what devflow did not think of', () => {
  it('keeps unknown fields at every level and puts them back', async () => {
    const document = {
      runId: 'r',
      metadata: { ...EXAMPLE.metadata, ticket: { key: 'TK-421' } },
      turns: [
        { id: 7, role: 'user', content: 'x', timestamp: 'yesterday', mood: 'good' },
        {
          id: 7,
          role: 'assistant',
          content: 'y',
          timestamp: '2025-01-15T10:30:00Z',
          tokensOut: -1,
          toolCalls: [{ name: 'a', input: {}, output: { no: 'text' }, retries: 2 }, 42, { id: 'nameless' }],
        },
        { id: 3, role: 'assistant', content: 'z', timestamp: '2025-01-15T10:30:00Z', toolCalls: 'none' },
      ],
      schema: 'v9',
    }
    const read = await readDocument(document)
    expect(read.damage).toEqual([])
    expect(new Set(read.entries.map(({ id }) => id)).size).toBe(read.entries.length)
    const { files } = writeTranscript(devflow, read)
    expect(JSON.parse(text(files, 'runs/r/transcript.json'))).toEqual(document)
  })

  it('keeps what only metadata.json says', async () => {
    const metadata = { runId: 'r', ...EXAMPLE.metadata, turnCount: 3, host: 'build-7' }
    const source = memorySource(
      files({
        'r/metadata.json': JSON.stringify(metadata),
        'r/transcript.json': JSON.stringify({ ...EXAMPLE, runId: 'r' }),
      }),
    )
    const { files: written } = writeTranscript(devflow, await readOne(source))
    expect(JSON.parse(text(written, 'runs/r/metadata.json'))).toEqual(metadata)
  })

  it('is not fooled by keys of the language', async () => {
    const hostile = `{"runId":"r","__proto__":{"polluted":1},"metadata":{"flowId":"f","__proto__":{"polluted":1}},
      "turns":[{"id":1,"role":"user","content":"x","__proto__":{"polluted":1},"constructor":1}]}`
    const { entries, session } = await readOne(memoryFileSource('t.json', hostile))
    expect(entries).toHaveLength(1)
    expect(session.run?.flow).toBe('f')
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
})

async function readDocument(document: unknown): Promise<Transcript> {
  return readOne(memoryFileSource('transcript.json', JSON.stringify(document)))
}
