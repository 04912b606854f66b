/**
 * Entries into turns. A tool's result goes into the call it answers; everything else is a turn of its own. What a turn cannot
 * hold is reported entry by entry. Beyond the seed's fields a turn carries `model` and `source`, and a tool call `timestamp` and
 * `durationMs` of its result: keys that a Go reader passes over.
 */
import {
  outputText,
  textOf,
  type Block,
  type ToolCallBlock,
  type ToolResultBlock,
} from '../../transcript/block.ts'
import { PRIMARY, type Entry } from '../../transcript/entry.ts'
import { asArray, asObject, isObject, type Json, type JsonObject } from '../../transcript/json.ts'
import { createPairing } from '../../transcript/tools.ts'
import { callKey, keyAmong, providerOf } from '../../transcript/totals.ts'
import { hasCounts, laterReport, promptTokens, validUsage, type Usage } from '../../transcript/usage.ts'
import type { WriteContext } from '../format.ts'
import { loseEntry } from '../lost-facts.ts'
import { createContinuedTurns } from './continued-turn.ts'
import { toGoTime } from './fields.ts'
import { loseOfEntry, loseOverwritten } from './losses.ts'

export type Turns = {
  add(entry: Entry): void
  count(): number
  /** The document's `turns`, fillers reported. */
  write(): readonly JsonObject[]
}

type Notes = Pick<WriteContext, 'lost' | 'filled'>

/** One turn while it may still change: results come later, a message may go on, and the last report of a call wins. */
type Draft = {
  readonly entry: Entry
  readonly role: string
  readonly calls: ({ readonly draft: CallDraft } | { readonly raw: Json })[]
  readonly kept: JsonObject | undefined
  content: string
  usage: Usage | undefined
  /** The entry whose usage that is: the turn's own, or one that went on with it. */
  reporter?: Entry
  model: string | undefined
  durationMs: number | undefined
  /** The call that was answered last, by its place: results read back in the order of their calls. */
  answered: number
}

type CallDraft = {
  readonly turn: Draft
  readonly place: number
  readonly call: ToolCallBlock
  readonly kept: JsonObject | undefined
  result?: JsonObject
}

/** Written where a tool is known to have failed and did not say why: in Go an empty error means none. */
const NO_REASON = 'the tool failed'

export function createTurns(notes: Notes): Turns {
  const drafts: Draft[] = []
  const pairing = createPairing<CallDraft>()
  const continued = createContinuedTurns<Draft>()
  const reported = new Map<string, { draft: Draft; provider: string | undefined }>()

  const open = (entry: Entry, role: string): Draft => {
    const { calls: _, turn: __, ...kept } = asObject(entry.metadata?.['devflow']) ?? {}
    const draft: Draft = {
      entry,
      role,
      calls: [],
      kept: Object.keys(kept).length > 0 ? kept : undefined,
      content: '',
      usage: undefined,
      model: undefined,
      durationMs: undefined,
      answered: -1,
    }
    drafts.push(draft)
    continued.open(draft)
    return draft
  }

  const push = (entry: Entry, role: string, blocks: readonly Block[]): void => {
    const before = continued.find(entry)
    if (before !== undefined) notes.lost(entry, 'that it is an entry of its own')
    if (before !== undefined && before !== continued.last(entry.source))
      notes.lost(entry, 'its place in the order')
    if (before !== undefined) loseOverwritten(before, entry, notes)
    const draft = before ?? open(entry, role)
    continued.use(entry.source, draft)
    const content = contentOf(blocks)
    draft.content += draft.content !== '' && content !== '' ? `\n${content}` : content
    draft.model = entry.model ?? draft.model
    draft.durationMs = entry.durationMs ?? draft.durationMs
    const keptCalls = asArray(asObject(entry.metadata?.['devflow'])?.['calls'])
    for (const block of blocks) {
      // A call that the reader could not make out goes back where it stood.
      if (block.type === 'unknown' && entry.origin?.format === 'devflow') draft.calls.push({ raw: block.raw })
      if (block.type !== 'tool-call') continue
      const place = draft.calls.length
      const call = { turn: draft, place, call: block, kept: asObject(keptCalls?.[place]) }
      draft.calls.push({ draft: call })
      pairing.open(entry.source, block, call)
    }
    report(entry, draft)
  }

  /** A call's tokens stand once, on the turn of its last report, as totals count them. */
  const report = (entry: Entry, draft: Draft): void => {
    const usage = validUsage(entry.usage)
    if (usage === undefined || !hasCounts(usage)) return
    const base = callKey(entry)
    const provider = providerOf(entry)
    const key = base === undefined ? undefined : keyAmong(reported, base, provider)
    const before = key === undefined ? undefined : reported.get(key)
    const earlier = before?.draft.usage
    if (before !== undefined) before.draft.usage = undefined
    const overwritten = before?.draft ?? (draft.usage === undefined ? undefined : draft)
    if (overwritten?.reporter !== undefined)
      notes.lost(overwritten.reporter, 'usage: the last report of the call stands')
    draft.reporter = entry
    draft.usage = earlier === undefined ? usage : laterReport(earlier, usage)
    if (key !== undefined) reported.set(key, { draft, provider: provider ?? before?.provider })
  }

  const nest = (entry: Entry, result: ToolResultBlock, isFirst: boolean): boolean => {
    const open = pairing.answer(entry.source, result)?.value
    if (open === undefined) return false
    if (result.name !== undefined && result.name !== open.call.name) notes.lost(entry, 'tool name')
    const inOrder = continued.last(entry.source) === open.turn && open.place > open.turn.answered
    if (!inOrder) notes.lost(entry, 'its place in the order')
    open.turn.answered = Math.max(open.turn.answered, open.place)
    open.result = {
      ...resultOf(entry, result, notes),
      ...(entry.at !== undefined && { timestamp: toGoTime(entry.at) }),
      ...(isFirst && entry.durationMs !== undefined && { durationMs: Math.round(entry.durationMs) }),
    }
    return true
  }

  return {
    add(entry) {
      if (entry.kind === 'event') return loseEntry(entry, 'an event', notes)
      if (isError(entry)) return loseEntry(entry, 'an error, which nobody said', notes)
      const own = asObject(entry.metadata?.['devflow'])?.['role']
      const isTurn = own === 'tool_result' || own === 'tool'
      const results = entry.blocks.filter((block) => block.type === 'tool-result')
      const unpaired = isTurn ? results : results.filter((result, index) => !nest(entry, result, index === 0))
      const others = entry.blocks.filter((block) => block.type !== 'tool-result')
      if (others.length > 0 || results.length === 0) push(entry, roleOf(entry, notes), others)
      const isNested = others.length === 0 && results.length > 0 && unpaired.length === 0
      loseOfEntry(entry, isNested, notes)
      for (const result of unpaired) {
        if (result.callId !== undefined || result.name !== undefined)
          notes.lost(entry, 'which call a result answers')
        if (result.isError === true || result.error !== undefined)
          notes.lost(entry, 'that a result is an error')
        push(entry, typeof own === 'string' ? own : 'tool_result', [result])
      }
    },
    count: () => drafts.length,
    write: () => drafts.map((draft, index) => writeTurn(draft, index + 1, notes)),
  }
}

function writeTurn(draft: Draft, id: number, notes: Notes): JsonObject {
  const { entry, role, content, calls, kept, usage, durationMs, model } = draft
  const tokensIn = usage && promptTokens(usage)
  if (entry.at === undefined && kept?.['timestamp'] === undefined) notes.filled(entry, 'timestamp')
  return {
    id,
    role,
    content,
    ...(tokensIn !== undefined && { tokensIn }),
    ...(usage?.output !== undefined && { tokensOut: usage.output }),
    timestamp: toGoTime(entry.at),
    ...(calls.length > 0 && {
      toolCalls: calls.map((call) => ('raw' in call ? call.raw : writeCall(call.draft, notes))),
    }),
    ...(durationMs !== undefined && { durationMs: Math.round(durationMs) }),
    ...(model !== undefined && { model }),
    ...(entry.source !== PRIMARY && { source: entry.source }),
    ...kept,
  }
}

/** The input is an object in Go, which cannot read a document where it is anything else. */
function writeCall({ turn, call, result, kept }: CallDraft, notes: Notes): JsonObject {
  const { callId, name, input } = call
  if (input === undefined) notes.filled(turn.entry, 'toolCalls.input')
  return {
    ...(callId !== undefined && { id: callId }),
    name,
    input: input === undefined ? {} : isObject(input) ? input : { value: input },
    ...result,
    ...kept,
  }
}

/** A result as a call's `output` and `error`. A failure without an error text has its output as the error. */
function resultOf(entry: Entry, result: ToolResultBlock, notes: Notes): JsonObject {
  const failed = result.isError === true || (result.error !== undefined && result.error !== '')
  const text = result.output === undefined ? undefined : outputText(result)
  if (!failed) {
    if (text === undefined) notes.filled(entry, 'toolCalls.output')
    return { output: text ?? '' }
  }
  if (result.error) return { ...(text !== undefined && { output: text }), error: result.error }
  if (!text) notes.filled(entry, 'toolCalls.error')
  return { error: text || NO_REASON }
}

function contentOf(blocks: readonly Block[]): string {
  const [first] = blocks
  if (first?.type === 'tool-result') return outputText(first)
  return textOf(blocks)
}

/** A failed call of a provider, say: the run's own error is in its metadata. */
function isError({ role, blocks }: Entry): boolean {
  return role === undefined && blocks.length > 0 && blocks.every(({ type }) => type === 'error')
}

function roleOf(entry: Entry, notes: Notes): string {
  const own = asObject(entry.metadata?.['devflow'])?.['role']
  if (typeof own === 'string') return own
  if (entry.role === 'tool') return 'tool_result'
  if (entry.role !== undefined) return entry.role
  notes.filled(entry, 'role')
  return 'user'
}
