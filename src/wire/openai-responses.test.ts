import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectSameHoweverCut, reassemble, toSse } from '../../test/wire-streams.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { parseJson } from '../transcript/json.ts'
import type { WireMessage } from './message.ts'
import { createOpenAiResponsesReassembly, parseOpenAiResponse } from './openai-responses.ts'

const USAGE: JsonObject = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60 },
  output_tokens: 30,
  output_tokens_details: { reasoning_tokens: 10 },
  total_tokens: 130,
}
const REASONING: JsonObject = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'hm' }],
  encrypted_content: 'gAAA=',
}
const SAID: JsonObject = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Let me lóok.', annotations: [], logprobs: [] }],
}
const CALL: JsonObject = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'shell',
  arguments: '{"cmd":"ls"}',
  status: 'completed',
}
const RESPONSE: JsonObject = {
  id: 'resp_1',
  object: 'response',
  created_at: 1763164800,
  status: 'completed',
  model: 'gpt-5-2025-08-07',
  service_tier: 'default',
  error: null,
  output: [REASONING, SAID, CALL],
  usage: USAGE,
}
const BEGUN: JsonObject = {
  ...RESPONSE,
  status: 'in_progress',
  output: [],
  usage: null,
  service_tier: 'auto',
}

const added = (index: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.added',
  output_index: index,
  item,
})
const done = (index: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.done',
  output_index: index,
  item,
})
const grows = (kind: string, index: number, delta: string, more: JsonObject = {}): JsonObject => ({
  type: `response.${kind}.delta`,
  output_index: index,
  delta,
  ...more,
})

/** All but the terminal event. */
const DELTAS: Json[] = [
  { type: 'response.created', response: BEGUN, sequence_number: 0 },
  { type: 'response.in_progress', response: BEGUN },
  added(0, { ...REASONING, summary: [] }),
  grows('reasoning_summary_text', 0, 'h', { summary_index: 0 }),
  grows('reasoning_summary_text', 0, 'm', { summary_index: 0 }),
  done(0, REASONING),
  added(1, { ...SAID, status: 'in_progress', content: [] }),
  { type: 'response.content_part.added', output_index: 1, content_index: 0, part: {} },
  grows('output_text', 1, 'Let me ', { content_index: 0, obfuscation: 'x' }),
  grows('output_text', 1, 'lóok.', { content_index: 0 }),
  { type: 'response.output_text.done', output_index: 1, content_index: 0, text: 'Let me lóok.' },
  added(2, { ...CALL, arguments: '', status: 'in_progress' }),
  grows('function_call_arguments', 2, '{"cmd":'),
  grows('function_call_arguments', 2, '"ls"}'),
]
const COMPLETED: JsonObject = { type: 'response.completed', response: RESPONSE }

const read = (...events: Json[]): WireMessage => reassemble(createOpenAiResponsesReassembly, toSse(events))

describe('a response', () => {
  it('is the same streamed and whole', () => {
    expect(read(...DELTAS, COMPLETED)).toEqual(parseOpenAiResponse(RESPONSE))
  })

  it('has thoughts, text, calls, usage and the tier that was billed', () => {
    expect(parseOpenAiResponse(RESPONSE, { requestId: 'req_1' })).toEqual({
      provider: 'openai',
      messageId: 'resp_1',
      requestId: 'req_1',
      model: 'gpt-5-2025-08-07',
      role: 'assistant',
      blocks: [
        { type: 'thinking', text: 'hm', redacted: 'gAAA=' },
        { type: 'text', text: 'Let me lóok.' },
        { type: 'tool-call', callId: 'call_1', name: 'shell', input: { cmd: 'ls' } },
      ],
      extras: [
        { item: { id: 'rs_1' } },
        { item: { id: 'msg_1', status: 'completed' } },
        { item: { id: 'fc_1', status: 'completed' } },
      ],
      usage: { input: 40, cacheRead: 60, output: 30, reasoning: 10, quality: 'reported', raw: USAGE },
      stopReason: 'completed',
      serviceTier: 'default',
      complete: true,
      fields: { created_at: 1763164800 },
      unknown: [],
    })
  })

  it('is the same however its stream is cut', () => {
    expectSameHoweverCut(createOpenAiResponsesReassembly, toSse([...DELTAS.slice(0, 9), COMPLETED]))
  })
})

describe('the last event', () => {
  it('is preferred to the deltas', () => {
    const other = { ...SAID, content: [{ type: 'output_text', text: 'corrected' }] }
    const message = read(...DELTAS, {
      type: 'response.completed',
      response: { ...RESPONSE, output: [other] },
    })
    expect(message.blocks).toEqual([{ type: 'text', text: 'corrected' }])
  })

  it('missing, leaves what the deltas said, and no usage', () => {
    expect(read(...DELTAS)).toMatchObject({
      messageId: 'resp_1',
      model: 'gpt-5-2025-08-07',
      blocks: parseOpenAiResponse(RESPONSE).blocks,
      usage: { quality: 'unavailable' },
      stopReason: 'in_progress',
      complete: false,
    })
  })

  it('without its output, as some backends send it, is filled in from the items', () => {
    const message = read(...DELTAS, { type: 'response.completed', response: { ...RESPONSE, output: [] } })
    expect(message).toMatchObject({
      blocks: parseOpenAiResponse(RESPONSE).blocks,
      usage: { output: 30, quality: 'reported' },
      complete: true,
    })
  })

  it('that says incomplete gives its reason, and its usage', () => {
    const response = {
      ...RESPONSE,
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    }
    const message = read(...DELTAS, { type: 'response.incomplete', response })
    expect(message).toMatchObject({
      stopReason: 'max_output_tokens',
      usage: { output: 30, quality: 'reported' },
    })
  })

  it('that says failed gives its error', () => {
    const response = { ...BEGUN, status: 'failed', error: { code: 'server_error', message: 'gone' } }
    const message = read(DELTAS[0] ?? null, { type: 'response.failed', response })
    expect(message).toMatchObject({
      error: { code: 'server_error', message: 'gone' },
      stopReason: 'failed',
      complete: false,
    })
    expect(message.usage).toBeUndefined()
  })

  it('may be an error event, nested or flat', () => {
    const flat = { type: 'error', code: 'rate_limit', message: 'slow down', param: null }
    const nested = { type: 'error', error: { code: 'rate_limit', message: 'slow down' } }
    for (const event of [flat, nested]) {
      expect(read(...DELTAS, event)).toMatchObject({
        error: { code: 'rate_limit', message: 'slow down' },
        blocks: [{}, {}, {}],
        complete: false,
      })
    }
  })
})

describe('items', () => {
  const blocks = (...output: JsonObject[]): WireMessage => parseOpenAiResponse({ ...RESPONSE, output })

  it('of tools the client runs are calls and results, whatever the tool', () => {
    const action = { type: 'exec', command: ['ls'] }
    expect(
      blocks(
        { type: 'local_shell_call', id: 'l1', call_id: 'c1', status: 'completed', action },
        { type: 'custom_tool_call', id: 'ct', call_id: 'c2', name: 'sql', input: 'SELECT 1' },
        { type: 'custom_tool_call_output', call_id: 'c2', output: '1 row' },
      ),
    ).toMatchObject({
      blocks: [
        { type: 'tool-call', callId: 'c1', name: 'local_shell', input: { action } },
        { type: 'tool-call', callId: 'c2', name: 'sql', input: 'SELECT 1' },
        { type: 'tool-result', callId: 'c2', output: '1 row' },
      ],
      extras: [
        { item: { type: 'local_shell_call', id: 'l1', status: 'completed' } },
        { item: { type: 'custom_tool_call', id: 'ct' } },
        { item: { type: 'custom_tool_call_output' } },
      ],
    })
  })

  it('of tools the provider ran are kept verbatim', () => {
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { query: 'x' } }
    expect(blocks(search).blocks).toEqual([{ type: 'unknown', raw: search }])
  })

  it('that refuse are text, told apart', () => {
    const refusal = { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }
    expect(blocks(refusal)).toMatchObject({
      blocks: [{ type: 'text', text: 'no' }],
      extras: [{ type: 'refusal' }],
    })
  })

  it('that think aloud give their full text, and keep the summary', () => {
    const item = { ...REASONING, content: [{ type: 'reasoning_text', text: 'long' }] }
    expect(blocks(item)).toMatchObject({
      blocks: [{ type: 'thinking', text: 'long', redacted: 'gAAA=' }],
      extras: [{ item: { summary: [{ text: 'hm' }] } }],
    })
  })
})

describe('streams that misbehave', () => {
  it('unknown events are kept verbatim', () => {
    const strange: Json[] = [
      { type: 'response.hologram.delta', output_index: 0, delta: 'x' },
      { type: 'response.completed' },
      'text',
    ]
    expect(read(...DELTAS, ...strange).unknown).toEqual(strange)
  })

  it('deltas for places deep in an item are kept until the item says them itself', () => {
    const item = { type: 'apply_patch_call', id: 'a', call_id: 'c', operation: { diff: '' } }
    const diff = grows('apply_patch_call_operation_diff', 0, '+x')
    expect(read(added(0, item), diff).unknown).toEqual([diff])
    expect(read(added(0, item), diff, done(0, item)).unknown).toEqual([])
  })

  it('items whose beginning was lost are told from their deltas', () => {
    expect(read(grows('output_text', 0, 'half')).blocks).toEqual([{ type: 'text', text: 'half' }])
  })

  it('may be anything at all, and nothing throws', () => {
    const types = fc.constantFrom(
      ...DELTAS.map((event) => (event as { type: string }).type),
      'response.completed',
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(types, fc.jsonValue()), { maxLength: 6 }), (drawn) => {
        const events = drawn.map(([type, value]): Json => {
          const clean = parseJson(JSON.stringify(value)) ?? null
          return { type, output_index: 0, item: clean, response: clean, delta: clean }
        })
        expect(read(...events).role).toBe('assistant')
        for (const [, value] of drawn) {
          const clean = parseJson(JSON.stringify(value)) ?? null
          expect(parseOpenAiResponse({ output: [clean, { type: 'message', content: clean }] }).role).toBe(
            'assistant',
          )
        }
      }),
    )
  })
})
