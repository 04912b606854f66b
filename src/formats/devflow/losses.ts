/** What a devflow document has no room for, said in words: of an entry, and of a session. */
import { isBlobRef, type Block, type ToolResultBlock } from '../../transcript/block.ts'
import type { Entry } from '../../transcript/entry.ts'
import { isObject } from '../../transcript/json.ts'
import type { Session } from '../../transcript/session.ts'
import type { Usage } from '../../transcript/usage.ts'

export function* lossesOf(entry: Entry): Generator<string> {
  if (!isOwnId(entry)) yield 'id'
  if (entry.parent !== undefined) yield 'parent'
  if (entry.stopReason !== undefined) yield 'stopReason'
  if (entry.call !== undefined) yield 'call'
  if (entry.metadata && Object.keys(entry.metadata).some((key) => key !== 'devflow')) yield 'metadata'
  if (entry.usage) yield* usageLosses(entry.usage)
  for (const what of new Set(entry.blocks.flatMap((block) => [...blockLosses(block, entry)]))) yield what
  if (!inTurnOrder(entry.blocks)) yield 'where its blocks begin and end'
}

export function* sessionLosses(session: Session, runId: string): Generator<string> {
  const { run, metadata, status } = session
  if (run?.id !== undefined && run.id !== runId) yield 'run.id'
  for (const key of ['step', 'agentKey', 'engine'] as const) if (run?.[key] !== undefined) yield `run.${key}`
  for (const key of NOT_HELD) if (session[key] !== undefined) yield key
  if (metadata && Object.keys(metadata).some((key) => key !== 'devflow')) yield 'metadata'
  if (status === 'interrupted') yield 'that it was interrupted: written as failed'
}

const NOT_HELD = [
  'native',
  'title',
  'agent',
  'model',
  'thread',
  'chat',
  'mode',
  'cwd',
  'git',
  'version',
  'stopReason',
  'parent',
  'stub',
  'tags',
] as const

/** Ids that reading gives again, or that say nothing beside source and sequence. */
function isOwnId({ id, source, sequence, origin }: Entry): boolean {
  return origin?.format === 'devflow' || id === `${source}/${sequence}`
}

function* usageLosses(usage: Usage): Generator<string> {
  const { cacheRead, cacheWrite5m, cacheWrite1h, reasoning, raw, quality } = usage
  if (cacheRead !== undefined || cacheWrite5m !== undefined || cacheWrite1h !== undefined)
    yield 'how much of the prompt was cached'
  if (reasoning !== undefined) yield 'reasoning tokens'
  if (raw !== undefined) yield "the provider's own usage"
  if (quality === 'partial' || quality === 'unavailable') yield 'usage quality'
}

function* blockLosses(block: Block, { origin }: Entry): Generator<string> {
  if (block.type === 'text') {
    if (isBlobRef(block.text)) yield 'content kept apart'
  } else if (block.type === 'tool-call') {
    if (block.inputBlob !== undefined) yield 'content kept apart'
    else if (block.input !== undefined && !isObject(block.input)) yield 'that a tool input is no object'
  } else if (block.type === 'tool-result') yield* resultLosses(block)
  else if (block.type === 'unknown') {
    if (origin?.format !== 'devflow' || block.reason !== undefined) yield 'an unknown block'
  } else yield block.type === 'image' || block.type === 'error' ? `an ${block.type}` : block.type
}

function* resultLosses({ output }: ToolResultBlock): Generator<string> {
  if (output === undefined || typeof output === 'string') return
  yield isBlobRef(output) ? 'content kept apart' : 'the blocks of a tool result'
}

/** One text, then tool calls, is how a turn reads back; results stand apart. */
function inTurnOrder(blocks: readonly Block[]): boolean {
  const held = blocks.filter((block) => block.type === 'text' || block.type === 'tool-call')
  return held.every((block, index) => block.type === 'tool-call' || index === 0)
}
