/**
 * What a target cannot hold of a session and of an entry, told by every writer in the same words. A writer says what will read
 * back; every fact that is there and does not read back as it was is lost, so that a fact nobody thought of is reported.
 */
import type { Block, ImageBlock } from '../transcript/block.ts'
import type { Call, Entry } from '../transcript/entry.ts'
import { toJson } from '../transcript/json.ts'
import type { Run, Session } from '../transcript/session.ts'
import { promptTokens, type Usage } from '../transcript/usage.ts'
import type { WriteContext } from './format.ts'

type Notes = Pick<WriteContext, 'lost'>

/**
 * Reports the facts of a session that do not read back. `held` is the session as its reader will give it. Totals are no fact:
 * they are summed from the entries.
 */
export function loseFacts(session: Session, held: Partial<Session>, notes: Notes): void {
  const lose = (what: string): void => notes.lost(undefined, what)
  for (const [fact, word] of SESSION_FACTS) if (isLost(session[fact], held[fact])) lose(word)
  for (const [fact, word] of RUN_FACTS) if (isLost(session.run?.[fact], held.run?.[fact])) lose(word)
  for (const fact of ['branch', 'commit', 'remote'] as const) {
    if (isLost(session.git?.[fact], held.git?.[fact])) lose(`git ${fact}`)
  }
  for (const name of Object.keys(session.names ?? {})) {
    if (isLost(session.names?.[name], held.names?.[name])) lose(`${name} name`)
  }
  if (hasLostKey(session.metadata, held.metadata)) lose('metadata')
  if (session.status !== held.status) lose(`status ${session.status}`)
  const { reportedUsage } = session
  if (reportedUsage === undefined) return
  const parts = usageLosses(reportedUsage, held.reportedUsage)
  if (parts.length > 0) lose(['reported usage', ...parts.filter((part) => part !== 'usage')].join(', '))
}

/** For a session of which the target has no file at all. */
export function loseSession(why: string, notes: Notes): void {
  notes.lost(undefined, `the whole session: ${why}`)
}

/** What reads back of an entry. `callIds`: its tool calls and results keep theirs. */
export type HeldEntry = Partial<Entry> & { readonly callIds?: boolean }

/**
 * Reports the facts of an entry that do not read back, in one note: `entry id, model, stop reason`. `others` are losses that
 * only the writer can know, its blocks' among them.
 */
export function loseEntryFacts(
  entry: Entry,
  held: HeldEntry,
  notes: Notes,
  others: Iterable<string> = [],
): void {
  const lost: string[] = []
  if (!isNumbered(entry) && entry.id !== held.id) lost.push('entry id')
  if (isLost(entry.parent, held.parent) && !isFirst(entry)) lost.push('parent')
  if (entry.source !== held.source) lost.push('source')
  if (entry.kind !== held.kind || isLost(entry.role, held.role)) lost.push('role')
  if (isLost(entry.at, held.at)) lost.push(isCut(entry.at, held.at) ? 'nanoseconds' : 'time')
  if (isLost(entry.model, held.model)) lost.push('model')
  if (entry.usage !== undefined) lost.push(...usageLosses(entry.usage, held.usage))
  if (isLost(entry.stopReason, held.stopReason)) lost.push('stop reason')
  if (isLost(entry.durationMs, held.durationMs)) lost.push('duration')
  for (const [fact, word] of CALL_FACTS) if (isLost(entry.call?.[fact], held.call?.[fact])) lost.push(word)
  if (hasLostKey(entry.metadata, held.metadata)) lost.push('metadata')
  if (held.callIds !== true && entry.blocks.some(hasCallId)) lost.push('tool call id')
  const words = new Set([...lost, ...others])
  if (words.size > 0) notes.lost(entry, [...words].join(', '))
}

/** For an entry of which nothing is written. */
export function loseEntry(entry: Entry, why: string, notes: Notes): void {
  notes.lost(entry, `the whole entry: ${why}`)
}

/** What a block that has no place at all is called. */
export function unheldBlock({ type }: Block): string {
  if (type === 'image' || type === 'error') return `an ${type}`
  return type === 'unknown' ? 'an unknown block' : type
}

/** The parts of a usage that read back as something else. What was cached may still be in the sum. */
export function usageLosses(usage: Usage, held: Usage | undefined): string[] {
  if (held === undefined) return ['usage']
  const lost: string[] = []
  if (isLost(promptTokens(usage), promptTokens(held)) || isLost(usage.output, held.output)) lost.push('usage')
  if (CACHE_COUNTS.some((count) => isLost(usage[count], held[count]))) lost.push('cache tokens')
  if (isLost(usage.reasoning, held.reasoning)) lost.push('reasoning tokens')
  if (usage.quality !== held.quality) lost.push('usage quality')
  if (isLost(usage.raw, held.raw)) lost.push("provider's usage")
  return lost
}

/** True where one source says all of an image: data and its type, or a URL alone, as Anthropic's blocks do. */
export function isWholeImage({ data, url, mediaType }: ImageBlock): boolean {
  return data === undefined ? url !== undefined && mediaType === undefined : url === undefined
}

const SESSION_FACTS = [
  ['id', 'session id'],
  ['native', 'native id'],
  ['recordings', 'recordings'],
  ['title', 'title'],
  ['agent', 'agent'],
  ['model', 'model'],
  ['thread', 'thread'],
  ['chat', 'chat'],
  ['mode', 'mode'],
  ['cwd', 'cwd'],
  ['version', 'version'],
  ['startedAt', 'start time'],
  ['endedAt', 'end time'],
  ['error', 'error'],
  ['stopReason', 'stop reason'],
  ['input', 'input'],
  ['parent', 'parent'],
  ['stub', 'stub'],
  ['tags', 'tags'],
  ['reportedCost', 'reported cost'],
] as const satisfies readonly (readonly [keyof Session, string])[]

const RUN_FACTS = [
  ['id', 'run id'],
  ['flow', 'flow'],
  ['step', 'step'],
  ['node', 'node'],
  ['agentKey', 'agent key'],
  ['engine', 'engine'],
] as const satisfies readonly (readonly [keyof Run, string])[]

const CALL_FACTS = [
  ['provider', 'provider'],
  ['requestId', 'request id'],
  ['messageId', 'message id'],
] as const satisfies readonly (readonly [keyof Call, string])[]

const CACHE_COUNTS = ['cacheRead', 'cacheWrite5m', 'cacheWrite1h'] as const

/** By value; what is absent cannot be lost. */
function isLost(value: unknown, held: unknown): boolean {
  if (value === undefined || value === held) return false
  const isDeep = typeof value === 'object' && value !== null && held !== undefined
  return !isDeep || toJson(value) !== toJson(held)
}

function hasLostKey(value: object | undefined, held: object | undefined): boolean {
  if (value === undefined || value === held) return false
  const keys = new Map(Object.entries(held ?? {}))
  return Object.entries(value).some(([key, one]) => isLost(one, keys.get(key)))
}

/** An id that says no more than the entry's place does. */
function isNumbered({ id, source, sequence }: Entry): boolean {
  return id === `${source}/${sequence}`
}

/** That nothing comes before the first entry goes without saying. */
function isFirst({ parent, sequence }: Entry): boolean {
  return parent === null && sequence === 0
}

/** The same instant, as far as the target writes it. */
function isCut(at: string | undefined, held: string | undefined): boolean {
  return at !== undefined && held !== undefined && at.slice(0, 26) === held.slice(0, 26)
}

function hasCallId(block: Block): boolean {
  return (block.type === 'tool-call' || block.type === 'tool-result') && block.callId !== undefined
}
