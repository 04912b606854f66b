// The `ai` package with two providers: texts, whole and streamed, with tools that it runs.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel } from 'ai'
import { recording } from 'hansard/ai-sdk'
import { add, base, options, same } from './shared.mjs'

const recorded = recording(options)
const openai = createOpenAI({ apiKey: 'sk-test', baseURL: `${base}/v1` })
const anthropic = createAnthropic({ apiKey: 'sk-ant-test', baseURL: `${base}/v1` })
const tools = {
  add: tool({
    description: add.description,
    inputSchema: jsonSchema(add.parameters),
    execute: async ({ a, b }) => a + b,
  }),
}
const models = [
  wrapLanguageModel({ model: openai.chat('gpt-5'), middleware: recorded.middleware }),
  recorded.model(openai.responses('gpt-5')),
  wrapLanguageModel({ model: anthropic('claude-opus-5-5'), middleware: recorded.middleware }),
]
for (const model of models) {
  same((await generateText({ model, prompt: 'play:word' })).text, 'A word.')
  const streamed = streamText({ model, prompt: 'play:streamed' })
  let text = ''
  for await (const part of streamed.textStream) text += part
  same(text, 'Streamed words.')
  const summed = await generateText({
    model,
    prompt: 'play:sum',
    system: 'You add.',
    tools,
    stopWhen: stepCountIs(3),
  })
  same(summed.text, 'It is 5.')
  const stream = streamText({ model, prompt: 'play:sum-streamed', tools, stopWhen: stepCountIs(3) })
  await stream.consumeStream()
  same(await stream.text, 'It is 5 again.')
  same(
    await generateText({ model, prompt: 'play:wrong', maxRetries: 0 }).catch((error) => error.statusCode),
    500,
  )
}
await recorded.end()
