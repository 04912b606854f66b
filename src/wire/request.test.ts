import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../transcript/json.ts'
import { createReassembly, parseMessage } from './apis.ts'
import type { WireApi } from './message.ts'
import { parseRequest } from './request.ts'

const APIS: readonly WireApi[] = ['anthropic-messages', 'openai-chat', 'openai-responses', 'gemini']

const call = { type: 'tool-call', callId: 'c1', name: 'shell', input: { cmd: 'ls' } }
const image = { type: 'image', mediaType: 'image/png', data: 'iVBO' }

describe('a request', () => {
  it('of Anthropic Messages', () => {
    const request = parseRequest('anthropic-messages', {
      model: 'claude-sonnet-5',
      stream: true,
      max_tokens: 10,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'shell', input: { cmd: 'ls' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'a.txt' }] },
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } }],
        },
      ],
    })
    expect(request).toEqual({
      model: 'claude-sonnet-5',
      stream: true,
      parameters: { max_tokens: 10 },
      system: {
        blocks: [{ type: 'text', text: 'Be brief.' }],
        extras: [{ cache_control: { type: 'ephemeral' } }],
      },
      messages: [
        { role: 'user', blocks: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', blocks: [call] },
        { role: 'tool', blocks: [{ type: 'tool-result', callId: 'c1', output: 'a.txt' }] },
        { role: 'user', blocks: [image] },
      ],
      unknown: [],
    })
  })

  it('of Chat Completions', () => {
    const request = parseRequest('openai-chat', {
      model: 'gpt-5',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          name: 'ann',
          content: [
            { type: 'text', text: 'hi' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO', detail: 'low' } },
            { type: 'image_url', image_url: { url: 'https://x.test/a.png' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'shell', arguments: '{"cmd":"ls"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'a.txt' },
      ],
    })
    expect(request).toEqual({
      model: 'gpt-5',
      stream: true,
      parameters: { stream_options: { include_usage: true } },
      messages: [
        { role: 'system', blocks: [{ type: 'text', text: 'Be brief.' }] },
        {
          role: 'user',
          blocks: [{ type: 'text', text: 'hi' }, image, { type: 'image', url: 'https://x.test/a.png' }],
          extras: [null, { detail: 'low' }, null],
          fields: { name: 'ann' },
        },
        { role: 'assistant', blocks: [call] },
        { role: 'tool', blocks: [{ type: 'tool-result', callId: 'c1', output: 'a.txt' }] },
      ],
      unknown: [],
    })
  })

  it('of Responses, with a list and with a text as input', () => {
    const request = parseRequest('openai-responses', {
      model: 'gpt-5',
      instructions: 'Be brief.',
      store: false,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'hi' },
            { type: 'input_image', image_url: 'data:image/png;base64,iVBO' },
          ],
        },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA=' },
        { type: 'function_call', call_id: 'c1', name: 'shell', arguments: '{"cmd":"ls"}' },
        { type: 'function_call_output', call_id: 'c1', output: 'a.txt' },
        { type: 'item_reference', id: 'msg_1' },
      ],
    })
    expect(request).toMatchObject({
      model: 'gpt-5',
      system: { blocks: [{ type: 'text', text: 'Be brief.' }] },
      messages: [
        { role: 'user', blocks: [{ type: 'text', text: 'hi' }, image] },
        { role: 'assistant', blocks: [{ type: 'thinking', text: '', redacted: 'gAAA=' }] },
        { role: 'assistant', blocks: [call] },
        { role: 'tool', blocks: [{ type: 'tool-result', callId: 'c1', output: 'a.txt' }] },
        { role: 'user', blocks: [{ type: 'unknown', raw: { type: 'item_reference' } }] },
      ],
      parameters: { store: false },
    })
    expect(parseRequest('openai-responses', { input: 'hi' }).messages).toEqual([
      { role: 'user', blocks: [{ type: 'text', text: 'hi' }] },
    ])
  })

  it('of Gemini, whose model and stream are in the URL', () => {
    const request = parseRequest('gemini', {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      generationConfig: { temperature: 0 },
      contents: [
        { role: 'user', parts: [{ text: 'hi' }, { inlineData: { mimeType: 'image/png', data: 'iVBO' } }] },
        { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'shell', args: { cmd: 'ls' } } }] },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'c1', name: 'shell', response: { output: 'a.txt' } } },
            { functionResponse: { id: 'c2', name: 'shell', response: { error: 'denied' } } },
            { functionResponse: { id: 'c3', name: 'shell', response: { lines: 2 } } },
          ],
        },
      ],
    })
    expect(request).toEqual({
      system: { blocks: [{ type: 'text', text: 'Be brief.' }] },
      messages: [
        { role: 'user', blocks: [{ type: 'text', text: 'hi' }, image] },
        { role: 'assistant', blocks: [call] },
        {
          role: 'tool',
          blocks: [
            { type: 'tool-result', callId: 'c1', name: 'shell', output: 'a.txt' },
            { type: 'tool-result', callId: 'c2', name: 'shell', error: 'denied', isError: true },
            {
              type: 'tool-result',
              callId: 'c3',
              name: 'shell',
              output: [{ type: 'unknown', raw: { lines: 2 } }],
            },
          ],
        },
      ],
      parameters: { generationConfig: { temperature: 0 } },
      unknown: [],
    })
  })

  it('echoes an answer in the blocks the answer had', () => {
    const content = [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'tool_use', id: 'c1', name: 'shell', input: { cmd: 'ls' } },
    ]
    const answer = parseMessage('anthropic-messages', { role: 'assistant', content })
    const [echo] = parseRequest('anthropic-messages', { messages: [{ role: 'assistant', content }] }).messages
    expect(echo?.blocks).toEqual(answer.blocks)
  })

  it('keeps messages that are none', () => {
    const strange = ['text', { role: 'narrator', content: 'x' }]
    expect(parseRequest('openai-chat', { messages: strange })).toEqual({ messages: [], unknown: strange })
  })
})

describe('every API', () => {
  it('reads any request and any answer without throwing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const clean = parseJson(JSON.stringify(value)) ?? null
        for (const api of APIS) {
          const request = parseRequest(api, {
            messages: [clean],
            input: [clean],
            contents: [clean],
            system: clean,
          })
          expect(request.messages.length + request.unknown.length).toBe(1)
          expect(parseRequest(api, clean).unknown.length).toBeLessThanOrEqual(1)
          expect(parseMessage(api, clean).role).toBe('assistant')
        }
      }),
    )
  })

  it('reads an answer nested deeper than any stack', () => {
    const deep = `${'{"a":['.repeat(100_000)}${']}'.repeat(100_000)}`
    for (const api of APIS) {
      const reassembly = createReassembly(api)
      reassembly.push({ data: deep, complete: true })
      reassembly.push({
        data: `{"type":"content_block_start","index":0,"content_block":${deep},"choices":[${deep}],"candidates":[${deep}]}`,
        complete: true,
      })
      expect(reassembly.end().role).toBe('assistant')
    }
  })

  it('says nothing of a stream that said nothing', () => {
    for (const api of APIS) {
      expect(createReassembly(api).end()).toMatchObject({
        blocks: [],
        usage: { quality: 'unavailable' },
        complete: false,
      })
    }
  })
})
