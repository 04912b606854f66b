/**
 * Questions and answers as providers have them, made at random from a number: every kind of delta of every API, streamed and whole, packed
 * and not, cut at random bytes. Each says what should be recorded of it, told from what was meant and not from its bytes.
 */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { Block } from '../src/transcript/block.ts'
import { asArray, asString, type JsonObject } from '../src/transcript/json.ts'
import { frame } from './event-frame.ts'
import { PARTS, type Part, type PartsOf } from './proxy-exchange-parts.ts'
import { createRandom, type Random } from './random.ts'

export type Exchange = {
  readonly path: string
  readonly question: JsonObject
  readonly headers: Readonly<Record<string, string>>
  readonly chunks: readonly Buffer[]
  /** Of the answer, in order. */
  readonly blocks: readonly Block[]
  /** In the first of its texts, and in no other exchange's. */
  readonly mark: string
}

export function exchangeOf(serial: number): Exchange {
  const random = createRandom(serial)
  const api = APIS[serial % APIS.length] as Api
  const mark = `answer ${serial}.`
  const [text, ...makers] = PARTS[api.parts]
  const parts = [
    text(0, { mark, serial, random }),
    ...Array.from({ length: random(5) }, (_, at) => {
      const make = [text, ...makers][random(makers.length + 1)] ?? text
      return make(at + 1, { mark: `${serial}`, serial, random })
    }),
  ]
  const isStreamed = random(4) > 0
  const { type, bytes } = isStreamed ? api.stream(serial, parts) : api.whole(serial, parts)
  const [encoding, pack] = PACKED[random(PACKED.length)] ?? PACKED[0]
  return {
    path: api.path(isStreamed),
    question: api.question(`question ${serial}`),
    headers: { 'content-type': type, ...(encoding !== '' && { 'content-encoding': encoding }) },
    chunks: cut(pack(bytes), random),
    blocks: parts.flatMap(({ before, block, after }) =>
      [before, block, after].filter((one) => one !== undefined),
    ),
    mark,
  }
}

const PACKED: readonly [[string, (bytes: Buffer) => Buffer], ...[string, (bytes: Buffer) => Buffer][]] = [
  ['', (bytes) => bytes],
  ['', (bytes) => bytes],
  ['gzip', (bytes) => gzipSync(bytes)],
  ['br', (bytes) => brotliCompressSync(bytes)],
  ['deflate', (bytes) => deflateSync(bytes)],
]

/** From single bytes to all at once. */
function cut(bytes: Buffer, random: Random): Buffer[] {
  const longest = [1, 7, 60, 400, bytes.length][random(5)] ?? bytes.length
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += chunks.at(-1)?.length ?? 1)
    chunks.push(bytes.subarray(at, at + 1 + random(longest)))
  return chunks
}

type Answer = { readonly type: string; readonly bytes: Buffer }
type Api = {
  readonly parts: keyof PartsOf
  readonly path: (isStreamed: boolean) => string
  readonly question: (text: string) => JsonObject
  readonly stream: (serial: number, parts: readonly Part[]) => Answer
  readonly whole: (serial: number, parts: readonly Part[]) => Answer
}

const json = (body: JsonObject): Answer => ({
  type: 'application/json',
  bytes: Buffer.from(JSON.stringify(body)),
})
const events = (all: readonly string[]): Answer => ({
  type: 'text/event-stream; charset=utf-8',
  bytes: Buffer.from(all.join('')),
})
const frames = (all: readonly Buffer[]): Answer => ({
  type: 'application/vnd.amazon.eventstream',
  bytes: Buffer.concat(all),
})
const named = (event: JsonObject): string =>
  `event: ${asString(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`
const unnamed = (event: JsonObject): string => `data: ${JSON.stringify(event)}\n\n`

const asks = (text: string): JsonObject => ({
  model: 'a-model',
  max_tokens: 100,
  messages: [{ role: 'user', content: text }],
})

const anthropicMessage = (serial: number): JsonObject => ({
  id: `msg_${serial}`,
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-5-5',
})
const anthropicEvents = (serial: number, parts: readonly Part[]): JsonObject[] => [
  {
    type: 'message_start',
    message: { ...anthropicMessage(serial), content: [], usage: { input_tokens: 10, output_tokens: 1 } },
  },
  ...parts.flatMap(({ events: own }, index) => [
    { type: 'ping' },
    ...own,
    { type: 'content_block_stop', index },
  ]),
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20 } },
  { type: 'message_stop' },
]
const anthropicWhole = (serial: number, parts: readonly Part[]): Answer =>
  json({
    ...anthropicMessage(serial),
    content: parts.map(({ whole }) => whole),
    stop_reason: 'end_turn',
    usage: { input_tokens: 10, output_tokens: 20 },
  })

const chunkOf = (serial: number, delta: JsonObject, finish: string | null = null): JsonObject => ({
  id: `chatcmpl-${serial}`,
  object: 'chat.completion.chunk',
  model: 'gpt-5.5',
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const chatUsage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

const responseOf = (serial: number, output: readonly JsonObject[]): JsonObject => ({
  id: `resp_${serial}`,
  object: 'response',
  status: 'completed',
  model: 'gpt-5.5',
  output,
  usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
})

const geminiOf = (serial: number, parts: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  responseId: `gemini-${serial}`,
  modelVersion: 'gemini-3.6-flash',
  candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
})

const converse = (type: string, payload: JsonObject): Buffer =>
  frame({ ':message-type': 'event', ':event-type': type }, Buffer.from(JSON.stringify(payload)))

const APIS: readonly Api[] = [
  {
    parts: 'anthropic',
    path: () => '/anthropic/v1/messages',
    question: asks,
    stream: (serial, parts) => events(anthropicEvents(serial, parts).map(named)),
    whole: anthropicWhole,
  },
  {
    parts: 'chat',
    path: () => '/openai/v1/chat/completions',
    question: asks,
    stream: (serial, parts) =>
      events([
        ...[
          chunkOf(serial, { role: 'assistant', content: '' }),
          ...parts.flatMap((part) => part.events.map((delta) => chunkOf(serial, delta))),
          chunkOf(serial, {}, 'stop'),
          { ...chunkOf(serial, {}), choices: [], usage: chatUsage },
        ].map(unnamed),
        'data: [DONE]\n\n',
      ]),
    whole: (serial, parts) =>
      json({
        ...chunkOf(serial, {}),
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              ...parts[0]?.whole,
              ...(parts.length > 1 && {
                tool_calls: parts.flatMap(({ whole }) => asArray(whole['tool_calls']) ?? []),
              }),
            },
            finish_reason: 'stop',
          },
        ],
        usage: chatUsage,
      }),
  },
  {
    parts: 'responses',
    path: () => '/openai/v1/responses',
    question: (text) => ({ model: 'gpt-5.5', input: text }),
    stream: (serial, parts) =>
      events(
        [
          { type: 'response.created', response: { ...responseOf(serial, []), status: 'in_progress' } },
          ...parts.flatMap((part) => part.events),
          {
            type: 'response.completed',
            response: responseOf(
              serial,
              parts.map(({ whole }) => whole),
            ),
          },
        ].map((event, at) => named({ ...event, sequence_number: at })),
      ),
    whole: (serial, parts) =>
      json(
        responseOf(
          serial,
          parts.map(({ whole }) => whole),
        ),
      ),
  },
  {
    parts: 'gemini',
    path: (isStreamed) =>
      `/google/v1beta/models/gemini-3.6-flash:${isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    question: (text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
    stream: (serial, parts) =>
      events([
        ...parts.flatMap((part) => part.events.map((one) => unnamed(geminiOf(serial, [one])))),
        unnamed(geminiOf(serial, [], { finishReason: 'STOP' })),
      ]),
    whole: (serial, parts) =>
      json(
        geminiOf(
          serial,
          parts.map(({ whole }) => whole),
          { finishReason: 'STOP' },
        ),
      ),
  },
  {
    parts: 'anthropic',
    path: (isStreamed) =>
      `/bedrock/model/anthropic.claude/invoke${isStreamed ? '-with-response-stream' : ''}`,
    question: asks,
    stream: (serial, parts) =>
      frames(
        anthropicEvents(serial, parts).map((event) =>
          converse('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64') }),
        ),
      ),
    whole: anthropicWhole,
  },
  {
    parts: 'converse',
    path: (isStreamed) => `/bedrock/model/anthropic.claude/converse${isStreamed ? '-stream' : ''}`,
    question: (text) => ({ messages: [{ role: 'user', content: [{ text }] }] }),
    stream: (_, parts) =>
      frames([
        converse('messageStart', { role: 'assistant' }),
        ...parts.flatMap(({ events: own }, contentBlockIndex) => [
          ...own.map((event) =>
            converse('start' in event ? 'contentBlockStart' : 'contentBlockDelta', {
              contentBlockIndex,
              ...event,
            }),
          ),
          converse('contentBlockStop', { contentBlockIndex }),
        ]),
        converse('messageStop', { stopReason: 'end_turn' }),
        converse('metadata', { usage: { inputTokens: 10, outputTokens: 5 } }),
      ]),
    whole: (_, parts) =>
      json({
        output: { message: { role: 'assistant', content: parts.map(({ whole }) => whole) } },
        stopReason: 'end_turn',
        usage: { inputTokens: 10, outputTokens: 5 },
      }),
  },
]
