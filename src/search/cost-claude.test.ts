import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { tortureCases } from '../../test/torture/cases.ts'
import { runUnitJob } from '../sources/read-unit.ts'
import type { Call } from '../sources/session-facts.ts'
import { callsOf, createClaudeScanner, slotsOf, type ClaudeUnit } from './cost-claude.ts'
import { createSlots, hashKey } from './cost-slots.ts'

const base = fs.mkdtempSync(join(tmpdir(), 'hansard-cost-'))
afterAll(() => fs.rmSync(base, { recursive: true, force: true }))

const ID = 'aaaaaaaa-0000-4000-8000-000000000001'
const scan = createClaudeScanner()
let machines = 0

function write(files: Readonly<Record<string, string | Buffer>>): ClaudeUnit {
  machines += 1
  const root = join(base, String(machines))
  for (const [path, text] of Object.entries(files)) {
    fs.mkdirSync(dirname(join(root, path)), { recursive: true })
    fs.writeFileSync(join(root, path), text)
  }
  return { root, unit: `projects/-p/${ID}.jsonl`, paths: Object.keys(files) }
}

/** What the reader of the format finds; calls that it reports again after they were settled are among them. */
async function readWhole(unit: ClaudeUnit): Promise<readonly Call[]> {
  const calls: Call[] = []
  const result = await runUnitJob(
    { ...unit, home: join(base, 'none'), agent: 'claude-code', isKept: false },
    (some) => void calls.push(...some),
  )
  if (result.type === 'read') expect(result.format).toBe('claude-code')
  return calls.map(light)
}

/** Without who made it and the tools it calls, which are not asked for here. */
function light(call: Call): Call {
  const { source: _, tools: _tools, work: _work, ...rest } = call
  return rest
}

const byKey = (calls: readonly Call[]): readonly Call[] =>
  calls.toSorted((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1))

/** True where it was skimmed: else it has to be read whole, which is no wrong answer. */
async function isSame(unit: ClaudeUnit): Promise<boolean> {
  const skimmed = scan(unit)
  if (skimmed === undefined) return false
  const whole = await readWhole(unit)
  expect(byKey(callsOf(skimmed).map(light))).toEqual(byKey(whole))
  expect(slotsOf(skimmed)).toEqual(addedUp(callsOf(skimmed)))
  return true
}

/** What calls by themselves come to. */
function addedUp(calls: readonly Call[]): ReturnType<typeof slotsOf> {
  const sums = createSlots()
  for (const { at, model, unpriced, usage, pico } of calls) sums.add({ at, model, unpriced, usage, pico })
  return { slots: sums.slots(), keys: Float64Array.from(calls, ({ key }) => hashKey(key ?? '')) }
}

const usage = fc.oneof(
  fc.record({
    input_tokens: fc.nat(),
    output_tokens: fc.nat({ max: 1000 }),
    cache_read_input_tokens: fc.nat({ max: 300_000 }),
  }),
  fc.record({
    input_tokens: fc.nat({ max: 9 }),
    cache_creation_input_tokens: fc.nat({ max: 9 }),
    cache_creation: fc.record({ ephemeral_5m_input_tokens: fc.nat(), ephemeral_1h_input_tokens: fc.nat() }),
    service_tier: fc.constantFrom('standard', 'batch', 'priority', null),
    iterations: fc.oneof(fc.constant([]), fc.constant([{ input_tokens: 1 }])),
  }),
  // All that Claude Code writes, at any price.
  fc.record({
    input_tokens: fc.nat({ max: 9 }),
    cache_creation_input_tokens: fc.nat({ max: 9 }),
    cache_read_input_tokens: fc.nat({ max: 9 }),
    cache_creation: fc.record({
      ephemeral_5m_input_tokens: fc.nat({ max: 9 }),
      ephemeral_1h_input_tokens: fc.nat({ max: 9 }),
    }),
    output_tokens: fc.nat({ max: 9 }),
    service_tier: fc.constantFrom('standard', 'batch', null),
    inference_geo: fc.constantFrom('not_available', 'us', ''),
    speed: fc.constantFrom('standard', 'fast'),
  }),
  fc.constant({ input_tokens: 0, output_tokens: 0 }),
  fc.constant({ input_tokens: -1, output_tokens: 1e300 }),
  fc.constantFrom(null, 'much', [], {}),
)

const message = fc.record(
  {
    id: fc.constantFrom('msg_1', 'msg_2', 'msg_3', 'msg_"é', 'REDACTED', ''),
    type: fc.constant('message'),
    role: fc.constant('assistant'),
    model: fc.constantFrom('claude-opus-4-5', 'claude-sonnet-4-5', '<synthetic>', 'nobody-prices-this'),
    content: fc.constantFrom<unknown>(
      [{ type: 'text', text: 'say "assistant", then \u0001 and \\' }],
      [{ type: 'tool_use', id: 't', name: 'Bash', input: { type: 'assistant', usage: { input_tokens: 5 } } }],
      'plain',
      7,
    ),
    stop_reason: fc.constantFrom(null, 'end_turn'),
    usage,
  },
  { requiredKeys: ['role', 'content', 'model', 'id'] },
)

const line = fc.record(
  {
    parentUuid: fc.constantFrom(null, 'u1', 'u2'),
    isSidechain: fc.boolean(),
    userType: fc.constant('external'),
    cwd: fc.constantFrom('/p', '/q'),
    sessionId: fc.constant(ID),
    version: fc.constant('2.1.0'),
    type: fc.constantFrom(
      'assistant',
      'assistant',
      'assistant',
      'user',
      'system',
      'progress',
      'event',
      'odd',
    ),
    uuid: fc.constantFrom('u1', 'u2', 'u3'),
    timestamp: fc.constantFrom('2026-03-04T10:00:00.000Z', '2026-03-04T23:59:59Z', 'yesterday'),
    isApiErrorMessage: fc.boolean(),
    requestId: fc.constantFrom('req_1', 'req_2'),
    message,
    toolUseResult: fc.constantFrom<unknown>('assistant', { role: 'assistant', usage: { input_tokens: 7 } }),
  },
  {
    requiredKeys: [
      'parentUuid',
      'isSidechain',
      'userType',
      'sessionId',
      'version',
      'type',
      'uuid',
      'message',
    ],
  },
)

const OPENING = `${JSON.stringify({
  parentUuid: null,
  isSidechain: false,
  userType: 'external',
  cwd: '/p',
  sessionId: ID,
  version: '2.1.0',
  type: 'user',
  uuid: 'u0',
  timestamp: '2026-03-04T09:00:00.000Z',
  message: { role: 'user', content: 'go' },
})}\n`

const logOf = (most: number): fc.Arbitrary<string> =>
  fc.array(line, { maxLength: most }).map((lines) => lines.map((one) => `${JSON.stringify(one)}\n`).join(''))
const log = logOf(12)
/** One unusual line of many has the whole log read: of short ones, enough are skimmed to tell. */
const shortLog = logOf(3)

describe('calls that are skimmed', () => {
  it('are those that the reader finds, however long ids and models are', async () => {
    const { message: _, ...opening } = JSON.parse(OPENING) as { readonly message: unknown }
    const answer = (uuid: string, id: string, model: string): string => {
      const message = { id, role: 'assistant', model, content: [], usage: { output_tokens: 7 } }
      return `${JSON.stringify({ ...opening, type: 'assistant', uuid, message })}\n`
    }
    const [id, model] = ['x'.repeat(256), 'm'.repeat(200)]
    const lines = [
      answer('u1', id, model),
      answer('u2', `${id}y`, `${model}n`),
      answer('u3', `${id}z`, 'claude-opus-4-5'),
    ]
    expect(await isSame(write({ [`projects/-p/${ID}.jsonl`]: [OPENING, ...lines].join('') }))).toBe(true)
  })

  it('are those that the reader finds, whatever lines there are', async () => {
    let skimmed = 0
    await fc.assert(
      fc.asyncProperty(log, async (text) => {
        if (await isSame(write({ [`projects/-p/${ID}.jsonl`]: OPENING + text }))) skimmed += 1
      }),
      { numRuns: 300 },
    )
    expect(skimmed).toBeGreaterThan(30)
  })

  it('are those that the reader finds in subagents, too', async () => {
    let skimmed = 0
    await fc.assert(
      fc.asyncProperty(shortLog, shortLog, async (main, agent) => {
        const files = {
          [`projects/-p/${ID}.jsonl`]: OPENING + main,
          [`projects/-p/${ID}/subagents/agent-x.jsonl`]: agent,
          [`projects/-p/${ID}/tool-results/r.txt`]: 'assistant',
        }
        if (await isSame(write(files))) skimmed += 1
      }),
      { numRuns: 100 },
    )
    expect(skimmed).toBeGreaterThan(5)
  })

  it('are read whole where an error in one log answers the last answer of another', async () => {
    const said = { role: 'assistant', content: [{ type: 'text', text: 'x' }] }
    const of = (uuid: string, parentUuid: string | null, message: object, more: object = {}): string =>
      `${JSON.stringify({ parentUuid, isSidechain: false, userType: 'external', sessionId: ID, version: '2.1.0', type: 'assistant', uuid, ...more, message })}\n`
    const usage = { input_tokens: 1, output_tokens: 1 }
    const answer = { ...said, id: 'msg_1', model: 'claude-opus-4-5', stop_reason: 'end_turn', usage }
    const error = { ...said, id: 'msg_1', model: '<synthetic>' }
    const files = {
      [`projects/-p/${ID}.jsonl`]: OPENING + of('u2', null, answer),
      [`projects/-p/${ID}/subagents/agent-x.jsonl`]: of('u1', 'u2', error, { isApiErrorMessage: true }),
    }
    expect(await isSame(write(files))).toBe(false)
  })

  it('are those that the reader finds, wherever a log is torn, written over or fused', async () => {
    const lines = Array.from({ length: 6 }, (_, n) => {
      const said = { input_tokens: 10 + n, output_tokens: 5 }
      return JSON.stringify({
        parentUuid: `u${n}`,
        isSidechain: false,
        userType: 'external',
        sessionId: ID,
        version: '2.1.0',
        type: 'assistant',
        uuid: `u${n + 1}`,
        timestamp: '2026-03-04T10:00:00.000Z',
        message: {
          id: `msg_${n}`,
          role: 'assistant',
          model: 'claude-opus-4-5',
          content: [{ type: 'text', text: 'a "quoted" word\n' }],
          stop_reason: 'end_turn',
          usage: said,
        },
      })
    })
    const whole = Buffer.from(`${OPENING}${lines.join('\n')}\n`)
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: whole.length }),
        fc.nat({ max: 400 }),
        fc.oneof(
          fc.constant(Buffer.alloc(0)),
          fc.nat({ max: 300 }).map((length) => Buffer.alloc(length)),
          fc.constantFrom('{"parentUuid":', '\n', '\r\n', '"}', '\\', '\\x').map((text) => Buffer.from(text)),
        ),
        async (at, cut, put) => {
          const bytes = Buffer.concat([whole.subarray(0, at), put, whole.subarray(at + cut)])
          await isSame(write({ [`projects/-p/${ID}.jsonl`]: bytes }))
        },
      ),
      { numRuns: 400 },
    )
  })

  it.each(
    tortureCases
      .filter(({ format }) => format === 'claude-code')
      .flatMap(({ name, files }) =>
        Object.entries(files).map(([path, text]) => [`${name}: ${path}`, path, text] as const),
      ),
  )('are those of the torture set: %s', async (_, path, text) => {
    const root = join(base, String((machines += 1)))
    fs.mkdirSync(dirname(join(root, path)), { recursive: true })
    fs.writeFileSync(join(root, path), text)
    await isSame({ root, unit: path, paths: [path] })
  })
})
