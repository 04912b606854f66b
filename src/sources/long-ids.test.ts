import { expect, it } from 'vitest'
import { heldBytes } from '../../test/held-bytes.ts'
import { memoryFileSource } from '../../test/memory-files.ts'
import { claudeCode } from '../formats/claude-code.ts'
import { createUnitReading } from './unit-facts.ts'
import { readSnapshot } from './versions.ts'

const MB = 1024 * 1024
/** 30 MB in all. */
const MANY = 1500
const long = (n: number): string => `${n}-`.padEnd(20_000, 'z')

const line = (n: number, type: string, more: object): string =>
  JSON.stringify({
    parentUuid: null,
    isSidechain: false,
    userType: 'external',
    cwd: '/x',
    sessionId: '01990000-9000-7000-8000-000000000001',
    version: '2.1.0',
    type,
    uuid: `u${n}`,
    timestamp: '2026-02-10T10:00:00.000Z',
    ...more,
  })
const said = (n: number, content: object): object => ({
  message: {
    id: `msg_${n}`,
    role: 'assistant',
    model: 'm',
    content: [content],
    usage: { output_tokens: 1 },
  },
})
const task = (n: number): object => ({
  type: 'tool_use',
  id: long(n),
  name: 'Task',
  input: { prompt: `do ${n}` },
})
const text = { type: 'text', text: 'x' }

it.each<[string, (n: number) => string]>([
  ['calls that start agents', (n) => line(n, 'assistant', said(n, task(n)))],
  [
    'agents that progress names',
    (n) => line(n, 'progress', { parentToolUseID: long(n), data: { agentId: long(n) } }),
  ],
  [
    'agents that lines are of',
    (n) => line(n, 'assistant', { ...said(n, text), isSidechain: true, agentId: long(n) }),
  ],
])('ids of %s as long as lines are not held', async (_, toLine) => {
  const content = Array.from({ length: MANY }, (__, n) => `${toLine(n)}\n`).join('')
  const source = memoryFileSource('a.jsonl', content, { chunkBytes: MB })
  const reading = createUnitReading(() => {}, 'unit')
  const open = async () => ({ ...source, damage: () => [] })
  const before = heldBytes()
  let most = 0
  let batches = 0
  for await (const items of readSnapshot({ versions: new Map(), open }, ['a.jsonl'], claudeCode, {
    isForFacts: true,
  })) {
    reading.add(items)
    batches += 1
    if (batches % 8 === 0) most = Math.max(most, heldBytes() - before)
  }
  expect(batches).toBeGreaterThan(16)
  expect(most / MB).toBeLessThan(12)
})
