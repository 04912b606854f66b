/** One small valid recording for each reader of trajectories, traces and exports, in which every kind of field that it knows stands once. */
import type { JsonObject } from '../src/transcript/json.ts'
import type { Sample } from './kept-samples.ts'

const time = (second: number): string => new Date(Date.UTC(2026, 5, 1, 9, 0, second)).toISOString()
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

const openhandsResult = {
  instance_id: 'demo-1',
  instruction: 'look',
  metrics: { accumulated_cost: 0.5, accumulated_token_usage: { prompt_tokens: 30, completion_tokens: 6 } },
  history: [
    { id: 0, timestamp: time(1), source: 'user', action: 'message', args: { content: 'look' } },
    {
      id: 1,
      timestamp: time(2),
      source: 'agent',
      action: 'run',
      args: { command: 'ls', thought: 'I look.' },
      tool_call_metadata: {
        function_name: 'execute_bash',
        tool_call_id: 'call_1',
        model_response: {
          id: 'resp_1',
          model: 'gpt-5',
          choices: [{ finish_reason: 'tool_calls', message: { role: 'assistant', content: 'I look.' } }],
          usage: { prompt_tokens: 30, completion_tokens: 6 },
        },
      },
    },
    {
      id: 2,
      timestamp: time(3),
      source: 'agent',
      observation: 'run',
      content: 'a.txt',
      cause: 1,
      extras: { exit_code: 0 },
    },
  ],
}

const openhandsEvents = [
  {
    id: 'e1',
    timestamp: time(1),
    source: 'user',
    kind: 'MessageEvent',
    llm_message: { role: 'user', content: [{ type: 'text', text: 'look' }] },
  },
  {
    id: 'e2',
    timestamp: time(2),
    source: 'environment',
    kind: 'ConversationStateUpdateEvent',
    key: 'stats',
    value: {
      usage_to_metrics: {
        default: {
          model_name: 'gpt-5',
          accumulated_token_usage: { prompt_tokens: 30, completion_tokens: 6, cache_read_tokens: 10 },
        },
      },
    },
  },
  {
    id: 'e3',
    timestamp: time(3),
    source: 'agent',
    kind: 'ActionEvent',
    thought: [{ type: 'text', text: 'I look.' }],
    reasoning_content: 'hm',
    action: { command: 'ls', kind: 'TerminalAction' },
    tool_name: 'terminal',
    tool_call_id: 'call_1',
    tool_call: { id: 'call_1', name: 'terminal', arguments: '{"command":"ls"}' },
    llm_response_id: 'resp_1',
  },
  {
    id: 'e4',
    timestamp: time(4),
    source: 'environment',
    kind: 'ObservationEvent',
    tool_name: 'terminal',
    tool_call_id: 'call_1',
    observation: { content: [{ type: 'text', text: 'a.txt' }], is_error: false, exit_code: 0 },
    action_id: 'e3',
  },
]

const sweTrajectory = {
  environment: 'swe_main',
  trajectory: [
    {
      action: 'ls',
      observation: 'a.txt',
      response: 'I look.',
      thought: 'I look.',
      execution_time: 0.5,
      state: { open_file: 'n/a' },
    },
  ],
  history: [
    { role: 'system', content: 'be brief', agent: 'main', message_type: 'system_prompt' },
    { role: 'user', content: 'look', agent: 'main', message_type: 'observation', is_demo: true },
    {
      role: 'assistant',
      content: 'I look.',
      agent: 'main',
      thought: 'I look.',
      action: 'ls',
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } },
      ],
    },
    { role: 'tool', content: 'a.txt', agent: 'main', tool_call_ids: ['call_1'] },
  ],
  info: {
    model_stats: { instance_cost: 0.5, tokens_sent: 30, tokens_received: 6 },
    exit_status: 'submitted',
  },
  replay_config: '{"problem_statement":{"id":"demo-1"},"agent":{"model":{"name":"gpt-5"}}}',
}

const miniTrajectory = {
  trajectory_format: 'mini-swe-agent-1.1',
  instance_id: 'demo-1',
  info: {
    mini_version: '1.17',
    exit_status: 'Submitted',
    model_stats: { instance_cost: 0.5, api_calls: 1 },
    config: { model: { model_name: 'gpt-5' }, environment: { cwd: '/project' } },
  },
  messages: [
    { role: 'system', content: 'be brief' },
    {
      role: 'assistant',
      content: 'I look.',
      extra: {
        timestamp: 1780304400.5,
        actions: [{ command: 'ls' }],
        response: {
          id: 'resp_1',
          model: 'gpt-5',
          object: 'chat.completion',
          choices: [{ finish_reason: 'stop', index: 0, message: { role: 'assistant', content: 'I look.' } }],
          usage: { prompt_tokens: 30, completion_tokens: 6 },
        },
      },
    },
  ],
}

const atifTrajectory = {
  schema_version: 'ATIF-v1.7',
  session_id: 'run-1',
  trajectory_id: 'main-1',
  agent: {
    name: 'harness',
    version: '1.0',
    model_name: 'gpt-5',
    tool_definitions: [{ type: 'function' }],
    extra: { seed: 1 },
  },
  notes: 'a note',
  steps: [
    { step_id: 1, timestamp: time(1), source: 'user', message: [{ type: 'text', text: 'look' }] },
    {
      step_id: 2,
      timestamp: time(2),
      source: 'agent',
      model_name: 'gpt-5-mini',
      reasoning_effort: 'high',
      message: 'I look.',
      reasoning_content: 'hm',
      tool_calls: [{ tool_call_id: 'call_1', function_name: 'bash', arguments: { command: 'ls' } }],
      observation: {
        results: [
          {
            source_call_id: 'call_1',
            content: 'a.txt',
            subagent_trajectory_ref: [{ trajectory_id: 'sub-1' }],
          },
        ],
      },
      metrics: {
        prompt_tokens: 30,
        completion_tokens: 6,
        cached_tokens: 10,
        cost_usd: 0.5,
        extra: { tier: 'flex' },
      },
      llm_call_count: 1,
      extra: { note: 'x' },
    },
  ],
  final_metrics: { total_prompt_tokens: 30, total_completion_tokens: 6, total_cost_usd: 0.5, total_steps: 2 },
  subagent_trajectories: [
    {
      schema_version: 'ATIF-v1.7',
      trajectory_id: 'sub-1',
      agent: { name: 'helper', version: '1.0' },
      steps: [{ step_id: 1, source: 'user', message: 'help' }],
    },
  ],
}

const atofEvent = (second: number, more: JsonObject): JsonObject => ({
  kind: 'scope',
  atof_version: '0.1',
  parent_uuid: 'agent-1',
  timestamp: time(second),
  data_schema: { name: 'openai/chat-completions', version: '1' },
  attributes: ['remote'],
  metadata: { note: 'x' },
  ...more,
})
const atofEvents = [
  atofEvent(1, {
    scope_category: 'start',
    category: 'agent',
    uuid: 'agent-1',
    parent_uuid: null,
    name: 'main',
    data: { input: 'look' },
  }),
  atofEvent(2, {
    scope_category: 'start',
    category: 'llm',
    uuid: 'llm-1',
    name: 'gpt-5',
    category_profile: { model_name: 'gpt-5' },
    data: { messages: [{ role: 'user', content: 'look' }], temperature: 0 },
  }),
  atofEvent(3, {
    scope_category: 'end',
    category: 'llm',
    uuid: 'llm-1',
    name: 'gpt-5',
    category_profile: { model_name: 'gpt-5' },
    data: {
      content: 'I look.',
      tool_calls: [{ id: 'call_1', name: 'bash', arguments: { command: 'ls' } }],
      usage: { prompt_tokens: 30, completion_tokens: 6 },
    },
  }),
  atofEvent(4, {
    scope_category: 'end',
    category: 'tool',
    uuid: 'tool-1',
    name: 'bash',
    category_profile: { tool_call_id: 'call_1' },
    data: { result: 'a.txt' },
  }),
]

const inspectMessage = (id: string, role: string, more: JsonObject): JsonObject => ({
  id,
  role,
  source: 'input',
  ...more,
})
const inspectAnswer = inspectMessage('m2', 'assistant', {
  content: [
    { type: 'reasoning', reasoning: 'hm', signature: 'sig' },
    { type: 'text', text: 'I look.' },
  ],
  tool_calls: [{ id: 'call_1', function: 'bash', arguments: { command: 'ls' }, type: 'function' }],
})
const inspectSample = {
  id: 1,
  epoch: 1,
  input: 'look',
  target: 'a.txt',
  uuid: 'sample-1',
  // Those of the events are not told again.
  messages: [inspectMessage('m3', 'system', { content: 'be brief' })],
  events: [
    { event: 'span_begin', id: 's1', name: 'solvers', type: 'solvers', timestamp: time(1), uuid: 'u1' },
    {
      event: 'model',
      uuid: 'u2',
      span_id: 's1',
      timestamp: time(2),
      completed: time(3),
      model: 'openai/gpt-5',
      input: [inspectMessage('m1', 'user', { content: 'attachment://0123456789abcdef0123456789abcdef' })],
      tools: [{ name: 'bash' }],
      config: { temperature: 0 },
      output: {
        model: 'gpt-5',
        choices: [{ message: inspectAnswer, stop_reason: 'tool_calls' }],
        usage: { input_tokens: 20, output_tokens: 6, total_tokens: 36, input_tokens_cache_read: 10 },
        time: 1,
      },
    },
    {
      event: 'tool',
      uuid: 'u3',
      timestamp: time(3),
      completed: time(4),
      id: 'call_1',
      function: 'bash',
      arguments: { command: 'ls' },
      result: 'a.txt',
      error: { type: 'timeout', message: 'slow' },
    },
    { event: 'score', uuid: 'u4', timestamp: time(5), score: { value: 'C' } },
  ],
  attachments: { '0123456789abcdef0123456789abcdef': 'look' },
  model_usage: { 'openai/gpt-5': { input_tokens: 20, output_tokens: 6, total_tokens: 36 } },
  error: { message: 'no room' },
  limit: { type: 'token' },
}
const inspectLog = {
  version: 2,
  status: 'success',
  eval: { eval_id: 'eval-1', run_id: 'run-1', task: 'demo', model: 'openai/gpt-5', created: time(0) },
  plan: { name: 'plan', steps: [] },
  stats: { started_at: time(0), completed_at: time(6) },
  samples: [inspectSample],
}

const langsmithRun = (n: number, type: string, more: JsonObject): JsonObject => ({
  id: `run-${n}`,
  trace_id: 'trace-1',
  parent_run_id: n === 1 ? null : 'run-1',
  dotted_order: `2026060109000${n}000000Z`,
  name: `step ${n}`,
  run_type: type,
  start_time: time(n),
  end_time: time(n + 1),
  tags: ['a'],
  session_id: 'project-1',
  ...more,
})
const langsmithRuns = [
  langsmithRun(1, 'chain', { inputs: { question: 'look' }, outputs: { answer: 'done' }, total_tokens: 36 }),
  langsmithRun(2, 'llm', {
    extra: {
      metadata: { ls_provider: 'openai', ls_model_name: 'gpt-5' },
      invocation_params: { temperature: 0 },
    },
    inputs: { messages: [{ role: 'user', content: 'look' }] },
    outputs: {
      messages: [
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } },
          ],
        },
      ],
      usage_metadata: { input_tokens: 30, output_tokens: 6, input_token_details: { cache_read: 10 } },
    },
    error: 'cut off',
  }),
  langsmithRun(3, 'tool', {
    inputs: { input: 'ls' },
    outputs: { output: { type: 'tool', content: 'a.txt', tool_call_id: 'call_1' } },
    error: 'slow',
  }),
]

const MILLIS = Date.UTC(2026, 5, 1, 9)

const droidLines = [
  { type: 'session_start', id: 'droid-1', title: 'look', cwd: '/project', owner: 'me', version: '0.81.0' },
  {
    type: 'message',
    id: 'm1',
    parentId: 'droid-1',
    timestamp: time(1),
    message: { role: 'user', content: [{ type: 'text', text: 'look' }] },
  },
  {
    type: 'message',
    id: 'm2',
    parentId: 'm1',
    timestamp: time(2),
    message: {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'toolu_1', name: 'Execute', input: { command: 'ls' } }],
    },
  },
  {
    type: 'message',
    id: 'm3',
    timestamp: time(3),
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'a.txt' }] },
  },
]
const droidPrinted = [
  {
    type: 'system',
    subtype: 'init',
    sessionId: 'droid-1',
    timestamp: MILLIS,
    model: 'claude',
    cwd: '/project',
    id: 's1',
  },
  { type: 'message', sessionId: 'droid-1', timestamp: MILLIS + 1, role: 'user', text: 'look', id: 'm1' },
  {
    type: 'tool_call',
    sessionId: 'droid-1',
    timestamp: MILLIS + 2,
    id: 'call_1',
    toolName: 'Execute',
    parameters: { command: 'ls' },
  },
  {
    type: 'tool_result',
    sessionId: 'droid-1',
    timestamp: MILLIS + 3,
    id: 'call_1',
    toolId: 'Execute',
    isError: true,
    value: 'a.txt',
  },
  {
    type: 'completion',
    sessionId: 'droid-1',
    timestamp: MILLIS + 4,
    finalText: 'Done',
    usage: { input_tokens: 20, output_tokens: 6, cache_read_input_tokens: 10 },
  },
]

const antigravityStep = (n: number, type: string, source: string, more: JsonObject): JsonObject => ({
  step_index: n,
  source,
  type,
  status: 'DONE',
  created_at: time(n),
  ...more,
})
const antigravitySteps = [
  antigravityStep(1, 'USER_INPUT', 'USER_EXPLICIT', { content: 'look' }),
  antigravityStep(2, 'PLANNER_RESPONSE', 'MODEL', {
    thinking: 'hm',
    content: 'I look.',
    tool_calls: [{ name: 'list_dir', args: { DirectoryPath: '"/project"' } }],
  }),
  antigravityStep(3, 'LIST_DIRECTORY', 'MODEL', { content: 'a.txt', truncated_fields: ['content'] }),
]

const hermesSession = {
  session_id: 'hermes-1',
  model: 'gpt-5',
  platform: 'cli',
  session_start: time(0),
  last_updated: time(9),
  model_config: { cwd: '/project' },
  system_prompt: 'be brief',
  messages: [
    { role: 'user', content: 'look' },
    {
      role: 'assistant',
      content: 'I look.',
      reasoning: 'hm',
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'shell', arguments: '{"command":"ls"}' } },
      ],
      finish_reason: 'tool_calls',
    },
    { role: 'tool', content: 'a.txt', tool_call_id: 'call_1', tool_name: 'shell', timestamp: time(3) },
  ],
}

const ampThread = {
  v: 3,
  id: 'T-00000000-0000-4000-8000-000000000001',
  created: MILLIS,
  title: 'look',
  env: {
    initial: {
      trees: [
        {
          uri: 'file:///project',
          repository: { url: 'https://git.example/x', ref: 'refs/heads/main', sha: 'abc' },
        },
      ],
    },
  },
  messages: [
    { role: 'user', messageId: 0, content: [{ type: 'text', text: 'look' }], meta: { sentAt: MILLIS } },
    {
      role: 'assistant',
      messageId: 1,
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { cmd: 'ls' } },
      ],
      usage: {
        model: 'claude',
        inputTokens: 20,
        outputTokens: 6,
        cacheCreationInputTokens: 5,
        cacheReadInputTokens: 10,
        timestamp: time(2),
      },
      state: { type: 'complete', stopReason: 'tool_use' },
    },
  ],
  meta: { traces: [] },
}

const continueSession = {
  sessionId: 'continue-1',
  title: 'look',
  workspaceDirectory: 'file:///project',
  history: [
    { message: { role: 'user', content: 'look', id: 'm1' }, contextItems: [{ name: 'a.txt', content: 'x' }] },
    {
      message: {
        role: 'assistant',
        content: 'I look.',
        toolCalls: [{ id: 'call_1', type: 'function', function: { name: 'ls', arguments: '{"dir":"."}' } }],
        usage: { promptTokens: 30, completionTokens: 6, promptTokensDetails: { cachedTokens: 10 } },
      },
      promptLogs: [{ modelTitle: 'GPT-5', prompt: 'look', completion: 'I look.' }],
      toolCallStates: [{ toolCallId: 'call_1', status: 'done', output: [{ name: 'out', content: 'a.txt' }] }],
    },
  ],
  usage: { promptTokens: 30, completionTokens: 6, totalCost: 0.5 },
}

const gooseLines = [
  {
    working_dir: '/project',
    description: 'look',
    message_count: 2,
    accumulated_input_tokens: 30,
    accumulated_output_tokens: 6,
  },
  { id: 'm1', role: 'user', created: MILLIS / 1000, content: [{ type: 'text', text: 'look' }] },
  {
    id: 'm2',
    role: 'assistant',
    created: MILLIS / 1000 + 1,
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      {
        type: 'toolRequest',
        id: 'call_1',
        toolCall: { status: 'success', value: { name: 'shell', arguments: { command: 'ls' } } },
      },
    ],
  },
  {
    id: 'm3',
    role: 'user',
    created: MILLIS / 1000 + 2,
    content: [
      {
        type: 'toolResponse',
        id: 'call_1',
        toolResult: { status: 'success', value: [{ type: 'text', text: 'a.txt' }] },
      },
    ],
    metadata: { userVisible: true },
  },
]

const chatgptConversations = [
  {
    conversation_id: 'chat-1',
    title: 'look',
    create_time: MILLIS / 1000,
    update_time: MILLIS / 1000 + 9,
    default_model_slug: 'gpt-5',
    current_node: 'n2',
    mapping: {
      n0: { id: 'n0', message: null, parent: null, children: ['n1'] },
      n1: {
        id: 'n1',
        parent: 'n0',
        children: ['n2'],
        message: {
          id: 'm1',
          author: { role: 'user' },
          create_time: MILLIS / 1000 + 1,
          content: { content_type: 'text', parts: ['look'] },
          weight: 1,
        },
      },
      n2: {
        id: 'n2',
        parent: 'n1',
        children: [],
        message: {
          id: 'm2',
          author: { role: 'assistant' },
          create_time: MILLIS / 1000 + 2,
          content: { content_type: 'thoughts', thoughts: [{ summary: 'a', content: 'hm' }] },
          metadata: { model_slug: 'gpt-5' },
        },
      },
    },
  },
]

const claudeConversations = [
  {
    uuid: 'conv-1',
    name: 'look',
    created_at: time(0),
    updated_at: time(9),
    account: { uuid: 'me' },
    chat_messages: [
      {
        uuid: 'm1',
        sender: 'human',
        text: 'look',
        created_at: time(1),
        attachments: [{ file_name: 'a.txt' }],
      },
      {
        uuid: 'm2',
        parent_message_uuid: 'm1',
        sender: 'assistant',
        text: 'I look.',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'sig' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'search', input: { q: 'x' } },
        ],
        created_at: time(2),
      },
    ],
  },
]

const tracedCalls = [
  {
    request: {
      timestamp: MILLIS / 1000,
      method: 'POST',
      url: 'https://api.anthropic.com/v1/messages',
      headers: { 'user-agent': 'x' },
      body: { model: 'claude', max_tokens: 10, messages: [{ role: 'user', content: 'look' }] },
    },
    response: {
      timestamp: MILLIS / 1000 + 1,
      status_code: 200,
      headers: { 'request-id': 'req_1' },
      body: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude',
        content: [{ type: 'text', text: 'I look.' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 20, output_tokens: 6 },
      },
    },
    logged_at: time(3),
  },
]

/** Read by code that has its own proofs of keeping what it does not understand. */
export const WIRE_SAMPLES: readonly Sample[] = [
  lines('har', 'log.jsonl', tracedCalls, 'claude-trace'),
  document('har', 'x.har', {
    log: {
      version: '1.2',
      creator: { name: 'x' },
      entries: tracedCalls.map(({ request, response }) => ({
        startedDateTime: time(1),
        time: 1000,
        request: {
          method: 'POST',
          url: request.url,
          headers: [],
          postData: { text: JSON.stringify(request.body) },
        },
        response: { status: 200, headers: [], content: { text: JSON.stringify(response.body) } },
      })),
    },
  }),
]

export const TRACE_SAMPLES: readonly Sample[] = [
  document('chatgpt-export', 'conversations.json', chatgptConversations),
  document('claude-export', 'conversations.json', claudeConversations),
  lines('droid', 'droid-1.jsonl', droidLines),
  lines('droid', 'printed.jsonl', droidPrinted, 'what it prints'),
  lines('antigravity', 'transcript.jsonl', antigravitySteps),
  document('hermes', 'session.json', hermesSession),
  document('amp', 'T-1.json', ampThread),
  document('continue', 'continue-1.json', continueSession),
  lines('goose', '20260601_1.jsonl', gooseLines),
  lines('langsmith', 'runs.jsonl', langsmithRuns),
  document('inspect', 'log.json', inspectLog),
  document(
    'inspect',
    '1_epoch_1.json',
    {
      id: 1,
      epoch: 1,
      target: 'a.txt',
      messages: [
        inspectMessage('m1', 'user', { content: 'look' }),
        inspectAnswer,
        inspectMessage('m3', 'tool', { content: 'a.txt', tool_call_id: 'call_1', function: 'bash' }),
      ],
      output: { model: 'gpt-5', usage: { input_tokens: 20, output_tokens: 6, total_tokens: 26 } },
    },
    'a sample without events',
  ),
  document('swe-agent', 'demo-1.traj', sweTrajectory),
  document('mini-swe-agent', 'demo-1.traj.json', miniTrajectory),
  document('atif', 'trajectory.json', atifTrajectory),
  lines('atof', 'events.jsonl', atofEvents),
  lines('openhands', 'output.jsonl', [openhandsResult], 'a result'),
  lines('openhands', 'events.jsonl', openhandsEvents, "the SDK's events"),
]
