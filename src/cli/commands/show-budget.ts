/**
 * The most telling entries of a session that fit a budget of tokens, in their order, each with its citation: what was asked first,
 * the last answer, what failed, what was asked since, what was changed. With a query, the entries that match it come before all.
 * Entries that are long are cut. Memory is bounded by the budget, whatever the session's length.
 */
import { counted } from '../../transcript/counted.ts'
import { HansardError } from '../../errors.ts'
import { hasFailed, type Block } from '../../transcript/block.ts'
import { PRIMARY, type Entry } from '../../transcript/entry.ts'
import type { Session } from '../../transcript/session.ts'
import { createMatcher } from '../../search/match.ts'
import { parseQuery } from '../../search/query.ts'
import { budgetBytes, ESTIMATE, tokensOf } from '../budget.ts'
import { createDrawText, describe, drawJson, fitted } from '../digest-parts.ts'
import { printableJson } from '../print.ts'
import type { Drawn, ShowOptions } from './show.ts'

/** One session, chosen from by a budget. */
export function drawBudget(
  as: NonNullable<ShowOptions['as']>,
  { mode, turn, all, events, query, budgetTokens: tokens }: ShowOptions,
  utc: boolean | undefined,
  isPartial: () => boolean,
): Drawn {
  if (tokens === undefined)
    throw new HansardError('invalid-argument', '--query says what comes first where a budget chooses', {
      hint: 'add --budget-tokens 4000; hansard search finds entries of any session',
    })
  if (as === 'md' || as === 'html' || mode !== undefined || turn !== undefined || all || events)
    throw new HansardError('invalid-argument', '--budget-tokens chooses entries of one session by itself', {
      hint: 'leave out --as md|html, --mode, --turn, --all and --events',
    })
  const chosen = { tokens, json: as === 'json', ...(query !== undefined && { query }), ...(utc && { utc }) }
  let digest: Digest | undefined
  return {
    begin({ session }) {
      digest = createDigest(session, chosen)
      return ''
    },
    entry(entry) {
      digest?.add(entry)
      return []
    },
    end: () => digest?.end(isPartial()) ?? '',
    close: () => '',
  }
}

export type BudgetOptions = {
  readonly tokens: number
  readonly json: boolean
  readonly query?: string
  readonly utc?: boolean
}

export type Digest = {
  add(entry: Entry): void
  /** The whole answer. `isPartial`: not all of the session was read. */
  end(isPartial: boolean): string
}

type Part = { readonly rank: number; readonly order: number; readonly text: string; readonly bytes: number }

/** Said of every answer, whatever is in it. */
const ENVELOPE = 240
/** Of the budget, what one entry may take. */
const SHARE = 1 / 4

export function createDigest(session: Session, options: BudgetOptions): Digest {
  const whole = budgetBytes(options.tokens)
  const about = describe(session, options, Math.floor(whole / 4))
  const room = whole - Buffer.byteLength(about) - ENVELOPE
  const rankOf = createRanks(session, options.query)
  const draw = options.json ? drawJson : createDrawText(options.utc === true)
  let parts: Part[] = []
  let kept = 0
  let count = 0
  let lastAnswer: Part | undefined
  const add = (part: Part): void => {
    parts.push(part)
    kept += part.bytes
    // Those that nothing can make room for any more go.
    if (kept < room * 8) return
    parts = choose(parts, room * 2)
    kept = parts.reduce((sum, { bytes }) => sum + bytes, 0)
  }
  return {
    add(entry) {
      const order = count
      count += 1
      const rank = rankOf(entry, order)
      if (rank === undefined) return
      const text = fitted(entry, session, draw, Math.max(MIN_ENTRY, room * SHARE))
      const part = { rank, order, text, bytes: Buffer.byteLength(text) + SEPARATOR }
      if (!isAnswer(entry)) return add(part)
      // The last answer counts for more than those before it, and which is last is known at the end.
      if (lastAnswer !== undefined) add(lastAnswer)
      lastAnswer = part
    },
    end(isPartial) {
      if (lastAnswer !== undefined) add({ ...lastAnswer, rank: Math.max(lastAnswer.rank, LAST_ANSWER) })
      const chosen = choose(parts, room).sort((a, b) => a.order - b.order)
      const more = { leftOut: count - chosen.length, tokens: options.tokens, isPartial }
      return options.json ? toDocument(about, chosen, more) : toPage(about, chosen, more)
    },
  }
}

const MIN_ENTRY = 120
/** What stands between two entries. */
const SEPARATOR = 80

/** The best that fit, the best first. */
function choose(parts: readonly Part[], room: number): Part[] {
  let left = room
  return parts
    .toSorted((a, b) => b.rank - a.rank || b.order - a.order)
    .filter(({ bytes }) => {
      if (bytes > left) return false
      left -= bytes
      return true
    })
}

const MATCHES = 100
const FIRST_PROMPT = 90
const LAST_ANSWER = 80
const FAILURE = 70
const PROMPT = 60
const CHANGE = 50
const ANSWER = 40
const CALL = 30
const RESULT = 20

const CHANGES = /edit|write|patch|replace|create|delete|move/iu

/** Undefined for what tells nothing: records that are no messages. */
function createRanks(
  session: Session,
  query: string | undefined,
): (entry: Entry, order: number) => number | undefined {
  const matcher = query === undefined ? undefined : createMatcher(parseQuery(query))
  let hasPrompt = false
  return (entry) => {
    const plain = plainRank(entry)
    if (matcher?.entry(entry, session) !== undefined) return MATCHES + (plain ?? 0) / 100
    return plain
  }

  function plainRank(entry: Entry): number | undefined {
    const { blocks, role } = entry
    if (blocks.some(isFailure)) return FAILURE
    const hasText = blocks.some(({ type }) => type === 'text')
    if (role === 'user' && hasText && entry.source === PRIMARY) {
      const rank = hasPrompt ? PROMPT : FIRST_PROMPT
      hasPrompt = true
      return rank
    }
    if (blocks.some((block) => block.type === 'tool-call' && CHANGES.test(block.name))) return CHANGE
    if (isAnswer(entry)) return ANSWER
    if (blocks.some(({ type }) => type === 'tool-call')) return CALL
    return blocks.some(({ type }) => type !== 'unknown') ? RESULT : undefined
  }
}

function isFailure(block: Block): boolean {
  return block.type === 'error' || (block.type === 'tool-result' && hasFailed(block))
}

function isAnswer({ role, blocks, source }: Entry): boolean {
  return role === 'assistant' && source === PRIMARY && blocks.some(({ type }) => type === 'text')
}

type More = { readonly leftOut: number; readonly tokens: number; readonly isPartial: boolean }

function toDocument(about: string, chosen: readonly Part[], { leftOut, tokens, isPartial }: More): string {
  const entries = chosen.map(({ text }) => text).join(',\n')
  const start = `{"session":${about},"entries":[\n${entries}\n]`
  const used = tokensOf(Buffer.byteLength(start) + ENVELOPE)
  const budget = printableJson({ tokens, used, estimate: ESTIMATE, leftOut })
  return `${start},"budget":${budget}${isPartial ? ',"isPartial":true' : ''}}\n`
}

function toPage(about: string, chosen: readonly Part[], { leftOut }: More): string {
  let page = about
  let next = 0
  for (const { order, text } of chosen) {
    if (order > next) page += `… ${order - next} left out\n\n`
    page += `${text}\n`
    next = order + 1
  }
  return `${page}${counted(leftOut, 'entry', 'entries')} left out\n`
}
