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
import { createReplayFold } from './codex-replay.ts'
import { createTokenFold, type TokenFold } from './codex-usage.ts'

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
}

/** `thread` is what calls are named after; undefined while nothing sure is known. */
export function createLineFold(
  facts: FactsFold,
  thread: () => string | undefined,
  { isWhole = () => true }: Options = {},
): { next(value: Json): FoldedLine; readonly hasCounts: boolean } {
  const replay = createReplayFold()
  const tokens = createTokenFold({ continues: () => replay.continues })
  let calls = 0
  let hasCounts = false
  /** What came last of the call that is on. */
  let state: 'none' | 'said' | 'answered' = 'none'
  let first: Json | undefined
  let segment: string | undefined

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
    if (hasCounts || tokens.usedBefore === undefined || of === undefined || !isWhole()) return undefined
    const from = nameOf(of)
    segment = uuidFrom(toJson([tokens.usedBefore, first ?? null]))
    return from === nameOf(of) ? undefined : [from, nameOf(of)]
  }
  const callFacts = (isNumbered: boolean): Pick<Entry, 'model' | 'call'> => {
    const { model, provider } = facts
    const of = isNumbered ? thread() : undefined
    const name = of && nameOf(of)
    const call = {
      ...(provider !== undefined && { provider }),
      ...(name !== undefined && { messageId: `${name}/${calls}` }),
    }
    return { ...(model !== undefined && { model }), ...(Object.keys(call).length > 0 && { call }) }
  }

  return {
    get hasCounts() {
      return hasCounts
    },
    next(value) {
      first ??= (isObject(value) && value['timestamp']) || null
      const line = fromCodexLine(value)
      const isReplayed = isObject(value) && replay.observe(value, line.at)
      facts.observe(value, line.at, isReplayed)
      if (isReplayed) line.metadata = { ...line.metadata, replayed: true }
      const isAssistant = line.kind === 'message' && line.role === 'assistant'
      // Without counts, only the order of calls and answers tells one call from the next.
      const isNext = isAssistant && state === 'answered' && !hasCounts
      const isBoundary = isNext || (state !== 'none' && isPrompt(line))
      if (isBoundary) {
        calls += 1
        state = 'none'
      }
      // Each run of `codex exec` prints its thread from the start: numbers would meet. What was copied is another thread's call.
      const isPrinted = line.metadata?.['layout'] === 'exec' || line.metadata?.['record'] === PRINTED_COUNT
      const isNumbered = !isPrinted && !isReplayed
      if (isAssistant) {
        state = 'said'
        return { line: Object.assign(line, callFacts(isNumbered)), isBoundary }
      }
      if (line.role === 'tool' && state === 'said') state = 'answered'
      const usage = countOf(value, tokens)
      if (usage === undefined) return { line, isBoundary }
      const renamed = isNumbered ? rename() : undefined
      const count = { usage, ...callFacts(isNumbered) }
      hasCounts = true
      calls += 1
      state = 'none'
      return { line, isBoundary, ...(!isReplayed && { count }), ...(renamed && { renamed }) }
    },
  }
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
