/**
 * A log as Claude Code writes it, made up line by line: who says what, on a clock of its own. Tokens follow from what was said, so that
 * the context grows as it would, is read from the cache, and shrinks when it is compacted. The same story makes the same bytes.
 */
import type { Json, JsonObject } from '../../transcript/json.ts'

export type ClaudeLogOptions = {
  readonly id: string
  readonly cwd: string
  readonly branch: string
  readonly model: string
  /** When it begins, in milliseconds since 1970. */
  readonly begins: number
  /** The subagent whose log it is. */
  readonly agent?: string
  /** Tokens that are there before anything is said. */
  readonly context?: number
}

export type UseOptions = {
  readonly isError?: boolean
  /** Seconds that the tool takes. */
  readonly takes?: number
  /** Said before the call, in the same answer. */
  readonly says?: string
}

export type ClaudeLog = {
  readonly id: string
  user(content: Json, more?: JsonObject): void
  says(text: string): void
  thinks(text: string): void
  uses(name: string, input: JsonObject, output: Json, options?: UseOptions): void
  compacts(summary: string): void
  /** A line that was cut off in the middle. */
  breaks(): void
  waits(seconds: number): void
  /** When it is now. */
  now(): number
  text(): string
}

/** Tokens of a text, about; code is denser than prose. */
const tokensOf = (text: string): number => Math.ceil(text.length / 3.4)

export function createClaudeLog(options: ClaudeLogOptions): ClaudeLog {
  const { id, cwd, branch, model, agent } = options
  const lines: string[] = []
  const prefix = `${id.slice(0, 8)}${agent ?? ''}`
  const start = options.context ?? 14_800
  let [clock, parentUuid, answers, calls]: [number, string | null, number, number] = [
    options.begins,
    null,
    0,
    0,
  ]
  /** Tokens of the context, and of what joined it since the last answer. */
  let [context, fresh] = [0, start]
  const line = (value: JsonObject): void => {
    const uuid = toUuid(prefix, lines.length)
    const about = {
      parentUuid,
      isSidechain: agent !== undefined,
      userType: 'external',
      cwd,
      sessionId: id,
      version: '2.1.74',
      gitBranch: branch,
      ...(agent !== undefined && { agentId: agent }),
    }
    lines.push(JSON.stringify({ ...about, uuid, timestamp: new Date(clock).toISOString(), ...value }))
    parentUuid = uuid
  }
  const answer = (content: readonly JsonObject[], stop: string): void => {
    const output = tokensOf(JSON.stringify(content)) + 20
    clock += Math.round(1800 + output * 14)
    answers += 1
    line({
      type: 'assistant',
      requestId: `req_demo_${prefix}_${answers}`,
      message: {
        id: `msg_demo_${prefix}_${answers}`,
        type: 'message',
        role: 'assistant',
        model,
        content,
        stop_reason: stop,
        stop_sequence: null,
        usage: {
          input_tokens: 6,
          cache_creation_input_tokens: fresh,
          cache_read_input_tokens: context,
          output_tokens: output,
        },
      },
    })
    context += fresh
    fresh = output
  }
  return {
    id,
    user(content, more = {}) {
      fresh += tokensOf(JSON.stringify(content))
      line({ type: 'user', message: { role: 'user', content }, ...more })
      clock += 400
    },
    says: (text) => answer([{ type: 'text', text }], 'end_turn'),
    thinks: (text) => answer([{ type: 'thinking', thinking: text, signature: 'demo' }], 'tool_use'),
    uses(name, input, output, { isError = false, takes = 0.4, says } = {}) {
      calls += 1
      const use = `toolu_demo_${prefix}_${calls}`
      const said = says === undefined ? [] : [{ type: 'text', text: says }]
      answer([...said, { type: 'tool_use', id: use, name, input }], 'tool_use')
      clock += Math.round(takes * 1000)
      // A picture is not paid for by the letter.
      fresh += Math.min(tokensOf(JSON.stringify(output)), 9000)
      const result = {
        type: 'tool_result',
        tool_use_id: use,
        content: output,
        ...(isError && { is_error: true }),
      }
      line({ type: 'user', message: { role: 'user', content: [result] } })
      clock += 200
    },
    compacts(summary) {
      const before = context + fresh
      line({
        type: 'system',
        subtype: 'compact_boundary',
        content: 'Conversation compacted',
        isMeta: false,
        compactMetadata: { trigger: 'auto', preTokens: before },
      })
      line({ type: 'user', message: { role: 'user', content: summary }, isCompactSummary: true })
      context = 0
      fresh = start + tokensOf(summary)
    },
    breaks: () => void lines.push('{"parentUuid":"","type":"user","message":{"role":"user","conte'),
    waits: (seconds) => void (clock += seconds * 1000),
    now: () => clock,
    text: () => lines.map((one) => `${one}\n`).join(''),
  }
}

/** Of the shape that Claude Code has, and the same each time. */
function toUuid(prefix: string, number: number): string {
  let hash = 0x811c9dc5
  for (const character of prefix) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return `${hash.toString(16).padStart(8, '0')}-de00-4000-8000-${number.toString(16).padStart(12, '0')}`
}
