import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { json } from '../../test/arbitrary.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { parseJson, toJson } from '../transcript/json.ts'
import { extrasOf, fromAnthropicBlock, fromAnthropicContent, toAnthropicBlock } from './anthropic-blocks.ts'

const back = (raw: Json): Json => toAnthropicBlock(fromAnthropicBlock(raw), extrasOf(raw))

describe('known blocks', () => {
  it('reads text, thinking and redacted thinking', () => {
    expect(fromAnthropicBlock({ type: 'text', text: 'hi' })).toEqual({ type: 'text', text: 'hi' })
    expect(fromAnthropicBlock({ type: 'thinking', thinking: 'hm', signature: 'c2ln' })).toEqual({
      type: 'thinking',
      text: 'hm',
      signature: 'c2ln',
    })
    expect(fromAnthropicBlock({ type: 'redacted_thinking', data: 'ZW5j' })).toEqual({
      type: 'thinking',
      text: '',
      redacted: 'ZW5j',
    })
  })

  it('reads tool_use as a tool call', () => {
    expect(fromAnthropicBlock({ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { a: 1 } })).toEqual({
      type: 'tool-call',
      callId: 'toolu_1',
      name: 'Bash',
      input: { a: 1 },
    })
  })

  it('reads a tool result of text, of blocks, of nothing, and a failed one', () => {
    expect(fromAnthropicBlock({ type: 'tool_result', tool_use_id: 't', content: 'out' })).toEqual({
      type: 'tool-result',
      callId: 't',
      output: 'out',
    })
    expect(fromAnthropicBlock({ type: 'tool_result', tool_use_id: 't' })).toEqual({
      type: 'tool-result',
      callId: 't',
    })
    const failed = {
      type: 'tool_result',
      tool_use_id: 't',
      is_error: true,
      content: [
        { type: 'text', text: 'boom' },
        { type: 'tool_reference', tool_name: 'x' },
      ],
    }
    expect(fromAnthropicBlock(failed)).toEqual({
      type: 'tool-result',
      callId: 't',
      isError: true,
      output: [
        { type: 'text', text: 'boom' },
        { type: 'unknown', raw: { type: 'tool_reference', tool_name: 'x' } },
      ],
    })
  })

  it('reads images in place and by URL, and keeps other sources whole', () => {
    const inPlace = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } }
    expect(fromAnthropicBlock(inPlace)).toEqual({ type: 'image', mediaType: 'image/png', data: 'iVBO' })
    expect(fromAnthropicBlock({ type: 'image', source: { type: 'url', url: 'https://x.test/a' } })).toEqual({
      type: 'image',
      url: 'https://x.test/a',
    })
    const file = { type: 'image', source: { type: 'file', file_id: 'file_1' } }
    expect(fromAnthropicBlock(file)).toEqual({ type: 'unknown', raw: file })
  })

  it('takes a string as one text block', () => {
    expect(fromAnthropicContent('hi')).toEqual([{ type: 'text', text: 'hi' }])
    expect(fromAnthropicContent(undefined)).toEqual([])
  })
})

describe('what the model cannot hold', () => {
  const raws: Record<string, Json> = {
    'a server tool call': { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
    'citations on text': { type: 'text', text: 'x', citations: [{ type: 'char_location' }] },
    'cache_control inside a result': {
      type: 'tool_result',
      tool_use_id: 't',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b', cache_control: { type: 'ephemeral' } },
      ],
      cache_control: null,
    },
    'a caller': { type: 'tool_use', id: 't', name: 'x', input: {}, caller: { type: 'direct' } },
    'a thinking block without its text': { type: 'thinking', signature: 's' },
    'a null where text should be': { type: 'text', text: null },
    'a null signature and a null is_error': { type: 'tool_result', tool_use_id: 't', is_error: null },
    'a block that is no object': ['x', 1, null],
    'a base64 image of no stated type': {
      type: 'image',
      source: { type: 'base64', data: 'x', media_type: 1 },
    },
  }
  for (const [name, raw] of Object.entries(raws)) {
    it(`survives: ${name}`, () => {
      expect(back(raw)).toEqual(raw)
    })
  }

  it('is not in the block itself', () => {
    const raw = { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }
    expect(fromAnthropicBlock(raw)).toEqual({ type: 'text', text: 'x' })
    expect(extrasOf(raw)).toEqual({ cache_control: { type: 'ephemeral' } })
    expect(extrasOf({ type: 'text', text: 'x' })).toBeUndefined()
  })

  it('survives a key named __proto__, which changes no prototype', () => {
    const raw = parseJson('{"type":"text","text":"x","__proto__":{"polluted":1}}') as JsonObject
    const written = back(raw) as JsonObject
    expect(JSON.parse(JSON.stringify(written))).toEqual(JSON.parse(JSON.stringify(raw)))
    expect(Object.keys(written)).toContain('__proto__')
    expect('polluted' in {}).toBe(false)
  })

  it('survives results nested deeper than any stack', () => {
    const depth = 100_000
    const raw = parseJson(
      `${'{"type":"tool_result","content":['.repeat(depth)}{}${']}'.repeat(depth)}`,
    ) as JsonObject
    expect(toJson(back(raw))).toHaveLength(toJson(raw).length)
  })

  it('survives for any block at all', () => {
    const field = fc.constantFrom(
      'text',
      'thinking',
      'signature',
      'data',
      'id',
      'name',
      'input',
      'content',
      'x',
    )
    const known = fc.constantFrom('text', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result', 'image')
    const block = fc.letrec<{ block: Json }>((tie) => ({
      block: fc
        .tuple(
          fc.oneof(known, fc.string()),
          fc.dictionary(
            field,
            fc.oneof({ maxDepth: 3 }, fc.string(), json, fc.array(tie('block'), { maxLength: 2 })),
          ),
        )
        .map(([type, fields]): Json => ({ ...fields, type })),
    })).block
    fc.assert(
      fc.property(block, (raw) => {
        expect(back(raw)).toEqual(raw)
      }),
    )
  })
})

describe('writing what Anthropic has no word for', () => {
  it('writes a result that is only an error as its content', () => {
    expect(toAnthropicBlock({ type: 'tool-result', callId: 't', error: 'no such file' })).toEqual({
      type: 'tool_result',
      tool_use_id: 't',
      content: 'no such file',
      is_error: true,
    })
  })

  it('writes an error block as text', () => {
    expect(toAnthropicBlock({ type: 'error', message: 'overloaded' })).toEqual({
      type: 'text',
      text: 'overloaded',
    })
  })
})
