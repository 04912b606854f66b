/**
 * What Cursor's messages hold, as blocks: the agent's transcripts write Anthropic's names, the agent's own store those of the AI
 * SDK. Calls mostly have no id, and are then paired with their results by position. What is neither stays an unknown block.
 */
import type { Block, ToolResultBlock } from '../transcript/block.ts'
import type { Role } from '../transcript/entry.ts'
import {
  asArray,
  asObject,
  asString,
  isObject,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { DriftWatch } from './drift.ts'
import { always, isFlag, isNamed, isText, leftOver, takes, type Takes } from './left-over.ts'
import { asId, type Said } from './placing.ts'

/** A message of `{ role, content }` as an entry; `about` is what else its record says. */
export function fromMessage(
  role: string | undefined,
  content: Json | undefined,
  about: JsonObject,
  drift?: DriftWatch,
): Omit<Said, 'kind'> & { readonly kind: 'message' } {
  const around: string[] = []
  const toText = (text: string): Block => {
    const prompt = role === 'user' ? unwrapQuery(text) : undefined
    if (prompt === undefined) return { type: 'text', text }
    for (const other of prompt.around) around.push(other)
    return { type: 'text', text: prompt.text }
  }
  const blocks =
    typeof content === 'string'
      ? [toText(content)]
      : (asArray(content) ?? (content === undefined ? [] : [content])).map((part) =>
          toBlock(part, toText, drift),
        )
  const spoken = toRole(role, blocks)
  const extras = (asArray(content) ?? []).map((part, at) => beyond(part, blocks[at]))
  const metadata = {
    ...about,
    // Who it was when it is nobody that we know; results are the tool's, whoever brings them.
    ...(role !== undefined && !ROLES.has(role) && { role }),
    ...(around.length > 0 && { around }),
    ...(extras.some((one) => one !== null) && { content: extras }),
  }
  return {
    kind: 'message',
    ...(spoken !== undefined && { role: spoken }),
    blocks,
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
}

const OPEN = '<user_query>'
const CLOSE = '</user_query>'

/** What the user typed, and what Cursor put around it: open files, links, rules. */
export function unwrapQuery(
  text: string,
): { readonly text: string; readonly around: readonly string[] } | undefined {
  const from = text.indexOf(OPEN)
  const to = text.lastIndexOf(CLOSE)
  if (from === -1 || to < from) return undefined
  const around = [text.slice(0, from), text.slice(to + CLOSE.length)].map((part) => part.trim())
  return {
    text: text
      .slice(from + OPEN.length, to)
      .replace(/^\r?\n/, '')
      .replace(/\r?\n$/, ''),
    around: around.filter((part) => part !== ''),
  }
}

const ROLES: ReadonlySet<string> = new Set(['system', 'user', 'assistant', 'tool'])

/** Results are the tool's, whoever is said to bring them. */
function toRole(role: string | undefined, blocks: readonly Block[]): Role | undefined {
  if (blocks.length > 0 && blocks.every(({ type }) => type === 'tool-result')) return 'tool'
  return role !== undefined && ROLES.has(role) ? (role as Role) : undefined
}

function toBlock(part: Json, toText: (text: string) => Block, drift: DriftWatch | undefined): Block {
  if (typeof part === 'string') return toText(part)
  if (!isObject(part)) return { type: 'unknown', raw: part }
  const type = asString(part['type']) ?? 'unknown'
  drift?.block(type, undefined, part)
  const text = asString(part['text'])
  if (type === 'text' && text !== undefined) return toText(text)
  if (type === 'thinking' || type === 'reasoning') {
    const thought = asString(part['thinking']) ?? text
    const signature = asString(part['signature'])
    if (thought !== undefined)
      return { type: 'thinking', text: thought, ...(signature !== undefined && { signature }) }
  }
  if (CALLS.has(type)) return toCall(part) ?? { type: 'unknown', raw: part }
  if (RESULTS.has(type)) return toResult(part)
  return { type: 'unknown', raw: part }
}

/** What a part says that its block does not. */
function beyond(part: Json, block: Block | undefined): JsonObject | null {
  const taken = block === undefined ? undefined : TAKEN.get(block.type)
  return !isObject(part) || taken === undefined ? null : (leftOver(part, taken) ?? null)
}

const TAKEN: ReadonlyMap<string, Takes> = new Map([
  ['text', takes({ type: always, text: isText })],
  ['thinking', takes({ type: always, text: isText, thinking: isText, signature: isText })],
  [
    'tool-call',
    takes({
      type: always,
      name: isText,
      toolName: isText,
      id: isNamed,
      toolCallId: isNamed,
      input: always,
      args: always,
    }),
  ],
  [
    'tool-result',
    takes({
      type: always,
      name: isText,
      toolName: isText,
      tool_use_id: isNamed,
      toolCallId: isNamed,
      content: always,
      result: always,
      output: always,
      is_error: isFlag,
      isError: isFlag,
    }),
  ],
])

const CALLS: ReadonlySet<string> = new Set(['tool_use', 'tool_call', 'tool-call'])
const RESULTS: ReadonlySet<string> = new Set(['tool_result', 'tool-result'])

function toCall(part: JsonObject): Block | undefined {
  const name = asString(part['name']) ?? asString(part['toolName'])
  if (name === undefined) return undefined
  const callId = asId(part['id']) ?? asId(part['toolCallId'])
  const input = part['input'] ?? part['args']
  return {
    type: 'tool-call',
    ...(callId !== undefined && { callId }),
    name,
    ...(input !== undefined && { input }),
  }
}

function toResult(part: JsonObject): ToolResultBlock {
  const callId = asId(part['tool_use_id']) ?? asId(part['toolCallId'])
  const name = asString(part['name']) ?? asString(part['toolName'])
  const output = toOutput(part['content'] ?? part['result'] ?? part['output'])
  const isError = part['is_error'] === true || part['isError'] === true
  return {
    type: 'tool-result',
    ...(callId !== undefined && { callId }),
    ...(name !== undefined && { name }),
    ...(output !== undefined && { output }),
    ...(isError && { isError }),
  }
}

/** Text where it is text; the structure a tool gave back otherwise. */
export function toOutput(content: Json | undefined): string | readonly Block[] | undefined {
  if (content === undefined || content === null) return undefined
  if (typeof content === 'string') return content
  const parts = asArray(content)
  if (parts === undefined) return [{ type: 'unknown', raw: content }]
  const blocks = parts.map((part): Block => {
    const text = isObject(part) && part['type'] === 'text' ? asString(part['text']) : undefined
    return text === undefined ? { type: 'unknown', raw: part } : { type: 'text', text }
  })
  const [only] = blocks
  return blocks.length === 1 && only?.type === 'text' && typeof only.text === 'string' ? only.text : blocks
}

/** Of a record: what is neither its role nor its message, and of the message what is not its content. */
export function aboutOf(record: JsonObject): JsonObject {
  const message = asObject(record['message'])
  const own = rest(record, RECORD)
  const inner = message && rest(message, MESSAGE)
  return { ...own, ...(inner !== undefined && { message: inner }) }
}

const RECORD: ReadonlySet<string> = new Set(['role', 'message'])
const MESSAGE: ReadonlySet<string> = new Set(['content'])
