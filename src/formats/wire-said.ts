/** A provider's message, as requests list them, as an entry: its role, its blocks, and all else it says as metadata. */
import { isObject, type Json } from '../transcript/json.ts'
import type { WireApi } from '../wire/message.ts'
import { parseRequest } from '../wire/request.ts'
import { always, isText, takes, type Takes } from './left-over.ts'
import { unknownSaid } from './unknown.ts'
import type { Said } from './placing.ts'
import { inside, withUnsaid } from './unsaid.ts'

const PARTS = `type text id index function name arguments custom input content tool_use tool_result tool_use_id is_error image image_url
  url source media_type data base64 thinking signature redacted_thinking input_text output_text refusal`

const TAKEN: Takes = takes({
  role: isText,
  content: inside(PARTS),
  reasoning_content: isText,
  reasoning: inside(''),
  refusal: isText,
  tool_calls: inside(PARTS),
  function_call: inside(PARTS),
  tool_call_id: isText,
  name: inside(''),
})

/** `more` are fields that the caller has taken out of the message itself. What is no message is kept whole. */
export function fromWireMessage(api: WireApi, message: Json, more?: Takes): Said {
  const [read] = parseRequest(api, { messages: [message] }).messages
  if (!isObject(message) || read === undefined || typeof message['role'] !== 'string')
    return unknownSaid(message)
  const said: Said = {
    kind: 'message',
    role: read.role,
    blocks: read.blocks,
    ...(read.extras !== undefined && { metadata: { extras: read.extras } }),
  }
  return withUnsaid(said, message, more === undefined ? TAKEN : new Map([...TAKEN, ...more]))
}

/** For fields that the caller has read whatever they hold. */
export const taken = (...keys: readonly string[]): Takes => new Map(keys.map((key) => [key, always]))
