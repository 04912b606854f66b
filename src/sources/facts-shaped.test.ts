import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { createWriter, readFacts } from '../../test/claude-facts.ts'
import { readClaudeRecords } from '../formats/claude-cut.ts'
import { ShapedRecord } from '../transcript/cut-records.ts'
import { openSource } from './open.ts'

const base = fs.mkdtempSync(join(tmpdir(), 'hansard-shaped-'))
afterAll(() => fs.rmSync(base, { recursive: true, force: true }))

const write = createWriter(base)

let runs = 0
/** Logs that have other shapes each: after so many there may be no room for more. */
const RUNS_OF_KNIFE = 8

/** What was learnt is held by a reading that does not end, and learnt anew by the next. */
async function forget(root: string): Promise<void> {
  for (const file of await (await openSource(root)).list()) await readClaudeRecords(file, () => {}).next()
}

/** Gives how many lines are told by their shape, once it was learnt: what is read first is learnt from. */
async function isSame(root: string): Promise<number> {
  const whole = await readFacts(root, false)
  if (runs % RUNS_OF_KNIFE === 0) await forget(root)
  runs += 1
  expect(await readFacts(root, true)).toEqual(whole)
  expect(await readFacts(root, true)).toEqual(whole)
  let shaped = 0
  for (const file of await (await openSource(root)).list())
    for await (const { records } of readClaudeRecords(file, () => {}))
      shaped += records.filter((one) => one instanceof ShapedRecord).length
  return shaped
}

const ID = 'aaaaaaaa-0000-4000-8000-000000000001'
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc
    .tuple(
      fc.constantFrom('x', 'line\n', 'é', '"\\', '🦊\t', '*** Update File: a\n', '* ** ***', 'agentId: a2 '),
      fc.nat({ max: 120 }),
    )
    .map(([one, times]) => one.repeat(times)),
)
const path = fc.constantFrom('/a', '/b', '/é', '', '/with "quotes"', `/${'long/'.repeat(210)}`)
const input = fc.oneof(
  fc.record({ file_path: path, content: text }),
  fc.record({ file_path: path, limit: fc.oneof(fc.nat({ max: 9 }), fc.constantFrom(-1, 1.5, 1e21)) }),
  fc.record({ command: fc.constantFrom('ls', 'view', 'create'), description: text, quiet: fc.boolean() }),
  fc.record({ files: fc.array(path, { maxLength: 2 }), from: fc.record({ path, note: text }) }),
  fc.record({ source: fc.record({ file: path, old: fc.record({ path: fc.nat({ max: 3 }) }) }) }),
  fc.constant({}),
)
const answered = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('tool_use'),
      id: fc.constantFrom('t1', 't2', 't3'),
      name: fc.constantFrom('Write', 'Read', 'Bash', 'Task'),
      input,
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('text'), text }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('thinking'), thinking: text, signature: text }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('redacted_thinking'), data: text }) },
)
const result = fc.record(
  {
    tool_use_id: fc.constantFrom('t1', 't2', 't3'),
    type: fc.constant('tool_result'),
    content: fc.oneof(text, fc.array(fc.record({ type: fc.constant('text'), text }), { maxLength: 2 })),
    is_error: fc.boolean(),
  },
  { requiredKeys: ['tool_use_id', 'type'] },
)
const count = fc.oneof(fc.nat({ max: 9 }), fc.constantFrom(0, 412, 1e16, 2.5))
const usage = fc.oneof(
  fc.record({
    input_tokens: count,
    cache_creation_input_tokens: fc.constantFrom(0, 5, 7),
    cache_read_input_tokens: count,
    cache_creation: fc.record({
      ephemeral_5m_input_tokens: fc.constantFrom(0, 2),
      ephemeral_1h_input_tokens: fc.constantFrom(0, 5),
    }),
    output_tokens: count,
    service_tier: fc.constantFrom('standard', 'batch', null),
  }),
  fc.record(
    {
      input_tokens: count,
      output_tokens: count,
      output_tokens_details: fc.record({ thinking_tokens: count }),
      iterations: fc.constantFrom<unknown>([], null, [{ input_tokens: 1 }, { input_tokens: 2 }]),
      speed: fc.constantFrom('fast', 'standard'),
    },
    { requiredKeys: ['input_tokens'] },
  ),
)
const wrapper = {
  isSidechain: fc.constantFrom(false, false, true),
  sessionId: fc.constantFrom(ID, ID, ID, 'aaaaaaaa-0000-4000-8000-00000000000f'),
  cwd: fc.constantFrom('/p', '/q', ''),
  gitBranch: fc.constantFrom('', 'main'),
  uuid: fc.oneof(fc.uuid(), fc.constantFrom('u1', 'u2', 'é')),
  timestamp: fc.constantFrom(
    '2026-03-04T10:00:00.000Z',
    '2026-03-04T23:59:59.001Z',
    '2026-03-31T09:00:00Z',
    '2026-02-31T09:00:00.000Z',
    'yesterday',
  ),
}
const more = {
  agentId: fc.constantFrom('a1', 'a2', ''),
  slug: text,
  parentUuid: fc.constantFrom(null, 'u1', 'u2'),
}
const needed = ['isSidechain', 'sessionId', 'uuid', 'timestamp', 'type', 'message'] as const
const answer = fc.record(
  {
    ...wrapper,
    ...more,
    type: fc.constant('assistant'),
    requestId: text,
    message: fc.record(
      {
        model: fc.constantFrom('claude-opus-4-5', 'claude-sonnet-4-5', '<synthetic>'),
        id: fc.constantFrom('m1', 'm2', 'm3', 'm4', '', 'REDACTED'),
        role: fc.constant('assistant'),
        content: fc.array(answered, { minLength: 1, maxLength: 2 }),
        stop_reason: fc.constantFrom(null, 'tool_use'),
        usage,
      },
      { requiredKeys: ['model', 'id', 'role', 'content', 'stop_reason'] },
    ),
  },
  { requiredKeys: [...needed] },
)
const returned = fc.record(
  {
    ...wrapper,
    ...more,
    type: fc.constant('user'),
    message: fc.record({
      role: fc.constant('user'),
      content: fc.array(result, { minLength: 1, maxLength: 2 }),
    }),
    toolUseResult: fc.oneof(
      text,
      fc.record(
        {
          stdout: text,
          interrupted: fc.boolean(),
          durationMs: fc.oneof(fc.nat({ max: 5000 }), fc.constant(0.5)),
          totalDurationMs: fc.nat({ max: 5000 }),
          structuredPatch: fc.array(fc.record({ lines: fc.array(text, { maxLength: 3 }) }), { maxLength: 2 }),
          agentId: fc.constant('a1'),
        },
        { requiredKeys: ['stdout'] },
      ),
      fc.array(text, { maxLength: 2 }),
    ),
  },
  { requiredKeys: [...needed] },
)
/** What is no ordinary line, between ordinary ones. */
const others = fc.oneof(
  fc.record({
    type: fc.constant('assistant'),
    parentUuid: fc.constantFrom('u1', 'u2'),
    isSidechain: fc.constant(false),
    sessionId: fc.constant(ID),
    uuid: fc.uuid(),
    isApiErrorMessage: fc.constant(true),
    message: fc.record({
      model: fc.constant('<synthetic>'),
      role: fc.constant('assistant'),
      content: fc.constant([{ type: 'text', text: 'API Error' }]),
    }),
  }),
  fc.record({
    type: fc.constant('user'),
    isSidechain: fc.constant(false),
    sessionId: fc.constant(ID),
    uuid: fc.uuid(),
    message: fc.record({ role: fc.constant('user'), content: text }),
  }),
  fc.record({ type: fc.constant('summary'), summary: text, leafUuid: fc.constantFrom('u1', 'u2') }),
)
const line = fc.oneof(
  { weight: 5, arbitrary: answer },
  { weight: 5, arbitrary: returned },
  { weight: 1, arbitrary: others },
)
const log = fc
  .array(line, { minLength: 5, maxLength: 40, size: 'max' })
  .map((lines) => lines.map((one) => `${JSON.stringify(one)}\n`).join(''))

/** As it is spelled: a value, and a name for one more of them before another. */
type Put = { readonly name: string; readonly value: string }
const NAMES =
  String.raw`isMeta type agentId spawned forkedFrom durationMs unheard message input content usage iterations speed file_path command
is_error __proto__ 1 a.b é \u0074ype isApiErrorMessage`
    .split(/\s/)
    .map((name) => `"${name}"`)
const VALUES =
  String.raw`1e3 -0 -1 1.0 12345678901234567890 123456789012345 1e400 true null 01 "" "<synthetic>" "REDACTED" "fast" "us"
"Task" "image" "constructor" "primary/3" "\ud800" "a\/b" "\u002a**" "2026-03-04T10:00:00+02:00" [] {} [null,null] {"a":1,"a":2}
[{"input_tokens":1},{"input_tokens":2}] [{"type":"unheard"}] {"agentId":"a2"} {"__proto__":{"type":"x"}}`.split(
    /\s/,
  )
const put = fc.record<Put>({
  name: fc.constantFrom('', ...NAMES),
  value: fc.constantFrom('{ }', ' 7', '"\0"', '"*** Add File: /n"', `"${'*'.repeat(1025)}"`, ...VALUES),
})
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/g

/** Instead of a value; where a name is, one more value before it, under its own name or another. */
function withPut(text: string, at: number, { name, value }: Put): string {
  const tokens = [...text.matchAll(TOKEN)]
  const { 0: token = '', index = 0 } = tokens[at % tokens.length] ?? {}
  const end = index + token.length
  const instead = text[end] === ':' ? `${name === '' ? token : name}:${value},${token}` : value
  return text.slice(0, index) + instead + text.slice(end)
}

describe('facts of lines that are told by their shape', () => {
  it('are those of reading all of them, whatever their values are', async () => {
    let shaped = 0
    await fc.assert(
      fc.asyncProperty(log, log, async (main, agent) => {
        const root = write({ [`${ID}.jsonl`]: main, [`${ID}/subagents/agent-a1.jsonl`]: agent })
        shaped += await isSame(root)
        fs.rmSync(root, { recursive: true })
      }),
      { numRuns: 60 },
    )
    expect(shaped).toBeGreaterThan(300)
  })

  it('are those of reading all of them, whatever is put in one place of several lines', async () => {
    let shaped = 0
    await fc.assert(
      fc.asyncProperty(log, fc.array(fc.tuple(fc.nat(), put), { maxLength: 3 }), async (main, puts) => {
        const lines = main.trimEnd().split('\n')
        const others = puts.flatMap(([at, one]) => lines.map((text) => withPut(text, at, one)))
        // An id that comes again is not told by its shape.
        const both = [...lines, ...others].map((one, nth) => one.replace('"uuid":"', `"uuid":"${nth}`))
        const root = write({ [`${ID}.jsonl`]: `${both.join('\n')}\n` })
        shaped += await isSame(root)
        fs.rmSync(root, { recursive: true })
      }),
      { numRuns: 40 },
    )
    expect(shaped).toBeGreaterThan(300)
  })

  it('are those of reading all of them where bytes were written over, or are missing', async () => {
    const [one = ''] = fc.sample(log, { numRuns: 1, seed: 11 })
    const bytes = Buffer.from(one.repeat(2))
    let shaped = 0
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: bytes.length - 1 }),
        fc.constantFrom(0, 10, 0x22, 0x5c, 0xff, 0x2c, 0x31, 0x7d),
        fc.nat({ max: 3 }),
        async (at, byte, missing) => {
          const broken = Buffer.from(bytes)
          broken[at] = byte
          // Torn, and fused with what follows.
          const left = Buffer.concat([broken.subarray(0, at + 1), broken.subarray(at + 1 + missing * 40)])
          const root = write({ [`${ID}.jsonl`]: left })
          shaped += await isSame(root)
          fs.rmSync(root, { recursive: true })
        },
      ),
      { numRuns: 60 },
    )
    expect(shaped).toBeGreaterThan(300)
  })

  it('are those of reading all of them where the first line of a session is one', async () => {
    const branches = ['main', '', null, 7]
    const wrappers = branches.flatMap((gitBranch, n) => [
      {
        parentUuid: null,
        isSidechain: false,
        userType: 'external',
        cwd: `/p${n}`,
        version: `2.${n}`,
        gitBranch,
      },
      { parentUuid: null, isSidechain: false, cwd: '', version: `2.${n}`, gitBranch },
      { parentUuid: null, version: '1', gitBranch },
    ])
    const sessions = [
      'aaaaaaaa-0000-4000-8000-00000000000',
      'bbbbbbbb-0000-4000-8000-00000000000',
      '2026-03-04-calm-fox-',
    ]
    let shaped = 0
    for (const wrapped of wrappers) {
      const logs = sessions.flatMap((session, at) =>
        [1, 2].map((n) => {
          // The name of the log may be another's: its lines were copied, then.
          const name = at === 1 && n === 2 ? `${sessions[0]}3` : `${session}${n}`
          return [`${name}.jsonl`, orderly({ ...wrapped, sessionId: `${session}${n}` }, [12, 30])] as const
        }),
      )
      const root = write(Object.fromEntries(logs))
      shaped += await isSame(root)
    }
    expect(shaped).toBeGreaterThan(wrappers.length * sessions.length * 2 * 3)
  })

  it('are those of reading all of them where a result says in other numbers how long it took', async () => {
    const wrapped = { parentUuid: null, isSidechain: false, cwd: '/p', version: '2', sessionId: ID }
    const log = orderly(wrapped, [12, '0.5', '1e3', '-1', '2.50', 30, '12345678901234567890', '1E400'])
    const root = write({ [`${ID}.jsonl`]: log })
    expect(await isSame(root)).toBe(16)
    const { calls } = await readFacts(root, true)
    expect(calls.map(({ work }) => work?.[0]?.[2])).toEqual([12, 1, 1000, 0, 3, 30, 0, 0])
  })
})

/** Answers, each with its result: by number, in what words the result says how long it took. */
function orderly(wrapped: object, took: readonly (number | string)[], from = 0): string {
  return took
    .map((one, nth) => {
      const n = from + nth
      const result = {
        ...wrapped,
        uuid: `r${n}`,
        timestamp: new Date(SECOND * 2 * n + SECOND).toISOString(),
        type: 'user',
        message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${n}`, content: 'done' }] },
        toolUseResult: { stdout: 'done', durationMs: 0 },
      }
      const said = JSON.stringify(result).replace('"durationMs":0', `"durationMs":${one}`)
      return `${answerLine(wrapped, n, { file_path: `/f${n}` })}${said}\n`
    })
    .join('')
}

const SECOND = 1000

function answerLine(wrapped: object, n: number, input: object): string {
  return `${JSON.stringify({
    ...wrapped,
    uuid: `a${n}`,
    timestamp: new Date(SECOND * 2 * n).toISOString(),
    type: 'assistant',
    message: {
      model: 'claude-opus-4-5',
      id: `m${n}`,
      role: 'assistant',
      content: [{ type: 'tool_use', id: `t${n}`, name: 'Write', input }],
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 2 },
    },
  })}\n`
}
