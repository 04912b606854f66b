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

export const TRACE_SAMPLES: readonly Sample[] = [
  lines('openhands', 'output.jsonl', [openhandsResult], 'a result'),
  lines('openhands', 'events.jsonl', openhandsEvents, "the SDK's events"),
]
