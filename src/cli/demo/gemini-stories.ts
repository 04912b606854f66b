/** A session of Gemini CLI, as the document that it keeps of a chat. */
import type { JsonObject } from '../../transcript/json.ts'

const ID = 'de0000aa-0000-4000-8000-0000000000aa'
/** Gemini CLI names a project by the hash of its folder. */
const PROJECT = 'a41f'.repeat(16)

export function geminiStory(begins: number): { readonly path: string; readonly text: string } {
  const at = (seconds: number): string => new Date(begins + seconds * 1000).toISOString()
  const uuid = (number: number): string => `de0000aa-0000-4000-8000-${String(number).padStart(12, '0')}`
  const tokens = (input: number, cached: number, output: number, thoughts: number): JsonObject => ({
    input,
    output,
    cached,
    thoughts,
    tool: 0,
    total: input + output + thoughts,
  })
  const call = (id: string, name: string, args: JsonObject, output: string, seconds: number): JsonObject => ({
    id,
    name,
    args,
    status: 'success',
    timestamp: at(seconds),
    result: [{ functionResponse: { id, name, response: { output } } }],
  })
  const messages = [
    {
      id: uuid(1),
      timestamp: at(0),
      type: 'user',
      content: 'Which of our pages load fonts from somewhere else?',
    },
    {
      id: uuid(2),
      timestamp: at(4),
      type: 'gemini',
      content: 'I look for addresses of fonts first.',
      model: 'gemini-3-pro',
      thoughts: [
        { subject: 'Searching', description: 'Fonts come by stylesheet or by preload.', timestamp: at(3) },
      ],
      tokens: tokens(8400, 0, 41, 120),
      toolCalls: [
        call(
          'search-1',
          'search_file_content',
          { pattern: 'fonts\\.|\\.woff2', include: 'src/**' },
          'src/index.html:9: <link href="https://fonts.example.com/css2?family=Inter">',
          5,
        ),
      ],
    },
    {
      id: uuid(3),
      timestamp: at(9),
      type: 'gemini',
      content: '',
      model: 'gemini-3-pro',
      thoughts: [],
      tokens: tokens(9100, 8000, 38, 60),
      toolCalls: [
        call(
          'read-1',
          'read_file',
          { absolute_path: '/home/ada/notes/src/index.html' },
          '<!doctype html>…',
          10,
        ),
      ],
    },
    {
      id: uuid(4),
      timestamp: at(16),
      type: 'gemini',
      content:
        'Only **`src/index.html`**, line 9. Nothing else leaves the house: the style sheets name system fonts.',
      model: 'gemini-3-pro',
      thoughts: [],
      tokens: tokens(9600, 9000, 52, 20),
    },
  ]
  const document = { sessionId: ID, projectHash: PROJECT, startTime: at(0), lastUpdated: at(16), messages }
  const [stamp = ''] = at(0).slice(0, 16).replace(':', '-').split('.')
  return {
    path: `${PROJECT}/chats/session-${stamp}-${ID.slice(0, 8)}.json`,
    text: `${JSON.stringify(document, null, 2)}\n`,
  }
}
