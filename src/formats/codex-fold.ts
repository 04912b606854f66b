/**
 * The lines of a rollout as entries, with what only the lines before them tell: the model, the call, whether they are copies of
 * another thread's. Codex names no call, so each is numbered within its thread: the same number wherever the file was copied to.
 */
import type { Entry } from '../transcript/entry.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { asObject, isObject, toJson, type Json } from '../transcript/json.ts'
import type { Usage } from '../transcript/usage.ts'
import type { FactsFold } from './codex-facts.ts'
import { fromCodexLine, recordName, type LineEntry } from './codex-lines.ts'
import type { OlderCalls } from './codex-older.ts'
import { createReplayFold } from './codex-replay.ts'
import { createTokenFold, statedTotal, type TokenFold } from './codex-usage.ts'

export type FoldedLine = {
  readonly line: LineEntry
  /** What the call that ends with this line used. It belongs to the last thing that the model said, or else to the line. */
  readonly count?: { readonly usage: Usage } & Pick<Entry, 'model' | 'call'>
  /** This line is of another call than what came before. */
  readonly isBoundary: boolean
  /** Calls so far were named by the first of these: now it shows that they go by the second. */
  readonly renamed?: readonly [from: string, to: string]
}

type Options = {
  /** False where lines are missing: counts may have stood in them. */
  readonly isWhole?: () => boolean
  /** What older versions of the rollout called its calls, where there are any. */
  readonly older?: OlderCalls | undefined
}

/** `thread` is what calls are named after; undefined while nothing sure is known. */
export function createLineFold(
  facts: FactsFold,
  thread: () => string | undefined,
  { isWhole = () => true, older }: Options = {},
): { next(value: Json, text?: string): FoldedLine; readonly hasCounts: boolean } {
  const replay = createReplayFold()
  const tokens = createTokenFold({
    continues: () => replay.continues,
    ...(older !== undefined && { isTold: (total) => older.nameOfTotal(total) !== undefined }),
  })
  let calls = 0
  let hasCounts = false
  /** What came last of the call that is on. */
  let state: 'none' | 'said' | 'answered' = 'none'
  let first: Json | undefined
  let segment: string | undefined
  /** What the call that is on goes by. */
  let current: string | undefined
  let isKnown = false
  /** Names of older versions that calls go by. */
  const given = new Set<string>()

  /**
   * Calls of two rollouts of one thread are different calls, though each is numbered from 0. Where no header tells a later rollout,
   * what was used before it does, and when it was begun.
   */
  const nameOf = (of: string): string => {
    const part = facts.segment ?? segment
    return part === undefined ? of : `${of}+${part}`
  }
  const rename = (): FoldedLine['renamed'] => {
    const of = thread()
    if (hasCounts || isKnown || tokens.usedBefore === undefined || of === undefined || !isWhole())
      return undefined
    const from = nameOf(of)
    segment = uuidFrom(toJson([tokens.usedBefore, first ?? null]))
    if (from === nameOf(of)) return undefined
    const renamed = [from, nameOf(of)] as const
    current &&= renamedCall(current, renamed)
    return renamed
  }
  /** As an older version named it; else by its place, and told apart from what had that place in an older version. */
  const callName = (of: string, value: Json, text: string): string => {
    const total = hasCounts ? undefined : statedTotal(value)
    const told =
      older?.nameOf(text, (name) => !given.has(name)) ??
      (total === undefined ? undefined : older?.nameOfTotal(total))
    if (told !== undefined) {
      isKnown = true
      given.add(told)
      return told
    }
    let name = `${nameOf(of)}/${calls}`
    while (older?.isTaken(name) === true) name += '~'
    return name
  }
  const callFacts = (isNumbered: boolean, value: Json, text: string): Pick<Entry, 'model' | 'call'> => {
    const { model, provider } = facts
    const of = isNumbered ? thread() : undefined
    if (of !== undefined) current ??= callName(of, value, text)
    const call = {
      ...(provider !== undefined && { provider }),
      ...(of !== undefined && current !== undefined && { messageId: current }),
    }
    return { ...(model !== undefined && { model }), ...(Object.keys(call).length > 0 && { call }) }
  }

  const end = (): void => {
    calls += 1
    state = 'none'
    current = undefined
  }

  return {
    get hasCounts() {
      return hasCounts
    },
    next(value, text = '') {
      first ??= (isObject(value) && value['timestamp']) || null
      const line = fromCodexLine(value)
      const isReplayed = isObject(value) && replay.observe(value, line.at)
      facts.observe(value, line.at, isReplayed)
      if (isReplayed) line.metadata = { ...line.metadata, replayed: true }
      const isAssistant = line.kind === 'message' && line.role === 'assistant'
      // Without counts, only the order of calls and answers tells one call from the next.
      const isNext = isAssistant && state === 'answered' && !hasCounts
      const isBoundary = isNext || (state !== 'none' && isPrompt(line))
      if (isBoundary) end()
      // Each run of `codex exec` prints its thread from the start: numbers would meet. What was copied is another thread's call.
      const isPrinted = line.metadata?.['layout'] === 'exec' || line.metadata?.['record'] === PRINTED_COUNT
      const isNumbered = !isPrinted && !isReplayed
      if (isAssistant) {
        state = 'said'
        return { line: Object.assign(line, callFacts(isNumbered, value, text)), isBoundary }
      }
      if (line.role === 'tool' && state === 'said') state = 'answered'
      const usage = countOf(value, tokens)
      if (usage === undefined) return { line, isBoundary }
      const renamed = isNumbered ? rename() : undefined
      const count = { usage, ...callFacts(isNumbered, value, text) }
      hasCounts = true
      end()
      return { line, isBoundary, ...(!isReplayed && { count }), ...(renamed && { renamed }) }
    },
  }
}

/** The name that a call goes by now, where it was named by the first of these. */
export function renamedCall(name: string, [from, to]: readonly [string, string]): string {
  return name.startsWith(`${from}/`) ? to + name.slice(from.length) : name
}

const PRINTED_COUNT = 'turn.completed'
const USAGE_RECORD = 'token_usage_record'

function isPrompt({ kind, role, metadata }: LineEntry): boolean {
  if (kind === 'message') return role === 'user'
  return metadata?.['record'] === 'task_started' || metadata?.['record'] === 'turn_started'
}

function countOf(value: Json, tokens: TokenFold): Usage | undefined {
  if (!isObject(value)) return undefined
  if (value['type'] === PRINTED_COUNT) {
    const more = tokens.total(value['usage'] ?? null)
    // A thread's total: where it was resumed, some of it was told before, and nothing here says so.
    return more?.quality === 'reported' ? { ...more, quality: 'estimated' } : more
  }
  if (value['type'] === USAGE_RECORD) return tokens.record(asObject(value['payload']))
  if (value['type'] !== 'event_msg' || recordName(value) !== 'token_count') return undefined
  return tokens.add(asObject(value['payload'])?.['info'])
}
