/**
 * A row of the newer `session_message` as the message and parts that the older tables hold, so that both read alike. Shapes are
 * taken from public descriptions of the schema; what does not fit them stays an event.
 */
import {
  asArray,
  asObject,
  asString,
  isObject,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'

export type OldMessage = { readonly info: JsonObject; readonly parts: readonly Json[] }

/** Undefined for what is said by neither: a change of model, a summary, a shell command of the user's. */
export function fromSessionMessage(message: JsonObject, type: string | undefined): OldMessage | undefined {
  if (type === 'user' || type === 'synthetic') return fromUser(message, type)
  return type === 'assistant' ? fromAssistant(message) : undefined
}

const USER: ReadonlySet<string> = new Set(['text', 'files'])
const ASSISTANT: ReadonlySet<string> = new Set(['content', 'model'])

function fromUser(message: JsonObject, type: string): OldMessage | undefined {
  const text = asString(message['text'])
  if (text === undefined) return undefined
  const files = (asArray(message['files']) ?? []).map((file): Json => {
    if (!isObject(file)) return file
    return { ...file, type: 'file', ...(typeof file['uri'] === 'string' && { url: file['uri'] }) }
  })
  return {
    info: { ...rest(message, USER), role: 'user' },
    parts: [{ type: 'text', text, ...(type === 'synthetic' && { synthetic: true }) }, ...files],
  }
}

function fromAssistant(message: JsonObject): OldMessage | undefined {
  const content = asArray(message['content'])
  if (content === undefined) return undefined
  const model = asObject(message['model'])
  const modelID = asString(model?.['id'])
  const providerID = asString(model?.['providerID'])
  const info = {
    ...rest(message, ASSISTANT),
    role: 'assistant',
    ...(modelID !== undefined && { modelID }),
    ...(providerID !== undefined && { providerID }),
    ...(model?.['variant'] !== undefined && { variant: model['variant'] }),
  }
  return { info, parts: content.map(toPart) }
}

function toPart(item: Json): Json {
  if (!isObject(item)) return item
  const time = toTime(asObject(item['time']))
  if (item['type'] !== 'tool') return { ...item, ...(time !== undefined && { time }) }
  const { id, name, state, ...others } = item
  const told = asObject(state)
  if (typeof name !== 'string' || told === undefined) return item
  return {
    ...others,
    ...(id !== undefined && { callID: id }),
    tool: name,
    state: { ...toState(told), ...(time !== undefined && { time }) },
  }
}

/** `{ created, completed }` is called `{ start, end }` in parts; a tool's time begins when it ran. */
function toTime(time: JsonObject | undefined): JsonObject | undefined {
  if (time === undefined) return undefined
  const start = time['ran'] ?? time['created']
  return {
    ...time,
    ...(start !== undefined && { start }),
    ...(time['completed'] !== undefined && { end: time['completed'] }),
  }
}

function toState(state: JsonObject): JsonObject {
  const { content, error, structured, ...others } = state
  const said = asArray(content)
  const texts = said?.flatMap((part) =>
    isObject(part) && typeof part['text'] === 'string' ? [part['text']] : [],
  )
  const isText = said !== undefined && texts?.length === said.length
  const failure = asString(error) ?? asString(asObject(error)?.['message'])
  return {
    ...others,
    ...(said !== undefined && said.length > 0 && { output: isText ? (texts ?? []).join('\n') : said }),
    ...(failure !== undefined ? { error: failure } : error !== undefined && { failure: error }),
    ...(structured !== undefined && { metadata: structured }),
  }
}
