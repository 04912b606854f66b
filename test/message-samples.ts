/** One small valid recording for each reader of message files, streams and the logs of smaller agents, in which every kind of field that it knows stands once. */
import type { JsonObject } from '../src/transcript/json.ts'
import type { Sample } from './kept-samples.ts'

const time = (second: number): string => new Date(Date.UTC(2026, 5, 1, 9, 0, second)).toISOString()
const MILLIS = Date.UTC(2026, 5, 1, 9)
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
  title = 'a document',
): Sample => ({ format, title, path, records, isLines: false })

const qwen = (n: number, type: string, more: JsonObject): JsonObject => ({
  uuid: `u${n}`,
  parentUuid: n === 1 ? null : `u${n - 1}`,
  sessionId: 'qwen-1',
  timestamp: time(n),
  type,
  cwd: '/project',
  version: '0.21.13',
  gitBranch: 'main',
  ...more,
})
const qwenLines = [
  qwen(1, 'user', { message: { role: 'user', parts: [{ text: 'look' }] } }),
  qwen(2, 'assistant', {
    model: 'qwen3',
    usageMetadata: {
      promptTokenCount: 30,
      cachedContentTokenCount: 10,
      candidatesTokenCount: 6,
      thoughtsTokenCount: 3,
      totalTokenCount: 39,
    },
    message: {
      role: 'model',
      parts: [
        { text: 'hm', thought: true },
        { text: 'I look.' },
        { functionCall: { id: 'call_1', name: 'read', args: { path: 'a' } } },
      ],
    },
  }),
  qwen(3, 'tool_result', {
    toolCallResult: { callId: 'call_1', status: 'success', resultDisplay: 'shown' },
    message: {
      role: 'user',
      parts: [{ functionResponse: { id: 'call_1', name: 'read', response: { output: 'a.txt' } } }],
    },
  }),
  qwen(4, 'system', { subtype: 'custom_title', systemPayload: { customTitle: 'A look' } }),
]

const kimiUsage = { inputOther: 20, output: 6, inputCacheRead: 10, inputCacheCreation: 5 }
const kimiLoop = (event: JsonObject): JsonObject => ({
  type: 'context.append_loop_event',
  event,
  time: MILLIS,
})
const kimiLines = [
  { type: 'metadata', protocol_version: '1.4', created_at: MILLIS },
  { type: 'config.update', cwd: '/project', modelAlias: 'moonshot/k2', time: MILLIS },
  {
    type: 'context.append_message',
    message: {
      role: 'user',
      content: [{ type: 'text', text: 'look' }],
      toolCalls: [],
      origin: { kind: 'user' },
    },
    time: MILLIS,
  },
  kimiLoop({ type: 'step.begin', uuid: 'st1', turnId: '0', step: 1 }),
  {
    type: 'llm.request',
    kind: 'loop',
    provider: 'kimi',
    model: 'kimi-k2',
    modelAlias: 'moonshot/k2',
    time: MILLIS,
  },
  kimiLoop({ type: 'content.part', stepUuid: 'st1', part: { type: 'think', think: 'hm' } }),
  kimiLoop({ type: 'tool.call', stepUuid: 'st1', toolCallId: 'call_1', name: 'Glob', args: { path: '*' } }),
  kimiLoop({ type: 'tool.result', toolCallId: 'call_1', result: { output: 'a.txt' } }),
  kimiLoop({
    type: 'step.end',
    uuid: 'st1',
    usage: kimiUsage,
    finishReason: 'tool_use',
    messageId: 'chatcmpl-1',
  }),
  { type: 'usage.record', model: 'moonshot/k2', usage: kimiUsage, usageScope: 'turn', time: MILLIS },
]

const iflow = (n: number, type: string, message: JsonObject): JsonObject => ({
  uuid: `u${n}`,
  parentUuid: n === 1 ? null : `u${n - 1}`,
  sessionId: 'session-1',
  timestamp: time(n),
  type,
  isSidechain: false,
  userType: 'external',
  cwd: '/project',
  gitBranch: 'main',
  version: '1.0.0',
  message,
})
const iflowLines = [
  iflow(1, 'user', { role: 'user', content: 'look' }),
  iflow(2, 'assistant', {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'glm',
    content: [
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'call_1', name: 'read', input: { path: 'a' } },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 0, output_tokens: 0 },
  }),
  iflow(3, 'user', {
    role: 'user',
    content: [
      {
        tool_use_id: 'call_1',
        type: 'tool_result',
        content: {
          callId: 'call_1',
          responseParts: { functionResponse: { id: 'call_1', name: 'read', response: { output: 'a.txt' } } },
          resultDisplay: 'shown',
        },
      },
    ],
  }),
]

const grokLines = [
  { type: 'system', content: 'be brief' },
  {
    type: 'user',
    content: [{ type: 'text', text: '<user_info/>' }],
    synthetic_reason: 'environment_context',
  },
  {
    type: 'user',
    content: [
      { type: 'image', url: 'data:image/png;base64,QUJD' },
      { type: 'text', text: 'look' },
    ],
    prompt_index: 0,
  },
  {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'hm' }],
    encrypted_content: 'sealed',
    status: 'completed',
  },
  {
    type: 'assistant',
    content: 'I look.',
    tool_calls: [{ id: 'call_1', name: 'read_file', arguments: '{"path":"a"}' }],
    model_id: 'grok-4.5',
    reasoning_effort: 'high',
  },
  { type: 'tool_result', tool_call_id: 'call_1', content: 'a.txt' },
  { type: 'backend_tool_call', kind: { tool_type: 'web_search', id: 'w' } },
]

const dsh = (seq: number, type: string, data: JsonObject): JsonObject => ({
  type,
  seq,
  time: MILLIS + seq,
  data,
})
const dshUsage = { inputTokens: 20, outputTokens: 6, cacheReadTokens: 10, reasoningTokens: 2 }
const dshLines = [
  { type: 'session', version: 0, id: 'dsh-1', createdAt: MILLIS, cwd: '/project', origin: 'cli' },
  dsh(1, 'user/message', {
    content: [{ type: 'text', text: 'look' }],
    source: { kind: 'user' },
    role: 'user',
    id: 'm1',
  }),
  dsh(2, 'assistant/message', {
    turn: 1,
    message: {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'tool-call', id: 'call_1', name: 'bash', arguments: '{"command":"ls"}' },
      ],
      source: { kind: 'model', provider: 'deepseek', model: 'v4' },
      id: 'm2',
    },
    usage: dshUsage,
  }),
  dsh(3, 'tool/result', {
    message: {
      content: [
        {
          type: 'tool-result',
          toolCallId: 'call_1',
          content: [{ type: 'text', text: 'a.txt' }],
          isError: false,
        },
      ],
      role: 'user',
      id: 'm3',
    },
  }),
  dsh(4, 'session/title', { title: 'A look' }),
]

const clawUser = { role: 'user', content: [{ type: 'text', text: 'look' }], timestamp: MILLIS }
const clawAnswer = {
  role: 'assistant',
  content: [{ type: 'toolCall', id: 'call_1', name: 'exec', arguments: { command: 'ls' } }],
  provider: 'anthropic',
  model: 'claude',
  usage: { input: 20, output: 6, cacheRead: 10, cacheWrite: 5, totalTokens: 41, cost: { total: 0.01 } },
  stopReason: 'toolUse',
  timestamp: MILLIS + 1,
}
const clawLines = [
  { type: 'message.in', channel: 'telegram', from: 'a', content: 'look', timestamp: MILLIS, ts: MILLIS },
  {
    type: 'agent.start',
    sessionKey: 'agent:main:main',
    agentId: 'main',
    prompt: 'look',
    messages: [clawUser],
  },
  { type: 'tool.start', toolName: 'exec', params: { command: 'ls' }, sessionKey: 'agent:main:main' },
  { type: 'tool.end', toolName: 'exec', durationMs: 439, success: true, sessionKey: 'agent:main:main' },
  {
    type: 'agent.end',
    sessionKey: 'agent:main:main',
    agentId: 'main',
    success: true,
    messages: [clawUser, clawAnswer],
  },
]

const managed = (n: number, type: string, more: JsonObject): JsonObject => ({
  type,
  id: `sevt_${n}`,
  processed_at: time(n),
  ...more,
})
const managedEvents = [
  managed(1, 'user.message', { content: [{ type: 'text', text: 'look' }] }),
  managed(2, 'span.model_request_start', {}),
  managed(3, 'agent.thinking', { content: [{ type: 'text', text: 'hm' }] }),
  managed(4, 'agent.custom_tool_use', { name: 'ls', input: { path: 'a' } }),
  managed(5, 'span.model_request_end', {
    model_request_start_id: 'sevt_2',
    model_usage: { input_tokens: 20, cache_read_input_tokens: 10, output_tokens: 6 },
  }),
  managed(6, 'user.custom_tool_result', {
    custom_tool_use_id: 'sevt_4',
    content: [{ type: 'text', text: 'a.txt' }],
    is_error: false,
  }),
  managed(7, 'agent.message', { content: [{ type: 'text', text: 'I looked.' }] }),
  managed(8, 'session.status_idle', { stop_reason: { type: 'end_turn' } }),
]

const tui = (n: number, msg: JsonObject): JsonObject => ({
  ts: time(n),
  dir: 'to_tui',
  kind: 'codex_event',
  payload: { id: '1', msg },
})
const tuiLines = [
  { ts: time(1), dir: 'meta', kind: 'session_start', cwd: '/project', model: 'gpt-oss' },
  tui(2, { type: 'session_configured', session_id: 't1', model: 'gpt-oss:20b' }),
  {
    ts: time(3),
    dir: 'from_tui',
    kind: 'op',
    payload: { type: 'user_input', items: [{ type: 'text', text: 'look' }] },
  },
  tui(4, { type: 'exec_command_begin', call_id: 'call_1', command: ['ls'], cwd: '/project' }),
  tui(5, { type: 'exec_command_end', call_id: 'call_1', stdout: 'a.txt', stderr: '', exit_code: 1 }),
  tui(6, { type: 'agent_message', message: 'I looked.' }),
  tui(7, {
    type: 'token_count',
    input_tokens: 30,
    cached_input_tokens: 10,
    output_tokens: 6,
    reasoning_output_tokens: 2,
    total_tokens: 36,
  }),
]

const claudeStream = [
  {
    type: 'system',
    subtype: 'init',
    session_id: 's1',
    model: 'claude',
    claude_code_version: '2.1.0',
    cwd: '/project',
    tools: ['Read'],
  },
  {
    type: 'assistant',
    session_id: 's1',
    uuid: 'u1',
    parent_tool_use_id: null,
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { path: 'a' } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 20, cache_read_input_tokens: 10, output_tokens: 1 },
    },
  },
  {
    type: 'user',
    session_id: 's1',
    uuid: 'u2',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'a.txt' }] },
  },
  {
    type: 'result',
    subtype: 'success',
    session_id: 's1',
    is_error: false,
    num_turns: 1,
    duration_ms: 900,
    result: 'I looked.',
    total_cost_usd: 0.25,
    modelUsage: {
      claude: { inputTokens: 20, outputTokens: 6, cacheReadInputTokens: 10, cacheCreationInputTokens: 0 },
    },
  },
]

const geminiStream = [
  { type: 'init', session_id: 'g1', model: 'gemini', timestamp: time(0) },
  { type: 'message', role: 'user', content: 'look', timestamp: time(1) },
  { type: 'message', role: 'assistant', content: 'I look.', delta: true, timestamp: time(2) },
  { type: 'tool_use', tool_name: 'ls', tool_id: 'call_1', parameters: { path: 'a' }, timestamp: time(3) },
  { type: 'tool_result', tool_id: 'call_1', status: 'success', output: 'a.txt', timestamp: time(4) },
  {
    type: 'result',
    status: 'success',
    stats: {
      total_tokens: 36,
      input_tokens: 30,
      cached: 10,
      output_tokens: 6,
      duration_ms: 900,
      tool_calls: 1,
    },
    timestamp: time(5),
  },
]

const chatCall = { id: 'call_1', type: 'function', function: { name: 'ls', arguments: '{"path":"a"}' } }
const chatMessages = [
  { role: 'system', content: 'be brief' },
  { role: 'user', content: [{ type: 'text', text: 'look' }], name: 'me' },
  { role: 'assistant', content: 'I look.', tool_calls: [chatCall], weight: 1 },
  { role: 'tool', tool_call_id: 'call_1', content: 'a.txt' },
]
const chatBatch = [
  {
    id: 'batch_1',
    custom_id: 'one',
    response: {
      status_code: 200,
      request_id: 'req_1',
      body: {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: MILLIS / 1000,
        model: 'gpt-5',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'I look.' } }],
        usage: { prompt_tokens: 30, completion_tokens: 6, prompt_tokens_details: { cached_tokens: 10 } },
      },
    },
  },
]

const anthropicRequest = {
  model: 'claude',
  max_tokens: 9,
  system: [{ type: 'text', text: 'be brief' }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'look', cache_control: { type: 'ephemeral' } }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'tool_use', id: 'toolu_1', name: 'ls', input: { path: 'a' } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'a.txt' }] },
  ],
}

const response = {
  id: 'resp_1',
  object: 'response',
  created_at: MILLIS / 1000,
  model: 'gpt-5',
  status: 'completed',
  output: [
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'hm' }],
      encrypted_content: 'sealed',
    },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
    },
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'ls', arguments: '{"path":"a"}' },
  ],
  usage: {
    input_tokens: 30,
    input_tokens_details: { cached_tokens: 10 },
    output_tokens: 6,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 36,
  },
}

const contents = {
  contents: [
    { role: 'user', parts: [{ text: 'look' }] },
    { role: 'model', parts: [{ functionCall: { name: 'ls', args: { path: 'a' } } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'ls', response: { output: 'a.txt' } } }] },
  ],
  generationConfig: { temperature: 0 },
}

const uiMessages = [
  {
    id: 'u1',
    role: 'user',
    parts: [
      { type: 'text', text: 'look' },
      { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,QUJD' },
    ],
  },
  {
    id: 'a1',
    role: 'assistant',
    metadata: {
      model: 'gpt-5',
      createdAt: time(1),
      usage: { inputTokens: 30, cachedInputTokens: 10, outputTokens: 6, reasoningTokens: 2 },
    },
    parts: [
      { type: 'step-start' },
      { type: 'reasoning', text: 'hm', state: 'done' },
      {
        type: 'tool-ls',
        toolCallId: 'call_1',
        state: 'output-available',
        input: { path: 'a' },
        output: { seen: 'a.txt' },
      },
      { type: 'text', text: 'I looked.', state: 'done' },
      { type: 'source-url', sourceId: 'src', url: 'https://x.example' },
    ],
  },
]

const attribute = (key: string, value: JsonObject): JsonObject => ({ key, value })
const nanos = (second: number): string => `${MILLIS + second * 1000}000000`
const otlpExport = {
  resourceSpans: [
    {
      resource: { attributes: [attribute('service.name', { stringValue: 'demo' })] },
      scopeSpans: [
        {
          scope: { name: 'lib', version: '1' },
          spans: [
            {
              traceId: '5b8efff798038103d269b633813fc60c',
              spanId: 'eee19b7ec3c1b174',
              name: 'chat gpt-5',
              kind: 3,
              startTimeUnixNano: nanos(1),
              endTimeUnixNano: nanos(2),
              attributes: [
                attribute('gen_ai.operation.name', { stringValue: 'chat' }),
                attribute('gen_ai.provider.name', { stringValue: 'openai' }),
                attribute('gen_ai.request.model', { stringValue: 'gpt-5' }),
                attribute('gen_ai.response.id', { stringValue: 'resp_1' }),
                attribute('gen_ai.usage.input_tokens', { intValue: '30' }),
                attribute('gen_ai.usage.output_tokens', { intValue: '6' }),
                attribute('gen_ai.input.messages', {
                  stringValue: '[{"role":"user","parts":[{"type":"text","content":"look"}]}]',
                }),
                attribute('gen_ai.output.messages', {
                  stringValue:
                    '[{"role":"assistant","parts":[{"type":"text","content":"I look."}],"finish_reason":"stop"}]',
                }),
              ],
              status: {},
            },
          ],
        },
      ],
    },
  ],
}

const genericLines = [
  { role: 'user', content: 'look', mood: 'good', at: time(1), id: 'm1', name: 'me' },
  { role: 'assistant', content: [{ type: 'text', text: 'I look.' }], model: 'm', id: 'm2', score: 1 },
]

/** Of agents' own logs. */
export const AGENT_SAMPLES: readonly Sample[] = [
  lines('qwen', 'qwen-1.jsonl', qwenLines),
  lines('kimi', 'wire.jsonl', kimiLines),
  lines('iflow', 'session-1.jsonl', iflowLines),
  lines('grok', 'chat_history.jsonl', grokLines),
  lines('dsh', 'session.jsonl', dshLines),
  lines('openclaw-telemetry', 'telemetry.jsonl', clawLines),
  lines('anthropic-managed-agents', 'events.jsonl', managedEvents),
  lines('codex-tui-log', 'session.jsonl', tuiLines),
  lines('claude-stream-json', 'out.jsonl', claudeStream),
  lines('gemini-stream-json', 'out.jsonl', geminiStream),
]

/** Of providers' and others' messages. */
export const MESSAGE_SAMPLES: readonly Sample[] = [
  document('openai-chat', 'chat.json', chatMessages),
  lines('openai-chat', 'batch.jsonl', chatBatch, 'a batch'),
  document('anthropic-messages', 'request.json', anthropicRequest),
  document('openai-responses', 'response.json', response),
  document('gemini-contents', 'contents.json', contents),
  document('vercel-ui-messages', 'messages.json', uiMessages),
  document('otel', 'trace.json', otlpExport),
  lines('generic', 'some.jsonl', genericLines),
]
