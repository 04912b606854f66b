// The `@anthropic-ai/sdk` package: messages, whole and streamed, its helper that runs tools, retries.
import Anthropic from '@anthropic-ai/sdk'
import { recording } from 'hansard/anthropic'
import { add, base, options, same } from './shared.mjs'

const recorded = recording(options)
const client = recorded.anthropic(new Anthropic({ apiKey: 'sk-ant-test', baseURL: base }))
const ask = (play, more = {}) => ({
  model: 'claude-opus-5-5',
  max_tokens: 1000,
  messages: [{ role: 'user', content: `play:${play}` }],
  ...more,
})
const textOf = (message) =>
  message.content
    .filter(({ type }) => type === 'text')
    .map((one) => one.text)
    .join('')

same(textOf(await client.messages.create(ask('word'))), 'A word.')
const { data, response, request_id: id } = await client.messages.create(ask('raw')).withResponse()
same(
  [textOf(data), response.status, response.url, id],
  ['Raw.', 200, `${base}/v1/messages`, response.headers.get('request-id')],
)
same(textOf(await client.messages.stream(ask('streamed')).finalMessage()), 'Streamed words.')
same(textOf(await client.messages.create(ask('busy'))), 'At last.')
same(await client.messages.create(ask('wrong'), { maxRetries: 0 }).catch((error) => error.status), 500)

const tool = {
  name: add.name,
  description: add.description,
  input_schema: add.parameters,
  parse: (input) => input,
  run: ({ a, b }) => String(a + b),
}
const runner = client.beta.messages.toolRunner(ask('sum', { tools: [tool] }))
same(textOf(await runner), 'It is 5.')
const streaming = client.beta.messages.toolRunner(ask('sum-streamed', { tools: [tool], stream: true }))
let last
for await (const stream of streaming) last = await stream.finalMessage()
same(textOf(last), 'It is 5 again.')
// Copies that the client makes of itself are recorded too.
same(textOf(await client.withOptions({ maxRetries: 1 }).messages.create(ask('copied'))), 'Copied.')
await recorded.end()
