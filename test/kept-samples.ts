/** One small valid recording for each reader, in which every kind of field that the reader knows stands once. */
import type { JsonObject } from '../src/transcript/json.ts'
import { AGENT_SAMPLES, MESSAGE_SAMPLES } from './message-samples.ts'
import { TRACE_SAMPLES } from './trace-samples.ts'

export type Sample = {
  readonly format: string
  /** What of the format it shows. */
  readonly title: string
  readonly path: string
  /** Lines of a log, or one document. */
  readonly records: readonly JsonObject[] | JsonObject
  readonly isLines: boolean
}

const time = (second: number): string => new Date(Date.UTC(2026, 5, 1, 9, 0, second)).toISOString()
const MILLIS = Date.UTC(2026, 5, 1, 9)
const UUID = '99999999-9999-4999-8999-999999999999'
const lines = (format: string, path: string, records: readonly JsonObject[], title = 'a log'): Sample => ({
  format,
  title,
  path,
  records,
  isLines: true,
})
const document = (
  format: string,
  path: string,
  records: JsonObject | readonly JsonObject[],
  title: string,
): Sample => ({ format, title, path, records, isLines: false })

const claude = (n: number, type: string, more: JsonObject): JsonObject => ({
  type,
  uuid: `00000000-0000-4000-8000-00000000000${n}`,
  parentUuid: n === 1 ? null : `00000000-0000-4000-8000-00000000000${n - 1}`,
  timestamp: time(n),
  sessionId: UUID,
  version: '2.1.90',
  cwd: '/project',
  gitBranch: 'main',
  userType: 'external',
  isSidechain: false,
  ...more,
})

const claudeLines = [
  claude(1, 'user', { message: { role: 'user', content: 'look' }, permissionMode: 'default' }),
  claude(2, 'assistant', {
    requestId: 'req_1',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-4-5',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: {
        input_tokens: 10,
        output_tokens: 5,
        cache_read_input_tokens: 3,
        cache_creation_input_tokens: 2,
        cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 0 },
        service_tier: 'standard',
      },
    },
  }),
  claude(3, 'user', {
    message: {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'a.txt', is_error: false }],
    },
    toolUseResult: { stdout: 'a.txt', stderr: '', interrupted: false },
  }),
  claude(4, 'system', { subtype: 'turn_duration', durationMs: 12 }),
]

const codexLine = (second: number, type: string, payload: JsonObject): JsonObject => ({
  timestamp: time(second),
  type,
  payload,
})
const codexCounts = {
  input_tokens: 10,
  cached_input_tokens: 4,
  output_tokens: 5,
  reasoning_output_tokens: 2,
  total_tokens: 15,
}
const codexLines = [
  codexLine(0, 'session_meta', {
    id: UUID,
    timestamp: time(0),
    cwd: '/project',
    originator: 'codex_cli_rs',
    cli_version: '0.100.0',
    source: 'cli',
    model_provider: 'openai',
    git: { commit_hash: 'abc', branch: 'main', repository_url: 'https://example.com/r' },
  }),
  codexLine(1, 'turn_context', { cwd: '/project', model: 'gpt-5', effort: 'high', approval_policy: 'never' }),
  codexLine(2, 'response_item', {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: 'look' }],
  }),
  codexLine(3, 'response_item', {
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'hm' }],
    encrypted_content: 'x',
  }),
  codexLine(4, 'response_item', {
    type: 'function_call',
    name: 'shell',
    arguments: '{"command":"ls"}',
    call_id: 'call_1',
  }),
  codexLine(5, 'response_item', { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' }),
  codexLine(6, 'response_item', {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'I looked.' }],
  }),
  codexLine(7, 'event_msg', {
    type: 'token_count',
    info: { total_token_usage: codexCounts, last_token_usage: codexCounts, model_context_window: 1000 },
    rate_limits: null,
  }),
]

const geminiUser = { id: 'm1', timestamp: time(1), type: 'user', content: 'look' }
const geminiAnswer = {
  id: 'm2',
  timestamp: time(2),
  type: 'gemini',
  content: 'I looked.',
  thoughts: [{ subject: 'looking', description: 'hm', timestamp: time(2) }],
  tokens: { input: 10, output: 5, cached: 3, thoughts: 2, tool: 0, total: 17 },
  model: 'gemini-3-pro',
  toolCalls: [
    {
      id: 'call-1',
      name: 'ls',
      args: { path: '.' },
      result: [{ functionResponse: { id: 'call-1', name: 'ls', response: { output: 'a.txt' } } }],
      status: 'success',
      timestamp: time(2),
      resultDisplay: 'a.txt',
      displayName: 'List',
    },
  ],
}
const geminiHeader = { sessionId: UUID, projectHash: 'abc', startTime: time(0), lastUpdated: time(3) }

const opencodeTime = { created: MILLIS, completed: MILLIS + 1000 }
const opencodeInfo = {
  id: 'ses_1',
  slug: 'quiet-fox',
  projectID: 'p1',
  directory: '/project',
  parentID: 'ses_0',
  title: 'Looking',
  version: '1.2.0',
  time: { created: MILLIS, updated: MILLIS + 1000 },
}
const opencodePart = (n: number, type: string, more: JsonObject): JsonObject => ({
  id: `prt_${n}`,
  sessionID: 'ses_1',
  messageID: n === 1 ? 'msg_1' : 'msg_2',
  type,
  ...more,
})
const opencodeAnswer = {
  id: 'msg_2',
  sessionID: 'ses_1',
  role: 'assistant',
  parentID: 'msg_1',
  modelID: 'claude-opus-4-5',
  providerID: 'anthropic',
  mode: 'build',
  path: { cwd: '/project', root: '/project' },
  cost: 0.01,
  tokens: { input: 10, output: 5, reasoning: 2, cache: { read: 3, write: 1 } },
  time: opencodeTime,
  finish: 'stop',
  error: { name: 'APIError', data: { message: 'broken' } },
}
const opencodeExport = {
  info: opencodeInfo,
  messages: [
    {
      info: { id: 'msg_1', sessionID: 'ses_1', role: 'user', time: { created: MILLIS }, agent: 'build' },
      parts: [opencodePart(1, 'text', { text: 'look', time: { start: MILLIS, end: MILLIS + 1 } })],
    },
    {
      info: opencodeAnswer,
      parts: [
        opencodePart(2, 'step-start', { snapshot: 'abc' }),
        opencodePart(3, 'reasoning', { text: 'hm', time: { start: MILLIS, end: MILLIS + 1 } }),
        opencodePart(4, 'tool', {
          callID: 'call_1',
          tool: 'bash',
          state: {
            status: 'completed',
            input: { command: 'ls' },
            output: 'a.txt',
            title: 'ls',
            metadata: { exit: 0 },
            time: { start: MILLIS, end: MILLIS + 5 },
            attachments: [opencodePart(5, 'file', { mime: 'image/png', url: 'data:image/png;base64,AAAA' })],
          },
        }),
        opencodePart(6, 'tool', {
          callID: 'call_2',
          tool: 'bash',
          state: { status: 'error', input: {}, error: 'broken', time: { start: MILLIS, end: MILLIS + 5 } },
        }),
        opencodePart(7, 'file', {
          mime: 'image/png',
          filename: 'a.png',
          url: 'data:image/png;base64,AAAA',
        }),
        opencodePart(8, 'step-finish', { reason: 'stop', cost: 0.01, tokens: opencodeAnswer.tokens }),
      ],
    },
  ],
}

const copilot = (n: number, type: string, data: JsonObject, more: JsonObject = {}): JsonObject => ({
  type,
  data,
  id: `event-${n}`,
  timestamp: time(n),
  parentId: n === 1 ? null : `event-${n - 1}`,
  ...more,
})
const copilotLines = [
  copilot(1, 'session.start', {
    sessionId: UUID,
    version: 1,
    producer: 'copilot-agent',
    copilotVersion: '1.0.68',
    startTime: time(0),
    selectedModel: 'gpt-5',
    context: { cwd: '/project', gitRoot: '/project', branch: 'main', repository: 'o/r', headCommit: 'abc' },
  }),
  copilot(2, 'user.message', { content: 'look', transformedContent: 'look now', attachments: [] }),
  copilot(3, 'assistant.message', {
    messageId: 'message-1',
    apiCallId: 'msg_1',
    requestId: 'req_1',
    model: 'gpt-5',
    content: 'I look.',
    toolRequests: [{ toolCallId: 'call_1', name: 'bash', arguments: { command: 'ls' }, type: 'function' }],
    outputTokens: 5,
    reasoningText: 'hm',
    reasoningOpaque: 'sig',
    encryptedContent: 'x',
  }),
  copilot(4, 'tool.execution_start', {
    toolCallId: 'call_1',
    toolName: 'bash',
    arguments: { command: 'ls' },
    model: 'gpt-5',
  }),
  copilot(5, 'tool.execution_complete', {
    toolCallId: 'call_1',
    model: 'gpt-5',
    success: true,
    result: { content: 'a.txt', detailedContent: 'a.txt' },
  }),
  copilot(6, 'tool.execution_start', {
    toolCallId: 'call_2',
    toolName: 'bash',
    arguments: {},
    model: 'gpt-5',
  }),
  copilot(7, 'tool.execution_complete', {
    toolCallId: 'call_2',
    success: false,
    error: { message: 'broken', code: 'failure' },
  }),
  copilot(8, 'subagent.started', { toolCallId: 'call_1', agentName: 'explore' }, { agentId: 'agent-1' }),
  copilot(
    9,
    'subagent.completed',
    { toolCallId: 'call_1', agentName: 'explore', model: 'gpt-5', durationMs: 5 },
    { agentId: 'agent-1' },
  ),
  copilot(10, 'session.error', { errorType: 'quota', message: 'too many' }),
  copilot(11, 'session.info', { infoType: 'mcp', message: 'connected' }),
  copilot(12, 'assistant.reasoning', { reasoningId: 'r', content: 'hm' }),
  copilot(13, 'abort', { reason: 'user' }),
  copilot(14, 'session.title_changed', { title: 'Looking' }),
  copilot(15, 'session.shutdown', {
    shutdownType: 'error',
    errorReason: 'lost',
    totalPremiumRequests: 1,
    modelMetrics: {
      'gpt-5': {
        requests: { count: 1, cost: 1 },
        usage: {
          inputTokens: 10,
          outputTokens: 5,
          cacheReadTokens: 3,
          cacheWriteTokens: 0,
          reasoningTokens: 1,
        },
      },
    },
    currentModel: 'gpt-5',
  }),
]

const clineHistory = [
  { role: 'user', content: [{ type: 'text', text: 'look' }], ts: MILLIS },
  {
    id: 'm2',
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'reasoning', text: 'hm', encrypted_content: 'x' },
      { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'a.txt' } },
    ],
    ts: MILLIS + 1,
    modelInfo: { modelId: 'claude-opus-4-5', providerId: 'anthropic', mode: 'act' },
    metrics: { tokens: { prompt: 10, completion: 5, cached: 3 }, cost: 0.01 },
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'a' }] },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    ],
    ts: MILLIS + 2,
  },
]
const clineShown = [
  { ts: MILLIS, type: 'say', say: 'text', text: 'look' },
  {
    ts: MILLIS + 1,
    type: 'say',
    say: 'api_req_started',
    text: JSON.stringify({ request: 'look', tokensIn: 10, tokensOut: 5, cost: 0.01 }),
    modelInfo: { modelId: 'claude-opus-4-5', providerId: 'anthropic' },
  },
  { ts: MILLIS + 2, type: 'say', say: 'reasoning', text: 'hm' },
  { ts: MILLIS + 3, type: 'ask', ask: 'tool', text: '{"tool":"readFile","path":"a.txt"}', partial: false },
  { ts: MILLIS + 4, type: 'say', say: 'error', text: 'broken' },
  { ts: MILLIS + 5, type: 'say', say: 'command_output', text: 'a.txt' },
]
const clineSession = {
  version: 1,
  updated_at: time(9),
  agent: 'cline',
  sessionId: 'session-1',
  system_prompt: 'You look.',
  messages: [
    { id: 'm1', role: 'user', content: [{ type: 'text', text: 'look' }], ts: MILLIS },
    {
      id: 'm2',
      role: 'assistant',
      content: [{ type: 'text', text: 'I looked.' }],
      ts: MILLIS + 1,
      modelInfo: { id: 'claude-opus-4-5', provider: 'anthropic' },
      metrics: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 3, cacheWriteTokens: 0, cost: 0.01 },
    },
  ],
}

const cursorLines = [
  { role: 'user', message: { content: [{ type: 'text', text: '<user_query>\nlook\n</user_query>' }] } },
  {
    role: 'assistant',
    model: 'gpt-5',
    message: {
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'call_1', name: 'Read', input: { path: 'a.txt' } },
      ],
    },
  },
  {
    role: 'user',
    message: {
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'call_1',
          name: 'Read',
          content: [{ type: 'text', text: 'a' }],
          is_error: false,
        },
      ],
    },
  },
]

const piLine = (n: number, message: JsonObject): JsonObject => ({
  type: 'message',
  id: `e${n}`,
  parentId: n === 1 ? null : `e${n - 1}`,
  timestamp: time(n),
  message,
})
const piLines = [
  { type: 'session', version: 3, id: UUID, timestamp: time(0), cwd: '/project' },
  piLine(1, { role: 'user', content: 'look', timestamp: MILLIS }),
  piLine(2, {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'hm', thinkingSignature: 'sig' },
      { type: 'text', text: 'I look.' },
      { type: 'toolCall', id: 'call_1', name: 'bash', arguments: { command: 'ls' } },
    ],
    api: 'anthropic-messages',
    provider: 'anthropic',
    model: 'claude-opus-4-5',
    usage: {
      input: 10,
      output: 5,
      cacheRead: 3,
      cacheWrite: 1,
      totalTokens: 19,
      cost: { input: 0.01, output: 0.01, cacheRead: 0, cacheWrite: 0, total: 0.02 },
    },
    stopReason: 'toolUse',
    timestamp: MILLIS + 1,
  }),
  piLine(3, {
    role: 'toolResult',
    toolCallId: 'call_1',
    toolName: 'bash',
    content: [{ type: 'text', text: 'a.txt' }],
    isError: false,
    timestamp: MILLIS + 2,
  }),
  {
    type: 'model_change',
    id: 'e4',
    parentId: 'e3',
    timestamp: time(4),
    provider: 'openai',
    modelId: 'gpt-5',
  },
]

const compact = (type: string, more: JsonObject): JsonObject => ({
  v: 1,
  agent: 'claude-code',
  cli_version: '0.5.0',
  type,
  ts: time(1),
  ...more,
})
const compactLines = [
  compact('user', { content: [{ text: 'look' }] }),
  compact('assistant', {
    id: 'msg_1',
    input_tokens: 10,
    output_tokens: 5,
    content: [
      { type: 'text', text: 'I look.' },
      {
        type: 'tool_use',
        id: 'toolu_1',
        name: 'Bash',
        input: { command: 'ls' },
        result: { output: 'a.txt', status: 'success', file: { filePath: 'a.txt', numLines: 1 } },
      },
    ],
  }),
]

export const SAMPLES: readonly Sample[] = [
  lines('claude-code', `${UUID}.jsonl`, claudeLines),
  lines('codex', `rollout-2026-06-01T09-00-00-${UUID}.jsonl`, codexLines),
  lines('gemini-cli', 'session-1.jsonl', [geminiHeader, geminiUser, geminiAnswer]),
  document(
    'gemini-cli',
    'session-1.json',
    { ...geminiHeader, messages: [geminiUser, geminiAnswer] },
    'a document',
  ),
  document('opencode', 'export.json', opencodeExport, 'an export'),
  document('kilo', 'export.json', opencodeExport, 'an export'),
  lines('copilot-cli', 'events.jsonl', copilotLines),
  lines('cursor', 'transcript.jsonl', cursorLines),
  document('cline', 'api_conversation_history.json', clineHistory, 'what was sent'),
  document('cline', 'ui_messages.json', clineShown, 'what was shown'),
  document('cline', 'session-1.messages.json', clineSession, "a session of the CLI's"),
  lines('pi', 'session.jsonl', piLines),
  lines('entire', 'transcript.jsonl', compactLines, 'a compact transcript'),
  ...AGENT_SAMPLES,
  ...MESSAGE_SAMPLES,
  ...TRACE_SAMPLES,
]
