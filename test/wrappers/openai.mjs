// The `openai` package: chat completions and responses, whole and streamed, helpers that run tools, retries, an abort.
import { recording } from 'hansard/openai'
import OpenAI from 'openai'
import { add, base, options, same } from './shared.mjs'

const recorded = recording(options)
const plain = new OpenAI({ apiKey: 'sk-test', baseURL: `${base}/v1` })
const client = recorded.openai(new OpenAI({ apiKey: 'sk-test', baseURL: `${base}/v1` }))

const ask = (play, more = {}) => ({
  model: 'gpt-5',
  messages: [{ role: 'user', content: `play:${play}` }],
  ...more,
})
const tools = [
  { type: 'function', function: { ...add, parse: JSON.parse, function: ({ a, b }) => String(a + b) } },
]

const whole = await client.chat.completions.create(ask('word'))
same(whole.choices[0].message.content, 'A word.')
const { data, response } = await client.chat.completions.create(ask('raw')).withResponse()
same(
  [data.choices[0].message.content, response.status, response.url],
  ['Raw.', 200, `${base}/v1/chat/completions`],
)
let text = ''
const stream = await client.chat.completions.create(
  ask('streamed', { stream: true, stream_options: { include_usage: true } }),
)
for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
same(text, 'Streamed words.')
same(await client.chat.completions.runTools(ask('sum', { tools })).finalContent(), 'It is 5.')
const streamed = client.chat.completions.runTools(
  ask('sum-streamed', { tools, stream: true, stream_options: { include_usage: true } }),
)
same(await streamed.finalContent(), 'It is 5 again.')
same((await client.chat.completions.create(ask('busy'))).choices[0].message.content, 'At last.')
const failed = await client.chat.completions
  .create(ask('wrong'), { maxRetries: 0 })
  .catch((error) => error.status)
same(
  failed,
  await plain.chat.completions.create(ask('wrong'), { maxRetries: 0 }).catch((error) => error.status),
)

const input = (play) => [{ role: 'user', content: [{ type: 'input_text', text: `play:${play}` }] }]
const first = await client.responses.create({ model: 'gpt-5', input: input('answered') })
same(first.output_text, 'Answered.')
let parts = ''
for await (const event of await client.responses.create({
  model: 'gpt-5',
  input: input('answered-streamed'),
  stream: true,
}))
  if (event.type === 'response.output_text.delta') parts += event.delta
same(parts, 'Answered in parts.')
// The provider has the history: only what is new is sent.
const offered = [{ type: 'function', name: add.name, parameters: add.parameters, strict: false }]
const called = await client.responses.create({ model: 'gpt-5', input: input('sum'), tools: offered })
const call = called.output.find(({ type }) => type === 'function_call')
const given = [{ type: 'function_call_output', call_id: call.call_id, output: '5' }]
const goneOn = await client.responses.create({
  model: 'gpt-5',
  previous_response_id: called.id,
  input: given,
  tools: offered,
})
same(goneOn.output_text, 'It is 5.')
await recorded.end()
