/**
 * The messages that were sent to the model, as the Cline family keeps them: Anthropic's messages with a few keys more. Calls and results that
 * old versions wrote as text are calls and results all the same.
 */
import type { Block, ToolResultBlock } from '../transcript/block.ts'
import { fromMillis } from '../transcript/instant.ts'
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { splitAnthropicBlock } from '../wire/anthropic-blocks.ts'
import { isEnvironment, resultOf, splitCalls } from './cline-xml.ts'
import { always, isMillis, isNamed, isText, leftOver, takes } from './left-over.ts'
import { asId, type Said } from './placing.ts'

/** Undefined for what is no message. */
export function fromHistoryMessage(message: JsonObject): Said | undefined {
  const role = message['role']
  if (role !== 'user' && role !== 'assistant' && role !== 'system') return undefined
  const content = message['content']
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : asArray(content)
  if (parts === undefined) return undefined
  const split = parts.map((part) => (isReasoning(part) ? fromReasoning(part) : splitAnthropicBlock(part)))
  const blocks = split.map(({ block }) => block)
  const extras = split.map((one) => ('extras' in one ? (one.extras ?? null) : null))
  const id = asId(message['id'])
  const at = fromMillis(asNumber(message['ts']) ?? Number.NaN)
  const model = modelOf(message)
  const metadata = {
    ...leftOver(message, KNOWN),
    ...(extras.some((one) => one !== null) && { content: extras }),
  }
  const said = role === 'assistant' ? withCalls(blocks) : withResults(blocks)
  const isResults = said.length > 0 && said.every(({ type }) => type === 'tool-result')
  return {
    ...(id !== undefined && { id }),
    ...(at !== undefined && { at }),
    kind: 'message',
    role: role === 'user' && isResults ? 'tool' : role,
    blocks: said,
    ...(role === 'assistant' && model !== undefined && { model }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
}

/** The CLI calls it `id`, the extension `modelId`. */
export function modelOf(message: JsonObject): string | undefined {
  const info = asObject(message['modelInfo'])
  return asString(info?.['modelId']) ?? asString(info?.['id'])
}

/** Roo names the model among the details of the editor that go with each request. */
export function toldModel(message: JsonObject): string | undefined {
  return findInText(message, /<model>([^<\n]{1,120})<\/model>/)
}

/** The working directory, from the same details. */
export function toldFolder(message: JsonObject): string | undefined {
  return findInText(message, /# Current (?:Working|Workspace) Directory \(([^)\n]{1,1000})\)/)
}

const KNOWN = takes({ id: isNamed, role: always, content: always, ts: isMillis })

function isReasoning(part: Json): part is JsonObject {
  return isObject(part) && part['type'] === 'reasoning'
}

const REASONING = takes({ type: always, text: isText, encrypted_content: isText })

/** What other providers' thinking is kept as. */
function fromReasoning(part: JsonObject): { readonly block: Block; readonly extras?: JsonObject } {
  const text = asString(part['text'])
  const redacted = asString(part['encrypted_content'])
  if (text === undefined && redacted === undefined) return { block: { type: 'unknown', raw: part } }
  const extras = leftOver(part, REASONING)
  return {
    block: { type: 'thinking', text: text ?? '', ...(redacted !== undefined && { redacted }) },
    ...(extras !== undefined && { extras }),
  }
}

function withCalls(blocks: readonly Block[]): readonly Block[] {
  if (blocks.some(({ type }) => type === 'tool-call')) return blocks
  return blocks.flatMap((block) =>
    block.type === 'text' && typeof block.text === 'string' ? splitCalls(block.text) : [block],
  )
}

/** A result's head, and the blocks behind it up to the next head or the editor's details. */
function withResults(blocks: readonly Block[]): readonly Block[] {
  if (blocks.some(({ type }) => type === 'tool-result')) return blocks
  const said: Block[] = []
  let open: { readonly name: string; readonly parts: Block[] } | undefined
  const close = (): void => {
    if (open !== undefined) said.push(toResult(open.name, open.parts))
    open = undefined
  }
  for (const block of blocks) {
    const text = block.type === 'text' && typeof block.text === 'string' ? block.text : undefined
    const head = text === undefined ? undefined : resultOf(text)
    if (head !== undefined) {
      close()
      open = { name: head.name, parts: head.output === '' ? [] : [{ type: 'text', text: head.output }] }
    } else if (open !== undefined && (text === undefined || !isEnvironment(text))) open.parts.push(block)
    else {
      close()
      said.push(block)
    }
  }
  close()
  return said
}

function toResult(name: string, parts: readonly Block[]): ToolResultBlock {
  const [only, ...others] = parts
  if (only === undefined) return { type: 'tool-result', name }
  const output = others.length === 0 && only.type === 'text' ? only.text : parts
  return { type: 'tool-result', name, output }
}

/** Details stand at the end of a message's last text. */
function findInText({ content }: JsonObject, pattern: RegExp): string | undefined {
  const parts = typeof content === 'string' ? [content] : (asArray(content) ?? []).map(textOf)
  for (const text of parts) {
    const at = text.lastIndexOf('<environment_details>')
    const found = at === -1 ? undefined : pattern.exec(text.slice(at))?.[1]
    if (found === undefined) continue
    // A part of a text holds on to all of it, and so does what was last found by any pattern: it may be of many MB.
    const copy = JSON.parse(JSON.stringify(found)) as string
    ANYTHING.test(copy)
    return copy
  }
  return undefined
}

/** Found in any text: after a short one, nothing holds on to a long one. */
const ANYTHING = /^/

function textOf(part: Json): string {
  return isObject(part) ? (asString(part['text']) ?? '') : ''
}
