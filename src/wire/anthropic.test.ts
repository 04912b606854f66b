import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bestOf, expectSameHoweverCut, reassemble, toSse } from '../../test/wire-streams.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { parseJson } from '../transcript/json.ts'
import { createAnthropicReassembly, parseAnthropicMessage } from './anthropic.ts'
import type { WireMessage } from './message.ts'

const start = (usage: JsonObject = {}, id = 'msg_1'): JsonObject => ({
  type: 'message_start',
  message: {
    id,
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 10, output_tokens: 1, ...usage },
  },
})
const open = (index: number, block: JsonObject): JsonObject => ({
  type: 'content_block_start',
  index,
  content_block: block,
})
const delta = (index: number, change: JsonObject): JsonObject => ({
  type: 'content_block_delta',
  index,
  delta: change,
})
const text = (index: number, said: string): JsonObject => delta(index, { type: 'text_delta', text: said })
const json = (index: number, partial: string): JsonObject =>
  delta(index, { type: 'input_json_delta', partial_json: partial })
const close = (index: number): JsonObject => ({ type: 'content_block_stop', index })
const change = (usage: JsonObject, stopReason: string | null = 'end_turn'): JsonObject => ({
  type: 'message_delta',
  delta: { stop_reason: stopReason, stop_sequence: null },
  usage,
})
const stop: JsonObject = { type: 'message_stop' }

const read = (...events: Json[]): WireMessage => reassemble(createAnthropicReassembly, toSse(events))

const TURN: Json[] = [
  start({
    cache_creation_input_tokens: 5,
    cache_creation: { ephemeral_5m_input_tokens: 5 },
    service_tier: 'batch',
  }),
  open(0, { type: 'thinking', thinking: '', signature: '' }),
  { type: 'ping' },
  delta(0, { type: 'thinking_delta', thinking: 'hm ' }),
  delta(0, { type: 'thinking_delta', thinking: '🤔' }),
  delta(0, { type: 'signature_delta', signature: 'early' }),
  delta(0, { type: 'signature_delta', signature: 'c2ln' }),
  close(0),
  open(1, { type: 'redacted_thinking', data: 'ZW5j' }),
  close(1),
  open(2, { type: 'text', text: '' }),
  text(2, 'Let me '),
  text(2, 'lóok.'),
  delta(2, { type: 'citations_delta', citation: { type: 'page_location', page: 1 } }),
  close(2),
  open(3, { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }),
  json(3, '{"query":'),
  json(3, '"x"}'),
  close(3),
  open(4, { type: 'web_search_tool_result', tool_use_id: 's1', content: [{ type: 'web_search_result' }] }),
  close(4),
  open(5, { type: 'tool_use', id: 't1', name: 'Bash', input: {}, caller: { type: 'direct' } }),
  json(5, ''),
  json(5, '{"command":"l'),
  json(5, 's"}'),
  close(5),
  change({ output_tokens: 42 }, 'tool_use'),
  stop,
]

/** The same turn, as the API answers without streaming. */
const WHOLE: Json = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-5',
  content: [
    { type: 'thinking', thinking: 'hm 🤔', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'ZW5j' },
    { type: 'text', text: 'Let me lóok.', citations: [{ type: 'page_location', page: 1 }] },
    { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'x' } },
    { type: 'web_search_tool_result', tool_use_id: 's1', content: [{ type: 'web_search_result' }] },
    { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' }, caller: { type: 'direct' } },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: {
    input_tokens: 10,
    output_tokens: 42,
    cache_creation_input_tokens: 5,
    cache_creation: { ephemeral_5m_input_tokens: 5 },
    service_tier: 'batch',
  },
}

describe('a message', () => {
  it('is the same streamed and whole', () => {
    expect(read(...TURN)).toEqual(parseAnthropicMessage(WHOLE))
  })

  it('has blocks, their extras by place, usage, tier and stop reason', () => {
    expect(parseAnthropicMessage(WHOLE, { requestId: 'req_1' })).toMatchObject({
      provider: 'anthropic',
      messageId: 'msg_1',
      requestId: 'req_1',
      model: 'claude-sonnet-5',
      blocks: [
        { type: 'thinking', text: 'hm 🤔', signature: 'c2ln' },
        { type: 'thinking', text: '', redacted: 'ZW5j' },
        { type: 'text', text: 'Let me lóok.' },
        { type: 'unknown', raw: { type: 'server_tool_use' } },
        { type: 'unknown', raw: { type: 'web_search_tool_result' } },
        { type: 'tool-call', callId: 't1', name: 'Bash', input: { command: 'ls' } },
      ],
      extras: [null, null, { citations: [{ page: 1 }] }, null, null, { caller: { type: 'direct' } }],
      usage: { input: 10, cacheWrite5m: 5, output: 42, quality: 'reported' },
      stopReason: 'tool_use',
      serviceTier: 'batch',
      complete: true,
      unknown: [],
    })
  })

  it('is the same however its stream is cut', () => {
    expectSameHoweverCut(createAnthropicReassembly, toSse(TURN, '\r\n'))
  })

  it('is the same for any random cuts', () => {
    const bytes = toSse(TURN)
    const whole = reassemble(createAnthropicReassembly, bytes)
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 50 }),
        (cuts) => {
          expect(
            reassemble(
              createAnthropicReassembly,
              bytes,
              cuts.toSorted((a, b) => a - b),
            ),
          ).toEqual(whole)
        },
      ),
    )
  })
})

describe('usage', () => {
  it('is parsed from message_start and message_delta: the four counts of the session capture seed, R2', () => {
    const usage = { cache_creation_input_tokens: 0, cache_read_input_tokens: 800 }
    expect(
      read(start({ input_tokens: 1200, ...usage }), change({ output_tokens: 350 }), stop).usage,
    ).toMatchObject({
      input: 1200,
      output: 350,
      cacheWrite5m: 0,
      cacheRead: 800,
      quality: 'reported',
    })
  })

  it('is overwritten by message_delta, never added', () => {
    const { usage } = read(
      start(),
      change({ input_tokens: 10, output_tokens: 20 }, null),
      change({ output_tokens: 30 }),
      stop,
    )
    expect(usage).toMatchObject({ input: 10, output: 30, quality: 'reported' })
  })

  it('is not erased by null', () => {
    const usage = { cache_read_input_tokens: 7 }
    expect(
      read(start(usage), change({ output_tokens: 2, cache_read_input_tokens: null }), stop).usage,
    ).toMatchObject({
      cacheRead: 7,
      output: 2,
    })
  })

  it('keeps the 5m and 1h split that only message_start states', () => {
    const split = { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 }
    const message = read(
      start({ cache_creation_input_tokens: 7, cache_creation: split }),
      change({ output_tokens: 2, cache_creation_input_tokens: 7 }),
      stop,
    )
    expect(message.usage).toMatchObject({ cacheWrite5m: 3, cacheWrite1h: 4, quality: 'reported' })
  })

  it('is estimated when the cache write grew after its split was stated', () => {
    const split = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 4 }
    const message = read(
      start({ cache_creation_input_tokens: 4, cache_creation: split }),
      change({ output_tokens: 2, cache_creation_input_tokens: 10 }),
      stop,
    )
    expect(message.usage).toMatchObject({ cacheWrite5m: 6, cacheWrite1h: 4, quality: 'estimated' })
  })

  it('does not take the placeholder of message_start for the output: a cut stream is partial', () => {
    expect(read(start(), open(0, { type: 'text', text: '' }), text(0, 'Hel'))).toMatchObject({
      blocks: [{ type: 'text', text: 'Hel' }],
      usage: { input: 10, output: 1, quality: 'partial' },
      complete: false,
    })
  })

  it('is unavailable, without counts, when none came', () => {
    const { usage } = read(open(0, { type: 'text', text: '' }), text(0, 'x'), close(0), stop)
    expect(usage).toEqual({ quality: 'unavailable' })
  })

  it('counts thinking as a part of output', () => {
    const details = { output_tokens_details: { thinking_tokens: 15 } }
    expect(read(start(), change({ output_tokens: 20, ...details }), stop).usage).toMatchObject({
      output: 20,
      reasoning: 15,
    })
  })

  it('keeps each iteration with its model', () => {
    const iterations = [
      { type: 'compaction', input_tokens: 900, output_tokens: 9 },
      { type: 'advisor_message', model: 'claude-opus-5', input_tokens: 50, output_tokens: 5 },
      { type: 'message', input_tokens: 10, output_tokens: 2 },
    ]
    const message = read(start(), change({ output_tokens: 2, iterations }), stop)
    expect(message.usage).toMatchObject({ input: 10, output: 2 })
    expect(message.iterations).toMatchObject([
      { type: 'compaction', usage: { input: 900 } },
      { type: 'advisor_message', model: 'claude-opus-5', usage: { input: 50 } },
      { type: 'message', usage: { input: 10 } },
    ])
  })
})

describe('tool input', () => {
  const input = (...parts: string[]): Json | undefined => {
    const block = read(
      start(),
      open(0, { type: 'tool_use', id: 't', name: 'x', input: {} }),
      ...parts.map((part) => json(0, part)),
      close(0),
    ).blocks[0]
    return block?.type === 'tool-call' ? block.input : undefined
  }

  it('is {} when nothing came', () => {
    expect(input()).toEqual({})
    expect(input('')).toEqual({})
  })

  it('is the model’s own text when that is no JSON', () => {
    expect(input('{"a":', '1,,')).toBe('{"a":1,,')
  })

  it('keeps a key named __proto__ as data', () => {
    const parsed = input('{"__proto__":{"polluted":1}}') as JsonObject
    expect(Object.keys(parsed)).toEqual(['__proto__'])
    expect('polluted' in {}).toBe(false)
  })
})

describe('streams that misbehave', () => {
  it('an error after HTTP 200 is the message’s error, beside what came before', () => {
    const message = read(start(), open(0, { type: 'text', text: '' }), text(0, 'Hel'), {
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
      request_id: 'req_9',
    })
    expect(message).toMatchObject({
      blocks: [{ type: 'text', text: 'Hel' }],
      error: { message: 'Overloaded', code: 'overloaded_error' },
      requestId: 'req_9',
      usage: { quality: 'partial' },
      complete: false,
    })
  })

  it('an error alone has no usage', () => {
    const body = { type: 'error', error: { type: 'not_found_error', message: 'no' }, request_id: 'req_1' }
    expect(parseAnthropicMessage(body)).toEqual({
      provider: 'anthropic',
      role: 'assistant',
      blocks: [],
      requestId: 'req_1',
      error: { message: 'no', code: 'not_found_error' },
      complete: false,
      unknown: [],
    })
  })

  it('blocks are put in order of their index, not of their arrival', () => {
    const message = read(start(), open(7, { type: 'text', text: 'b' }), open(2, { type: 'text', text: 'a' }))
    expect(message.blocks).toMatchObject([{ text: 'a' }, { text: 'b' }])
  })

  it('unknown events, unknown deltas and text that is no JSON are kept verbatim', () => {
    const strange: Json[] = [
      { type: 'session.idle', x: 1 },
      delta(0, { type: 'hologram_delta', z: 3 }),
      'not json',
    ]
    expect(read(start(), open(0, { type: 'text', text: '' }), ...strange, stop).unknown).toEqual(strange)
  })

  it('fields we have no place for are kept', () => {
    const ending = { ...change({ output_tokens: 2 }), context_management: { applied_edits: [] } }
    const message = read(start(), ending, stop)
    expect(message.fields).toEqual({ context_management: { applied_edits: [] } })
  })

  it('a delta whose beginning was lost still counts', () => {
    expect(read(start(), text(3, 'half')).blocks).toEqual([{ type: 'text', text: 'half' }])
  })

  it('a message that begins again is another answer, and loses nothing', () => {
    const message = read(
      start({}, 'msg_first'),
      open(0, { type: 'text', text: '' }),
      text(0, 'first try'),
      start({}, 'msg_second'),
      open(0, { type: 'text', text: '' }),
      text(0, 'second try'),
      change({ output_tokens: 2 }),
      stop,
    )
    expect(message).toMatchObject({
      messageId: 'msg_second',
      blocks: [{ text: 'second try' }],
      alternatives: [
        { messageId: 'msg_first', blocks: [{ text: 'first try' }], usage: { quality: 'partial' } },
      ],
      complete: true,
    })
  })

  it('a message_start sent twice is one message', () => {
    const message = read(
      start(),
      start(),
      open(0, { type: 'text', text: 'x' }),
      change({ output_tokens: 2 }),
      stop,
    )
    expect(message.alternatives).toBeUndefined()
    expect(message.blocks).toHaveLength(1)
  })

  it('the last event counts even when the stream ends without its blank line', () => {
    const bytes = toSse([start(), change({ output_tokens: 2 }), stop])
    expect(reassemble(createAnthropicReassembly, bytes.subarray(0, -2)).complete).toBe(true)
  })

  it('may be anything at all, and nothing throws', () => {
    const index = fc.constantFrom<Json>(0, -1, 1.5, 1e9, 'x', null, '__proto__')
    const kind = fc.constantFrom(
      'message_start',
      'content_block_start',
      'content_block_delta',
      'message_delta',
      'error',
    )
    const event = fc
      .record(
        {
          type: kind,
          index,
          message: fc.jsonValue(),
          content_block: fc.jsonValue(),
          delta: fc.jsonValue(),
          usage: fc.jsonValue(),
        },
        { requiredKeys: ['type'] },
      )
      .map((value) => parseJson(JSON.stringify(value)) ?? null)
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), fc.jsonValue(), (events, body) => {
        expect(read(...events).role).toBe('assistant')
        expect(parseAnthropicMessage(parseJson(JSON.stringify(body)) ?? null).role).toBe('assistant')
      }),
    )
  })
})

describe('bounds', () => {
  it('keeps what fits, says how much did not, and is then not complete', () => {
    const events = [
      start(),
      open(0, { type: 'text', text: '' }),
      ...Array.from({ length: 50 }, () => text(0, 'x'.repeat(100))),
    ]
    const message = reassemble(
      () => createAnthropicReassembly({ limit: 2000 }),
      toSse([...events, change({ output_tokens: 9 }), stop]),
    )
    const [block] = message.blocks
    const kept = block?.type === 'text' && typeof block.text === 'string' ? block.text.length : 0
    expect(kept).toBeGreaterThan(1000)
    expect(kept + (message.dropped ?? 0)).toBe(5000)
    expect(message).toMatchObject({ complete: false, usage: { output: 9 } })
  })

  it('takes at most 4,096 blocks', () => {
    const events = Array.from({ length: 5000 }, (_, index) => open(index, { type: 'text', text: 'x' }))
    const message = read(start(), ...events)
    expect(message.blocks).toHaveLength(4096)
    expect(message.unknown).toHaveLength(5000 - 4096)
  })

  it('puts a long message together in linear time', () => {
    const time = (count: number): number => {
      const bytes = toSse([
        start(),
        open(0, { type: 'text', text: '' }),
        ...Array.from({ length: count }, () => text(0, 'word ')),
      ])
      return bestOf(3, () => void reassemble(createAnthropicReassembly, bytes))
    }
    time(2000)
    expect(time(40_000)).toBeLessThan(time(10_000) * 10 + 10)
  })
})
