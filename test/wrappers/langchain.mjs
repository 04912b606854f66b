// LangChain's models with a callback handler: whole and streamed, and a tool that is run by hand.
import { HumanMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { recording } from 'hansard/langchain'
import { add, base, options, same } from './shared.mjs'

const recorded = recording(options)
const callbacks = [recorded.langchain]
const model = new ChatOpenAI({
  model: 'gpt-5',
  apiKey: 'sk-test',
  configuration: { baseURL: `${base}/v1` },
  maxRetries: 0,
})
const adding = tool(({ a, b }) => String(a + b), {
  name: add.name,
  description: add.description,
  schema: add.parameters,
})

same((await model.invoke('play:word', { callbacks })).content, 'A word.')
let text = ''
for await (const chunk of await model.stream('play:streamed', { callbacks })) text += chunk.content
same(text, 'Streamed words.')
const able = model.bindTools([adding])
const asked = [new HumanMessage('play:sum')]
const call = await able.invoke(asked, { callbacks })
const result = await adding.invoke(call.tool_calls[0], { callbacks })
same((await able.invoke([...asked, call, result], { callbacks })).content, 'It is 5.')
const last = await able.invoke([new HumanMessage('play:sum-streamed')], { callbacks })
// Nobody tells the model of this one: the handler alone has seen it.
same((await adding.invoke(last.tool_calls[0], { callbacks })).content, '5')
same(await model.invoke('play:wrong', { callbacks }).catch((error) => error.status), 500)
await recorded.end()
