// The `@google/genai` package: content, whole and streamed, a chat, and functions that it calls by itself.
import { GoogleGenAI } from '@google/genai'
import { recording } from 'hansard/google'
import { add, base, options, same } from './shared.mjs'

const recorded = recording(options)
const client = recorded.google(new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: base } }))
const model = 'gemini-test'

same((await client.models.generateContent({ model, contents: 'play:word' })).text, 'A word.')
let text = ''
for await (const chunk of await client.models.generateContentStream({ model, contents: 'play:streamed' }))
  text += chunk.text ?? ''
same(text, 'Streamed words.')
const chat = client.chats.create({ model })
same((await chat.sendMessage({ message: 'play:chat' })).text, 'First.')
same((await chat.sendMessage({ message: 'go on' })).text, 'Second.')
const config = {
  tools: [
    {
      functionDeclarations: [
        { name: add.name, description: add.description, parametersJsonSchema: add.parameters },
      ],
    },
  ],
}
const asked = [{ role: 'user', parts: [{ text: 'play:sum' }] }]
const call = await client.models.generateContent({ model, contents: asked, config })
const [made] = call.functionCalls
const answer = await client.models.generateContent({
  model,
  contents: [
    ...asked,
    call.candidates[0].content,
    {
      role: 'user',
      parts: [
        {
          functionResponse: { id: made.id, name: made.name, response: { output: made.args.a + made.args.b } },
        },
      ],
    },
  ],
  config,
})
same(answer.text, 'It is 5.')
await recorded.end()
