/**
 * What was asked and done in a session, step by step: each block of each message, whoever wrote it down in one record or in several. Two
 * steps with the same key say the same; ids, times and signatures are no part of it.
 */
import { createHash } from 'node:crypto'
import { contentText, outputText, type Block } from '../../transcript/block.ts'
import type { Entry, Role } from '../../transcript/entry.ts'
import { asArray, isObject, toJson, type Json } from '../../transcript/json.ts'
import { createHeldTexts, type HeldTexts } from './held-texts.ts'
import type { StepKind } from './kinds.ts'

export type Step = {
  /** Among all steps of the session, in the order they were recorded. */
  readonly at: number
  /** Of its entry among all of the session, in the order they were recorded. */
  readonly position: number
  readonly source: string
  readonly sequence: number
  readonly what: StepKind
  readonly tool?: string
  readonly key: string
  /** Of a result that was an error: what was said beside its output. */
  readonly error?: string
  /** Where all that it says is held; absent where that is too much, and of long texts the beginning. */
  readonly held?: number
}

export type StepFold = {
  add(entry: Entry): void
  readonly steps: readonly Step[]
  readonly texts: Pick<HeldTexts, 'get'>
}

/** UTF-16 units of one text, and of all texts of a session, that are held to be compared word by word. */
export const LONGEST_TEXT = 256 * 1024
const MOST_TEXT = 32 * 1024 * 1024
/** Calls whose results have not come. */
const MOST_OPEN = 10_000

export function createStepFold(): StepFold {
  const steps: Step[] = []
  const tools = new Map<string, string>()
  const texts = createHeldTexts(MOST_TEXT, LONGEST_TEXT)
  let entries = 0
  return {
    steps,
    texts,
    add(entry) {
      const { source, sequence, role } = entry
      const position = entries
      entries += 1
      for (const block of entry.blocks) {
        const what = kindOf(block, entry.kind, role)
        if (what === undefined) continue
        const tool = toolOf(block, tools, source)
        const said = textOf(block)
        const key = keyOf(what, tool, said, block)
        const held = texts.put(said, key)
        const error = block.type === 'tool-result' && block.isError === true ? (block.error ?? '') : undefined
        steps.push({
          at: steps.length,
          position,
          source,
          sequence,
          what,
          ...(tool !== undefined && { tool }),
          key,
          ...(error !== undefined && { error }),
          ...(held !== undefined && { held }),
        })
      }
    },
  }
}

/** Undefined for bookkeeping, and for thinking that nobody can read. */
function kindOf(block: Block, kind: Entry['kind'], role: Role | undefined): StepKind | undefined {
  switch (block.type) {
    case 'text':
      if (kind === 'event') return undefined
      return role === 'user'
        ? 'prompt'
        : role === 'system'
          ? 'instruction'
          : role === 'tool'
            ? 'result'
            : 'answer'
    case 'thinking':
      return block.text === '' ? undefined : 'thinking'
    case 'tool-call':
      return 'call'
    case 'tool-result':
      return 'result'
    case 'image':
    case 'error':
      return block.type
    case 'unknown':
      return kind === 'event' ? undefined : 'record'
  }
}

/** A result belongs to the tool that was called, though few results name it. */
function toolOf(block: Block, tools: Map<string, string>, source: string): string | undefined {
  if (block.type === 'tool-call') {
    if (block.callId !== undefined && tools.size < MOST_OPEN)
      tools.set(`${source} ${block.callId}`, block.name)
    return block.name
  }
  if (block.type !== 'tool-result') return undefined
  const id = `${source} ${block.callId ?? ''}`
  const called = tools.get(id)
  tools.delete(id)
  return called ?? block.name
}

function textOf(block: Block): string {
  switch (block.type) {
    case 'text':
    case 'thinking':
      return contentText(block.text)
    case 'tool-call':
      return block.inputBlob === undefined ? inputText(block.input) : contentText(block.inputBlob)
    case 'tool-result':
      return outputText(block)
    case 'image':
      return block.url ?? (block.data === undefined ? '' : contentText(block.data))
    case 'error':
      return block.message
    case 'unknown':
      return toJson(block.raw)
  }
}

/** Arguments line by line, in one order whatever order they were written in. */
export function inputText(input: Json | undefined): string {
  if (input === undefined) return ''
  return typeof input === 'string' ? input : toJson(sorted(input, DEEPEST), 2)
}

const DEEPEST = 50

function sorted(value: Json, depth: number): Json {
  if (depth === 0) return value
  const items = asArray(value)
  if (items !== undefined) return items.map((item) => sorted(item, depth - 1))
  if (!isObject(value)) return value
  const pairs = Object.keys(value)
    .sort()
    .map((key): [string, Json] => [key, sorted(value[key] as Json, depth - 1)])
  return Object.fromEntries(pairs)
}

/** 96 bits: two that differ are taken for the same once in a billion archives. */
function keyOf(what: StepKind, tool: string | undefined, said: string, block: Block): string {
  const hash = createHash('sha256').update(`${what}\n${tool ?? ''}\n`)
  if (block.type === 'tool-result') hash.update(`${block.isError === true}\n${block.error ?? ''}\n`)
  return hash.update(said).digest().toString('base64url', 0, 12)
}
