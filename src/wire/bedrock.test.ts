import { describe, expect, it } from 'vitest'
import { frame } from '../../test/event-frame.ts'
import type { Json } from '../transcript/json.ts'
import { createReassembly, parseMessage } from './apis.ts'
import { createBedrockParser, fromConverseRequest, fromConverseResponse } from './bedrock.ts'
import { parseRequest } from './request.ts'

const converse = (type: string, payload: Json): Buffer =>
  frame({ ':message-type': 'event', ':event-type': type }, Buffer.from(JSON.stringify(payload)))
const invoke = (payload: Json): Buffer =>
  frame(
    { ':message-type': 'event', ':event-type': 'chunk' },
    Buffer.from(JSON.stringify({ bytes: Buffer.from(JSON.stringify(payload)).toString('base64'), p: 'abc' })),
  )

function streamed(kind: 'invoke' | 'converse', frames: readonly Buffer[]) {
  const parser = createBedrockParser(kind)
  const message = createReassembly('anthropic-messages')
  for (const one of frames) for (const event of parser.push(one)) message.push(event)
  for (const event of parser.end()) message.push(event)
  return message.end()
}

const USAGE = { inputTokens: 12, outputTokens: 34, cacheReadInputTokens: 5, totalTokens: 51 }

describe('Bedrock', () => {
  it('streamed by converse is what it is when it comes whole', () => {
    const content = [
      { reasoningContent: { reasoningText: { text: 'hm', signature: 'sig' } } },
      { text: 'Hello there' },
      { toolUse: { toolUseId: 't1', name: 'Bash', input: { command: 'ls' } } },
    ]
    const whole = parseMessage(
      'anthropic-messages',
      fromConverseResponse({
        output: { message: { role: 'assistant', content } },
        stopReason: 'tool_use',
        usage: USAGE,
      }),
    )
    const stream = streamed('converse', [
      converse('messageStart', { role: 'assistant' }),
      converse('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'h' } } }),
      converse('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'm' } } }),
      converse('contentBlockDelta', {
        contentBlockIndex: 0,
        delta: { reasoningContent: { signature: 'sig' } },
      }),
      converse('contentBlockStop', { contentBlockIndex: 0 }),
      converse('contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'Hello ' } }),
      converse('contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'there' } }),
      converse('contentBlockStop', { contentBlockIndex: 1 }),
      converse('contentBlockStart', {
        contentBlockIndex: 2,
        start: { toolUse: { toolUseId: 't1', name: 'Bash' } },
      }),
      converse('contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: '{"command":' } } }),
      converse('contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: '"ls"}' } } }),
      converse('contentBlockStop', { contentBlockIndex: 2 }),
      converse('messageStop', { stopReason: 'tool_use' }),
      converse('metadata', { usage: USAGE, metrics: { latencyMs: 9 } }),
    ])
    expect(stream.blocks).toEqual(whole.blocks)
    expect(stream.blocks).toEqual([
      { type: 'thinking', text: 'hm', signature: 'sig' },
      { type: 'text', text: 'Hello there' },
      { type: 'tool-call', callId: 't1', name: 'Bash', input: { command: 'ls' } },
    ])
    for (const one of [stream, whole]) {
      expect(one.usage).toMatchObject({ input: 12, output: 34, cacheRead: 5, quality: 'reported' })
      expect([one.stopReason, one.complete]).toEqual(['tool_use', true])
    }
  })

  it('streamed by invoke is Anthropic’s stream', () => {
    const message = streamed('invoke', [
      invoke({
        type: 'message_start',
        message: {
          id: 'msg_bdrk_1',
          model: 'claude-sonnet-4-5',
          role: 'assistant',
          content: [],
          usage: { input_tokens: 3, output_tokens: 1 },
        },
      }),
      invoke({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      invoke({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } }),
      invoke({ p: 'keeps the connection alive' }),
      invoke({ type: 'content_block_stop', index: 0 }),
      invoke({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } }),
      invoke({ type: 'message_stop' }),
    ])
    expect(message).toMatchObject({ messageId: 'msg_bdrk_1', complete: true, usage: { input: 3, output: 4 } })
    expect(message.blocks).toEqual([{ type: 'text', text: 'hi' }])
  })

  it('says what broke in the middle: an exception, or bytes that do not check', () => {
    const start = converse('messageStart', { role: 'assistant' })
    const words = converse('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'half' } })
    const thrown = frame(
      { ':message-type': 'exception', ':exception-type': 'throttlingException' },
      Buffer.from('{"message":"too many"}'),
    )
    const message = streamed('converse', [start, words, thrown])
    expect(message.error).toEqual({ message: 'too many', code: 'throttlingException' })
    expect([message.blocks.length, message.complete]).toEqual([1, false])
    expect(streamed('converse', [start, words, start.subarray(0, 9)]).error?.message).toContain('ends inside')
  })

  it('has its requests read: words, calls, results, images, tools', () => {
    const request = parseRequest(
      'anthropic-messages',
      fromConverseRequest({
        system: [{ text: 'be brief' }],
        messages: [
          {
            role: 'user',
            content: [{ text: 'look' }, { image: { format: 'png', source: { bytes: 'AAAA' } } }],
          },
          { role: 'assistant', content: [{ toolUse: { toolUseId: 't1', name: 'Bash', input: {} } }] },
          {
            role: 'user',
            content: [{ toolResult: { toolUseId: 't1', status: 'error', content: [{ json: { a: 1 } }] } }],
          },
        ],
        inferenceConfig: { maxTokens: 9 },
        toolConfig: { tools: [{ toolSpec: { name: 'Bash' } }] },
      }),
    )
    expect(request.system?.blocks).toEqual([{ type: 'text', text: 'be brief' }])
    expect(request.messages.map(({ role, blocks }) => [role, blocks.map(({ type }) => type)])).toEqual([
      ['user', ['text', 'image']],
      ['assistant', ['tool-call']],
      ['tool', ['tool-result']],
    ])
    expect(request.messages[2]?.blocks[0]).toMatchObject({ callId: 't1', isError: true })
    expect(request.parameters).toMatchObject({ maxTokens: 9, tools: [{ name: 'Bash' }] })
  })
})
