/**
 * Records of Claude Code that are no messages and still say something to read: what hooks, commands and reminders put before
 * the model, and prompts that a person typed while the model was at work. Their text becomes a block; the rest of the record stays
 * in metadata, where `metadata.lifted` says which field the text was taken from.
 */
import type { Block } from '../transcript/block.ts'
import { isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { splitAnthropicBlock, toAnthropicBlock } from '../wire/anthropic-blocks.ts'
import type { LineEntry } from './claude-lines.ts'

export type EventLine = {
  readonly entry: Pick<LineEntry, 'kind' | 'role' | 'blocks'>
  /** The record without its text. */
  readonly rest: JsonObject
  readonly metadata: JsonObject
}

/** Undefined for a record that is best kept whole. */
export function eventOf(line: JsonObject): EventLine | undefined {
  // The tag has this name, and a message is read as one or not at all.
  if (Object.hasOwn(line, 'record') || Object.hasOwn(line, 'message')) return undefined
  const { type, attachment, content } = line
  if (type === 'system' && typeof content === 'string' && content !== '') {
    const { content: _, ...rest } = line
    return { entry: toEvent(content), rest, metadata: { record: type, lifted: 'content' } }
  }
  if (type !== 'attachment' || !isObject(attachment)) return undefined
  const prompt = attachment['type'] === 'queued_command' ? promptOf(attachment) : undefined
  if (prompt !== undefined) return prompt.toLine(line)
  const key = TEXTS.find((name) => isText(attachment[name]))
  if (key === undefined) return undefined
  const { [key]: text, ...others } = attachment
  return {
    entry: toEvent(text as string),
    rest: { ...line, attachment: others },
    metadata: { record: type, lifted: `attachment.${key}` },
  }
}

/** The field of the record that an event's or a queued prompt's text goes back to; undefined for every other entry. */
export function lowered(blocks: readonly Block[], metadata: JsonObject): JsonObject | undefined {
  const { lifted, attachment } = metadata
  const [first] = blocks
  const text = first?.type === 'text' ? first.text : undefined
  if (lifted === 'content' && typeof text === 'string') return { content: text }
  if (typeof lifted !== 'string' || !lifted.startsWith('attachment.') || !isObject(attachment))
    return undefined
  const key = lifted.slice('attachment.'.length)
  if (key === PARTS)
    return { attachment: { ...attachment, prompt: blocks.map((block) => toAnthropicBlock(block)) } }
  return typeof text === 'string' ? { attachment: { ...attachment, [key]: text } } : undefined
}

/** Where attachments have their text, the one that says most first. */
const TEXTS = ['content', 'text', 'prompt', 'stdout', 'snippet', 'banner', 'deltaSummary'] as const

/** `lifted` for a prompt of several parts. */
const PARTS = 'prompt[]'

const isText = (value: Json | undefined): value is string => typeof value === 'string' && value !== ''

function toEvent(text: string): EventLine['entry'] {
  return { kind: 'event', blocks: [{ type: 'text', text }] }
}

/** A prompt typed while the model was at work is a message like any other; a note that a task is done is not. */
function promptOf(attachment: JsonObject): { toLine(line: JsonObject): EventLine } | undefined {
  const { prompt, commandMode, ...others } = attachment
  if (commandMode === 'task-notification' || attachment['isMeta'] === true) return undefined
  const blocks = promptBlocks(prompt)
  if (blocks === undefined) return undefined
  const kept = { ...others, ...(commandMode !== undefined && { commandMode }) }
  const lifted = typeof prompt === 'string' ? 'attachment.prompt' : `attachment.${PARTS}`
  return {
    toLine: (line) => ({
      entry: { kind: 'message', role: 'user', blocks },
      rest: { ...line, attachment: kept },
      metadata: { record: 'attachment', lifted },
    }),
  }
}

/** Undefined for parts that would not go back as they are. */
function promptBlocks(prompt: Json | undefined): Block[] | undefined {
  if (typeof prompt === 'string') return [{ type: 'text', text: prompt }]
  if (!Array.isArray(prompt) || prompt.length === 0) return undefined
  const parts = (prompt as readonly Json[]).map(splitAnthropicBlock)
  return parts.every(({ extras }) => extras === undefined) ? parts.map(({ block }) => block) : undefined
}
