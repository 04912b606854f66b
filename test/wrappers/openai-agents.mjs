// The `@openai/agents` package with a tracing processor: an agent with a tool, on responses and on chat completions.
import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  run,
  setTraceProcessors,
  setTracingDisabled,
  tool,
} from '@openai/agents'
import { recording } from 'hansard/openai-agents'
import OpenAI from 'openai'
import { add, base, options, same } from './shared.mjs'

const recorded = recording(options)
setTracingDisabled(false)
setTraceProcessors([recorded.agents])
const client = new OpenAI({ apiKey: 'sk-test', baseURL: `${base}/v1` })
const adding = tool({
  name: add.name,
  description: add.description,
  strict: false,
  parameters: add.parameters,
  execute: async ({ a, b }) => String(a + b),
})
for (const model of [
  new OpenAIResponsesModel(client, 'gpt-5'),
  new OpenAIChatCompletionsModel(client, 'gpt-5'),
]) {
  const agent = new Agent({ name: 'adder', instructions: 'You add.', tools: [adding], model })
  const asked = (play) => [{ role: 'user', content: [{ type: 'input_text', text: `play:${play}` }] }]
  same((await run(agent, asked('sum'))).finalOutput, 'It is 5.')
  const streamed = await run(agent, asked('sum-streamed'), { stream: true })
  await streamed.completed
  same(streamed.finalOutput, 'It is 5 again.')
}
await recorded.end()
