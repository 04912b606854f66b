/** Any transcript the model can say: what property tests draw from. Dense sequences, unique ids, valid times, awkward text. */
import fc from 'fast-check'
import type { Block } from '../src/transcript/block.ts'
import type { Entry, Role } from '../src/transcript/entry.ts'
import type { Json, JsonObject } from '../src/transcript/json.ts'
import type { Session } from '../src/transcript/session.ts'
import type { Transcript } from '../src/transcript/transcript.ts'
import type { Usage } from '../src/transcript/usage.ts'

/** Text that breaks naive writers: markers of our formats, control characters, wide characters, separators. */
export const awkwardText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '</user_query>',
      '[Tool call] x\n{}',
      'assistant:\nnot me',
      '---',
      '[STUB] Completed step x.',
      'line\r\nline\n\nline',
      '\u2028\u2029\u0000\u001b[31mred',
      '帮我修复这个bug：TypeError',
      '{"v":1,"seq":0,',
      '__proto__',
      '',
      ' ',
    ),
  },
)

export const json: fc.Arbitrary<Json> = fc
  .jsonValue({ maxDepth: 2, noUnicodeString: false })
  .map((value) => JSON.parse(JSON.stringify(value)) as Json)

export const jsonObject: fc.Arbitrary<JsonObject> = fc
  .dictionary(fc.string({ minLength: 1, maxLength: 8 }), json, { maxKeys: 3, noNullPrototype: true })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject)

/** Instants with milliseconds or microseconds, as our own recorder and the seeds write them. */
export const instant: fc.Arbitrary<string> = fc
  .record({
    date: fc.date({
      min: new Date('2024-01-01T00:00:00Z'),
      max: new Date('2027-12-31T00:00:00Z'),
      noInvalidDate: true,
    }),
    micros: fc.option(fc.integer({ min: 1, max: 999 }), { nil: undefined, freq: 3 }),
  })
  .map(({ date, micros }) => {
    const text = date.toISOString()
    return micros === undefined ? text : `${text.slice(0, 23)}${String(micros).padStart(3, '0')}Z`
  })

export const usage: fc.Arbitrary<Usage> = fc.record(
  {
    input: fc.nat({ max: 200_000 }),
    cacheRead: fc.nat({ max: 200_000 }),
    cacheWrite5m: fc.nat({ max: 50_000 }),
    cacheWrite1h: fc.nat({ max: 50_000 }),
    output: fc.nat({ max: 20_000 }),
    quality: fc.constantFrom('reported' as const, 'partial' as const, 'estimated' as const),
  },
  { requiredKeys: ['quality'] },
)

const toolName = fc.constantFrom('Read', 'Write', 'Bash', 'read_file', 'list files', 'mcp__x__y')

const assistantBlock: fc.Arbitrary<Block> = fc.oneof(
  awkwardText.map((text): Block => ({ type: 'text', text })),
  awkwardText.map((text): Block => ({ type: 'thinking', text })),
  fc.record({ name: toolName, input: jsonObject }).map((call): Block => ({ type: 'tool-call', ...call })),
  jsonObject.map((raw): Block => ({ type: 'unknown', raw })),
)

const plainBlock: fc.Arbitrary<Block> = fc.oneof(
  { weight: 4, arbitrary: awkwardText.map((text): Block => ({ type: 'text', text })) },
  { weight: 1, arbitrary: awkwardText.map((message): Block => ({ type: 'error', message })) },
  {
    weight: 1,
    arbitrary: fc.constant<Block>({ type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' }),
  },
)

type Draft = {
  source: string
  role: Role
  at: string | undefined
  blocks: readonly Block[]
  usage: Usage | undefined
  model: string | undefined
  durationMs: number | undefined
  results: readonly { output: string; failed: boolean }[]
}

const draft: fc.Arbitrary<Draft> = fc.record({
  source: fc.constantFrom('primary', 'primary', 'primary', 'subagent:a1'),
  role: fc.constantFrom<Role>('system', 'user', 'assistant', 'assistant'),
  at: fc.option(instant, { nil: undefined, freq: 5 }),
  blocks: fc.array(fc.oneof(assistantBlock, plainBlock), { minLength: 1, maxLength: 3 }),
  usage: fc.option(usage, { nil: undefined, freq: 2 }),
  model: fc.option(fc.constantFrom('claude-opus-4-5', 'gpt-5'), { nil: undefined }),
  durationMs: fc.option(fc.nat({ max: 100_000 }), { nil: undefined, freq: 4 }),
  results: fc.array(fc.record({ output: awkwardText, failed: fc.boolean() }), { maxLength: 3 }),
})

export const session: fc.Arbitrary<Session> = fc
  .record(
    {
      id: fc.uuid({ version: 7 }),
      title: fc.string({ minLength: 1, maxLength: 20 }),
      agent: fc.constantFrom('claude-code', 'my-agent'),
      model: fc.constantFrom('claude-opus-4-5', 'gpt-5'),
      run: fc.record(
        {
          id: fc.constantFrom('run-20251209-143022-abc123', '2025-01-15-review-pr-123'),
          flow: fc.constantFrom('build', 'ticket-to-pr'),
          step: fc.constantFrom('impl-loop', 'context-load'),
          node: fc.constantFrom('generate-spec'),
          agentKey: fc.constantFrom('code-implementer', 'context-loader'),
          engine: fc.constantFrom('claude', 'gemini'),
        },
        { requiredKeys: [] },
      ),
      thread: fc.constantFrom('thread-abc123'),
      chat: fc.constantFrom('chat-xyz789'),
      mode: fc.constantFrom('agent', 'plan'),
      cwd: fc.constantFrom('/path/to/project'),
      version: fc.constantFrom('0.0.44'),
      startedAt: instant,
      endedAt: instant,
      status: fc.constantFrom(
        'completed' as const,
        'failed' as const,
        'canceled' as const,
        'interrupted' as const,
      ),
      error: fc.string({ minLength: 1, maxLength: 20 }),
      stopReason: fc.constantFrom('end_turn', 'max_tokens'),
      input: jsonObject,
    },
    { requiredKeys: ['id', 'status', 'startedAt', 'endedAt'] },
  )
  .map((facts) => (facts.status === 'completed' ? without(facts, 'error') : facts))

export const transcript: fc.Arbitrary<Transcript> = fc
  .record({ session, drafts: fc.array(draft, { maxLength: 8 }) })
  .map(({ session, drafts }) => ({ session, entries: toEntries(drafts), damage: [] }))

/** Drafts into entries: numbered, with every tool call given an id and, mostly, answered. */
function toEntries(drafts: readonly Draft[]): Entry[] {
  const entries: Entry[] = []
  const next = new Map<string, number>()
  let calls = 0
  const push = (source: string, facts: Omit<Entry, 'id' | 'source' | 'sequence' | 'kind'>): void => {
    const sequence = next.get(source) ?? 0
    next.set(source, sequence + 1)
    const id = `00000000-0000-4000-8000-${String(entries.length).padStart(12, '0')}`
    entries.push({ id, source, sequence, kind: 'message', ...facts })
  }
  for (const { source, role, at, usage, model, durationMs, results, blocks } of drafts) {
    const opened: { callId: string; name: string }[] = []
    const own = blocks
      .filter((block) => role === 'assistant' || (block.type !== 'thinking' && block.type !== 'tool-call'))
      .map((block) => {
        if (block.type !== 'tool-call') return block
        calls += 1
        opened.push({ callId: `toolu_${calls}`, name: block.name })
        return { ...block, callId: `toolu_${calls}` }
      })
    if (own.length === 0) continue
    const counted = role === 'assistant' ? { ...(usage && { usage }), ...(model && { model }) } : {}
    push(source, {
      role,
      ...(at && { at }),
      blocks: own,
      ...(durationMs !== undefined && { durationMs }),
      ...counted,
    })
    for (const [index, call] of opened.entries()) {
      const result = results[index]
      if (result === undefined) continue
      const { output, failed } = result
      push(source, {
        role: 'tool',
        ...(at && { at }),
        blocks: [{ type: 'tool-result', ...call, output, ...(failed && { isError: true }) }],
      })
    }
  }
  return entries
}

function without<T extends object, K extends keyof T>(object: T, key: K): Omit<T, K> {
  const { [key]: _, ...others } = object
  return others
}
