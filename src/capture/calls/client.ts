/** Who asks, from what a request says of itself: the agent, its version, and the conversation as the agent's own log names it. */
import { asObject, asString, parseJson, type Json } from '../../transcript/json.ts'
import type { Session } from '../../transcript/session.ts'

export type Client = {
  readonly agent?: string
  readonly version?: string
  readonly native?: NonNullable<Session['native']>
  /** How often the client has asked this before, where it says so. */
  readonly retry?: number
}

/** Names in small letters, as Node.js gives them. */
export type Headers = { readonly [name: string]: string | readonly string[] | undefined }

/** `body`: the request's, parsed. What is no id in it is left out: it is hostile. */
export function clientOf(headers: Headers, body: Json | undefined): Client {
  const userAgent = first(headers['user-agent']) ?? ''
  const known = AGENTS.find(({ product }) => product.test(userAgent))
  const version = known && /^[\w.-]{1,60}\/(\d[\w.-]{0,39})/.exec(userAgent)?.[1]
  const sessionId = known && toId(known.session?.(headers, body))
  const retry = Number(first(headers['x-stainless-retry-count']))
  return {
    ...(known && { agent: known.agent }),
    ...(version !== undefined && { version }),
    ...(known && sessionId !== undefined && { native: { agent: known.agent, sessionId } }),
    ...(Number.isSafeInteger(retry) && retry > 0 && { retry }),
  }
}

type Known = {
  readonly agent: string
  readonly product: RegExp
  /** Absent for those whose requests do not say it. */
  readonly session?: (headers: Headers, body: Json | undefined) => string | undefined
}

/** A client that calls itself by its library (`OpenAI/JS`, `ai-sdk`, `node`) is no agent that is known. */
const AGENTS: readonly Known[] = [
  {
    agent: 'claude-code',
    product: /^claude-(cli|code)\//,
    session: (headers, body) => first(headers['x-claude-code-session-id']) ?? fromUserId(body),
  },
  {
    agent: 'codex',
    product: /^codex[_-]/,
    // A subagent is a thread of its own, with a log of its own.
    session: (headers, body) =>
      first(headers['thread-id']) ??
      first(headers['session-id']) ??
      first(headers['conversation_id']) ??
      first(headers['session_id']) ??
      asString(asObject(body)?.['prompt_cache_key']),
  },
  { agent: 'gemini-cli', product: /^GeminiCLI/, session: (headers) => first(headers['x-session-id']) },
  {
    agent: 'opencode',
    product: /^opencode\//,
    // OpenCode's own provider has the first, every other one the second.
    session: (headers) => first(headers['x-opencode-session']) ?? first(headers['x-session-id']),
  },
  { agent: 'qwen', product: /^QwenCode\// },
]

/** `user_<hash>_account_<id>_session_<id>`, and since 2026 a JSON object in a string. */
function fromUserId(body: Json | undefined): string | undefined {
  const userId = asString(asObject(asObject(body)?.['metadata'])?.['user_id']) ?? ''
  const said = asString(asObject(parseJson(userId))?.['session_id'])
  return said ?? /_session_([0-9a-f-]{36})$/.exec(userId)?.[1]
}

function toId(text: string | undefined): string | undefined {
  return text !== undefined && /^[\w.:-]{1,128}$/.test(text) ? text : undefined
}

function first(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0]
}
