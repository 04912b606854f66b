import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { createWriter, readFacts, type Told } from '../../test/claude-facts.ts'
import { tortureCases } from '../../test/torture/cases.ts'

const base = fs.mkdtempSync(join(tmpdir(), 'hansard-facts-'))
afterAll(() => fs.rmSync(base, { recursive: true, force: true }))

const write = createWriter(base)

async function isSame(path: string): Promise<Told> {
  const facts = await readFacts(path, true)
  expect(facts).toEqual(await readFacts(path, false))
  return facts
}

const long = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc
    .tuple(
      fc.constantFrom('x', 'é\n', 'agentId: a1 ', '"\\', '漢', '<local-command-stdout>'),
      fc.nat({ max: 200 }),
    )
    .map(([text, times]) => text.repeat(times)),
)
const input = fc.oneof(
  fc.record({ file_path: fc.constantFrom('/a', '/b'), content: long }),
  fc.record({ prompt: long, description: long }),
  fc.record({
    command: fc.constantFrom('ls', 'view'),
    patch: long.map((one) => `*** Update File: a\n${one}`),
  }),
  fc.constantFrom<unknown>(null, [], {}),
)
const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text: long }),
  fc.record({ type: fc.constant('thinking'), thinking: long, signature: long }),
  fc.record({
    type: fc.constant('tool_use'),
    id: fc.constantFrom('t1', 't2'),
    name: fc.constantFrom('Write', 'Task', 'Read', 'Bash'),
    input,
  }),
  fc.record(
    {
      type: fc.constant('tool_result'),
      tool_use_id: fc.constantFrom('t1', 't2'),
      content: fc.oneof(
        long,
        fc.array(fc.record({ type: fc.constant('text'), text: long }), { maxLength: 2 }),
      ),
      is_error: fc.boolean(),
    },
    { requiredKeys: ['type', 'tool_use_id'] },
  ),
  fc.record({ type: fc.constant('image'), source: fc.record({ type: fc.constant('base64'), data: long }) }),
  fc.record({ type: fc.constant('new_block'), content: long, other: fc.constant(1) }),
  long,
)
const usage = fc.record(
  {
    input_tokens: fc.nat({ max: 9 }),
    output_tokens: fc.nat({ max: 9 }),
    iterations: fc.array(fc.record({ input_tokens: fc.nat({ max: 9 }) }), { maxLength: 2 }),
  },
  { requiredKeys: ['input_tokens'] },
)
const message = fc.record(
  {
    id: fc.constantFrom('msg_1', 'msg_2', 'msg_3'),
    role: fc.constantFrom('user', 'assistant'),
    model: fc.constantFrom('claude-opus-4-5', '<synthetic>'),
    content: fc.oneof(long, fc.array(block, { maxLength: 3 })),
    stop_reason: fc.constantFrom(null, 'end_turn'),
    usage,
  },
  { requiredKeys: ['role', 'content'] },
)
const ID = 'aaaaaaaa-0000-4000-8000-000000000001'
const line = fc.record(
  {
    parentUuid: fc.constantFrom(null, 'u1', 'u2'),
    isSidechain: fc.boolean(),
    userType: fc.constant('external'),
    cwd: fc.constant('/p'),
    sessionId: fc.constant(ID),
    version: fc.constant('2.1.0'),
    type: fc.constantFrom(
      'assistant',
      'assistant',
      'user',
      'user',
      'system',
      'progress',
      'event',
      'odd',
      'summary',
    ),
    uuid: fc.constantFrom('u1', 'u2', 'u3', 'u4'),
    leafUuid: fc.constantFrom('u1', 'u9'),
    summary: long,
    timestamp: fc.constantFrom('2026-03-04T10:00:00.000Z', '2026-03-04T23:59:59Z', 'yesterday'),
    isApiErrorMessage: fc.boolean(),
    isMeta: fc.boolean(),
    spawned: fc.constantFrom('s1', 's2'),
    agentId: fc.constantFrom('a1', 'a2'),
    message,
    data: fc.record({
      type: fc.constant('agent_progress'),
      agentId: fc.constant('a3'),
      message: fc.record({ message }),
    }),
    toolUseResult: fc.oneof(
      long,
      fc.record(
        { stdout: long, content: long, agentId: fc.constantFrom('a1', 'a2'), durationMs: fc.nat() },
        { requiredKeys: ['stdout'] },
      ),
    ),
  },
  { requiredKeys: ['parentUuid', 'isSidechain', 'sessionId', 'type', 'uuid', 'message'] },
)
const log = fc
  .array(line, { maxLength: 10 })
  .map((lines) => lines.map((one) => `${JSON.stringify(one)}\n`).join(''))

describe('facts of a log whose long texts are not read', () => {
  it('are those of reading all of it, whatever its lines say', async () => {
    await fc.assert(
      fc.asyncProperty(log, log, async (main, agent) => {
        const root = write({
          [`${ID}.jsonl`]: main,
          [`${ID}/subagents/agent-a1.jsonl`]: agent,
        })
        await isSame(root)
        await isSame(join(root, `${ID}.jsonl`))
        fs.rmSync(root, { recursive: true })
      }),
      { numRuns: 80 },
    )
  })

  it('are those of reading all of it where bytes were written over', async () => {
    const [one] = fc.sample(
      log.filter((text) => text.length > 3000),
      { numRuns: 1, seed: 7 },
    )
    const bytes = Buffer.from(one ?? '')
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: bytes.length - 1 }),
        fc.constantFrom(0, 10, 0x22, 0x5c, 0xff),
        async (at, byte) => {
          const broken = Buffer.from(bytes)
          broken[at] = byte
          const root = write({ [`${ID}.jsonl`]: broken })
          await isSame(join(root, `${ID}.jsonl`))
          fs.rmSync(root, { recursive: true })
        },
      ),
      { numRuns: 60 },
    )
  })

  it('are those of reading all of it where a long result names the agent that was started', async () => {
    const of = (uuid: string, type: string, content: unknown, more: object = {}): string =>
      `${JSON.stringify({ parentUuid: null, isSidechain: false, sessionId: ID, type, uuid, message: { role: type, content }, ...more })}\n`
    const call = { type: 'tool_use', id: 't1', name: 'Task', input: { prompt: 'look' } }
    const result = { type: 'tool_result', tool_use_id: 't1', content: `agentId: b ${'x'.repeat(3000)}` }
    const agent = { isSidechain: true }
    const root = write({
      [`${ID}.jsonl`]: of('u1', 'assistant', [call]) + of('u2', 'user', [result]),
      [`${ID}/subagents/agent-a.jsonl`]: of('u3', 'user', 'first', { ...agent, agentId: 'a' }),
      [`${ID}/subagents/agent-b.jsonl`]: of('u4', 'user', 'second', { ...agent, agentId: 'b' }),
    })
    const { facts } = await isSame(root)
    // The one that is named is read first.
    expect(facts.sessions[0]?.work.sources).toEqual(['primary', 'subagent:b', 'subagent:a'])
  })

  it.each(
    tortureCases.filter(({ format }) => format === 'claude-code').map((one) => [one.name, one] as const),
  )('are those of reading all of it: %s', async (_, { files }) => {
    await isSame(write(files))
  })
})
