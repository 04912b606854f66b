/** OpenCode's exports, and every way we know to miscount them. */
import type { JsonObject } from '../../src/transcript/json.ts'
import { asString } from '../../src/transcript/json.ts'
import { numberAt, objectsIn, total, type Tally, type TortureCase } from './case.ts'

const ms = (second: number): number => Date.UTC(2026, 4, 20, 9, 0, second)
type OpenCounts = {
  readonly total?: number
  readonly input: number
  readonly output: number
  readonly reasoning: number
  readonly read: number
  readonly write: number
}
const openTokens = ({ total: all, input, output, reasoning, read, write }: OpenCounts): JsonObject => ({
  ...(all !== undefined && { total: all }),
  input,
  output,
  reasoning,
  cache: { read, write },
})
const openAnswer = (n: number, counts: OpenCounts, ...parts: readonly JsonObject[]): JsonObject => ({
  info: {
    id: `msg_${n}`,
    sessionID: 'ses_1',
    role: 'assistant',
    time: { created: ms(n), completed: ms(n + 1) },
    parentID: 'msg_0',
    modelID: 'claude-opus-4-5',
    providerID: 'anthropic',
    mode: 'build',
    path: { cwd: '/project', root: '/project' },
    cost: 0.01,
    tokens: openTokens(counts),
    finish: 'stop',
  },
  parts: [
    { id: `prt_${n}1`, messageID: `msg_${n}`, sessionID: 'ses_1', type: 'text', text: 'I looked.' },
    ...parts,
    {
      id: `prt_${n}9`,
      messageID: `msg_${n}`,
      sessionID: 'ses_1',
      type: 'step-finish',
      reason: 'stop',
      cost: 0.01,
      tokens: openTokens(counts),
    },
  ],
})
const openTool = (n: number, callID: string): JsonObject => ({
  id: `prt_${n}2`,
  messageID: `msg_${n}`,
  sessionID: 'ses_1',
  type: 'tool',
  callID,
  tool: 'bash',
  state: { status: 'completed', input: {}, output: 'done', time: { start: ms(n), end: ms(n) } },
})
const openExport = (version: string, ...messages: readonly JsonObject[]): Record<string, string> => ({
  'export.json': JSON.stringify({
    info: {
      id: 'ses_1',
      version,
      projectID: 'p',
      directory: '/project',
      title: 'Look',
      time: { created: ms(0), updated: ms(9) },
    },
    messages: [
      {
        info: { id: 'msg_0', sessionID: 'ses_1', role: 'user', time: { created: ms(0) }, agent: 'build' },
        parts: [{ id: 'prt_0', messageID: 'msg_0', sessionID: 'ses_1', type: 'text', text: 'look' }],
      },
      ...messages,
    ],
  }),
})
const everyOpenTokens = (files: Readonly<Record<string, string>>): Partial<Tally> => {
  const all = objectsIn(files).filter((one) => 'cache' in one && 'reasoning' in one)
  return {
    input: total(all, (one) => numberAt(one, 'input')),
    output: total(all, (one) => numberAt(one, 'output')),
    calls: all.length,
  }
}
const oldSide: OpenCounts = { total: 1310, input: 10, output: 300, reasoning: 120, read: 900, write: 100 }
const newSide: OpenCounts = { total: 1430, input: 10, output: 300, reasoning: 120, read: 900, write: 100 }
const openTruth = (output: number, quality: Tally['quality'] = 'reported'): Tally => ({
  input: 10,
  cacheRead: 900,
  cacheWrite5m: 100,
  output,
  reasoning: 120,
  calls: 1,
  quality,
})

export const opencodeCases: readonly TortureCase[] = [
  {
    name: 'a step’s counts and its message’s, which are the same',
    format: 'opencode',
    files: openExport('1.2.0', openAnswer(1, oldSide)),
    naive: { does: 'adds up both', count: everyOpenTokens },
    truth: openTruth(300),
  },
  {
    name: 'reasoning inside the output, as the total tells',
    format: 'opencode',
    files: openExport('1.2.0', openAnswer(1, oldSide)),
    naive: {
      does: 'adds reasoning to output',
      count: () => ({ output: oldSide.output + oldSide.reasoning }),
    },
    truth: openTruth(300),
  },
  {
    name: 'reasoning beside the output, as the total tells',
    format: 'opencode',
    files: openExport('1.3.20', openAnswer(1, newSide)),
    naive: { does: 'takes output as it stands', count: () => ({ output: newSide.output }) },
    truth: openTruth(420),
  },
  {
    name: 'reasoning on a side that nothing tells',
    format: 'opencode',
    files: openExport('1.3.20', openAnswer(1, { ...newSide, total: 0 })),
    naive: { does: 'takes it for exact', count: () => ({ quality: 'reported' }) },
    truth: openTruth(420, 'estimated'),
  },
  {
    name: 'tool calls whose ids all read REDACTED',
    format: 'opencode',
    files: openExport(
      '1.2.0',
      openAnswer(1, oldSide, openTool(1, 'REDACTED')),
      openAnswer(2, oldSide, openTool(2, 'REDACTED')),
    ),
    naive: {
      does: 'joins what has the same id',
      count: (files) => ({
        calls: new Set(objectsIn(files).flatMap((one) => asString(one['callID']) ?? [])).size,
      }),
    },
    truth: {
      input: 20,
      cacheRead: 1800,
      cacheWrite5m: 200,
      output: 600,
      reasoning: 240,
      calls: 2,
      quality: 'reported',
    },
  },
]
