/** Small logs of agents, each in its own words: a question and an answer for each call. */
import type { Json } from '../src/transcript/json.ts'

/** `at`: milliseconds since 1970. `input`: without what was cached. */
export type LoggedCall = {
  readonly id: string
  readonly at: number
  readonly text: string
  readonly input: number
  readonly cacheRead: number
  readonly output: number
}

export type AgentLog = {
  readonly agent: string
  readonly model: string
  /** The name under which a provider answers what this agent asks. */
  readonly provider: string
  /** By their paths below the user's folder. `name`: tells the answers of this run from those of others. */
  readonly files: (
    session: string,
    calls: readonly LoggedCall[],
    name: string,
  ) => Readonly<Record<string, string>>
}

const lines = (...values: readonly Json[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('')
const iso = (at: number): string => new Date(at).toISOString()
const uuid = (text: string): string =>
  `${Buffer.from(text).toString('hex').padEnd(8, '0').slice(-8)}-1111-4111-8111-111111111111`
const first = (calls: readonly LoggedCall[]): number => (calls[0]?.at ?? 0) - 1000

const geminiCli: AgentLog = {
  agent: 'gemini-cli',
  model: 'gemini-3-pro',
  provider: 'google',
  files: (sessionId, calls, name) => ({
    [`.gemini/tmp/p/chats/session-${name}.jsonl`]: lines(
      { sessionId, projectHash: 'f'.repeat(64), startTime: iso(first(calls)), kind: 'main' },
      ...calls.flatMap(({ id, at, text, input, cacheRead, output }) => [
        { id: `${name}-${id}-asked`, timestamp: iso(at - 500), type: 'user', content: `ask ${text}` },
        {
          id: `${name}-${id}`,
          timestamp: iso(at),
          type: 'gemini',
          content: text,
          model: 'gemini-3-pro',
          tokens: { input: input + cacheRead, cached: cacheRead, output, thoughts: 0, tool: 0 },
        },
      ]),
    ),
  }),
}

const qwen: AgentLog = {
  agent: 'qwen',
  model: 'qwen3-coder-plus',
  provider: 'openai',
  files: (sessionId, calls, name) => {
    const common = { sessionId, cwd: '/w', version: '0.24.4' }
    return {
      [`.qwen/projects/p/chats/${sessionId}.jsonl`]: lines(
        ...calls.flatMap(({ id, at, text, input, cacheRead, output }) => [
          {
            ...common,
            uuid: uuid(`${name}${id}?`),
            parentUuid: null,
            timestamp: iso(at - 500),
            type: 'user',
            message: { role: 'user', parts: [{ text: `ask ${text}` }] },
          },
          {
            ...common,
            uuid: uuid(`${name}${id}`),
            parentUuid: uuid(`${name}${id}?`),
            timestamp: iso(at),
            type: 'assistant',
            model: 'qwen3-coder-plus',
            usageMetadata: {
              promptTokenCount: input + cacheRead,
              cachedContentTokenCount: cacheRead,
              candidatesTokenCount: output,
              totalTokenCount: input + cacheRead + output,
            },
            message: { role: 'model', parts: [{ text }] },
          },
        ]),
      ),
    }
  },
}

const opencode: AgentLog = {
  agent: 'opencode',
  model: 'claude-sonnet-4-5',
  provider: 'anthropic',
  files: (session, calls, name) => {
    const storage = '.local/share/opencode/storage'
    const time = { created: first(calls), updated: (calls.at(-1)?.at ?? 0) + 1 }
    const info = { id: session, projectID: 'p1', directory: '/w', title: 'A title', version: '1.18.33', time }
    const files: Record<string, string> = { [`${storage}/session/p1/${session}.json`]: JSON.stringify(info) }
    for (const { id, at, text, input, cacheRead, output } of calls) {
      const [asked, answered] = [`msg_${name}${id}a`, `msg_${name}${id}b`]
      const user = {
        id: asked,
        sessionID: session,
        role: 'user',
        time: { created: at - 500 },
        agent: 'build',
      }
      const answer = {
        id: answered,
        sessionID: session,
        role: 'assistant',
        parentID: asked,
        modelID: 'claude-sonnet-4-5',
        providerID: 'anthropic',
        time: { created: at, completed: at + 10 },
        tokens: { input, output, reasoning: 0, cache: { read: cacheRead, write: 0 } },
        finish: 'stop',
      }
      for (const [message, said] of [
        [user, `ask ${text}`],
        [answer, text],
      ] as const) {
        files[`${storage}/message/${session}/${message.id}.json`] = JSON.stringify(message)
        files[`${storage}/part/${message.id}/prt_${message.id}.json`] = JSON.stringify({
          id: `prt_${message.id}`,
          sessionID: session,
          messageID: message.id,
          type: 'text',
          text: said,
        })
      }
    }
    return files
  },
}

const cline: AgentLog = {
  agent: 'cline',
  model: 'claude-opus-4-5',
  provider: 'anthropic',
  files: (session_id, calls, name) => ({
    [`.cline/data/sessions/${session_id}/${session_id}.messages.json`]: JSON.stringify({
      version: 1,
      sessionId: session_id,
      updated_at: iso((calls.at(-1)?.at ?? 0) + 1),
      agent: 'lead',
      messages: calls.flatMap(({ id, at, text, input, cacheRead, output }) => [
        { id: `${name}${id}a`, role: 'user', ts: at - 500, content: [{ type: 'text', text: `ask ${text}` }] },
        {
          id: `${name}${id}b`,
          role: 'assistant',
          ts: at,
          content: [{ type: 'text', text }],
          modelInfo: { id: 'anthropic/claude-opus-4-5', provider: 'cline' },
          metrics: {
            inputTokens: input + cacheRead,
            outputTokens: output,
            cacheReadTokens: cacheRead,
            cacheWriteTokens: 0,
          },
        },
      ]),
    }),
  }),
}

const kimi: AgentLog = {
  agent: 'kimi',
  model: 'kimi-k2',
  provider: 'openai',
  files: (session, calls, name) => ({
    [`.kimi-code/sessions/w/${session}/agents/main/wire.jsonl`]: lines(
      { type: 'metadata', protocol_version: '1.4', created_at: first(calls) },
      { type: 'config.update', cwd: '/w', modelAlias: 'moonshot/kimi-k2', time: first(calls) },
      ...calls.flatMap(({ id, at: time, text, input, cacheRead, output }) => {
        const uuid = `${name}-${id}`
        const loop = (event: Json): Json => ({ type: 'context.append_loop_event', event, time })
        const usage = { inputOther: input, output, inputCacheRead: cacheRead, inputCacheCreation: 0 }
        return [
          {
            type: 'context.append_message',
            message: { role: 'user', content: [{ type: 'text', text: `ask ${text}` }], toolCalls: [] },
            time: time - 500,
          },
          loop({ type: 'step.begin', uuid, turnId: '0', step: 1 }),
          {
            type: 'llm.request',
            kind: 'loop',
            provider: 'kimi',
            model: 'kimi-k2',
            modelAlias: 'moonshot/kimi-k2',
            time,
          },
          loop({ type: 'content.part', stepUuid: uuid, part: { type: 'text', text } }),
          loop({
            type: 'step.end',
            uuid,
            usage,
            finishReason: 'end_turn',
            messageId: `chatcmpl-9f3ab1c2d${id}`,
          }),
        ]
      }),
    ),
  }),
}

const copilotCli: AgentLog = {
  agent: 'copilot-cli',
  model: 'claude-sonnet-4.6',
  provider: 'anthropic',
  files(sessionId, calls, name) {
    let count = 0
    const line = (type: string, at: number, data: Json): Json => {
      count += 1
      return { type, data, id: `${name}${count}`, timestamp: iso(at), parentId: `${name}${count - 1}` }
    }
    const model = 'claude-sonnet-4.6'
    const start = {
      sessionId,
      version: 1,
      producer: 'copilot-agent',
      copilotVersion: '1.0.102',
      startTime: iso(first(calls)),
    }
    return {
      [`.copilot/session-state/${sessionId}/events.jsonl`]: lines(
        line('session.start', first(calls), { ...start, context: { cwd: '/w' } }),
        ...calls.flatMap(({ id, at, text, input, cacheRead, output }) => {
          const apiCallId = `msg_${id}`
          const usage = { inputTokens: input + cacheRead, outputTokens: output, cacheReadTokens: cacheRead }
          return [
            line('user.message', at - 500, { content: `ask ${text}`, attachments: [] }),
            line('assistant.message', at, {
              messageId: `${name}${id}`,
              apiCallId,
              model,
              content: text,
              toolRequests: [],
            }),
            line('session.usage_record', at, { usage: { model, apiCallId, ...usage } }),
          ]
        }),
      ),
    }
  },
}

export const AGENT_LOGS: readonly AgentLog[] = [geminiCli, qwen, opencode, cline, kimi, copilotCli]

/** How the provider's ids begin, where the agent logs them. */
export const PROVIDER_IDS: Readonly<Record<string, string>> = {
  kimi: 'chatcmpl-9f3ab1c2d',
  'copilot-cli': 'msg_',
}
