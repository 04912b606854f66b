/**
 * Sums that are right: a provider call is counted once, however many entries mention it, and its last report wins, count by
 * count. Entries that name no call are each a call of their own when they carry usage. An answer that nobody counted is a call too,
 * and makes the sum a lower bound.
 */
import { PRIMARY, type Entry } from './entry.ts'
import { heldId, heldName, weightOfName } from './held-text.ts'
import type { Json } from './json.ts'
import type { Totals } from './session.ts'
import { addUsage, hasCounts, laterReport, validUsage, withoutRaw, type Usage } from './usage.ts'

export type BilledCall = {
  /** What its reports share: see `callKey`. Absent for a call that is told by nothing but its entry. */
  readonly key?: string
  readonly model: string | undefined
  readonly usage: Usage
  readonly at: string | undefined
  readonly provider: string | undefined
  /** Whose first report it is. */
  readonly source?: string
  /** The names of the tools that its entries call, each once, in alphabetical order. */
  readonly tools?: readonly string[]
}

export type CallFold = {
  /** `model`: that of an entry that names none. */
  add(entry: Entry, model?: string): void
  /** Settles the calls still open, and gives the totals. The fold can go on after it. */
  totals(): Totals
  /** What is counted so far, with every call left open that is. */
  now(): Pick<Totals, 'entries' | 'toolCalls' | 'models'>
  /** Not all models are named: which are, hangs on the order in which they came. */
  isFull(): boolean
  /** The call that is open under a key, and all of them. */
  open(key: string): BilledCall | undefined
  allOpen(): Iterable<BilledCall>
  /**
   * Keys of open calls that were reported since this was last asked; none unless `isFollowed`. Undefined where two providers gave out the
   * same id, for a key then names more than one, or two sources report one call, for which of them was first is then decided by who reads.
   */
  reported(): readonly string[] | undefined
}

type Options = {
  /** Told of each call once, with its last usage, which has no counts where nobody stated any: where cost is added up. */
  readonly settle?: (call: BilledCall) => void
  /** Nobody asks for the sum of all of them: what is settled is added up there. */
  readonly isNotSummed?: boolean
  /** How many calls stay open for a later report: bounds memory in a recorder that never ends. */
  readonly window?: number
  /** The provider's own words, without what nobody will ask of them; undefined for more than may be held until a later report. */
  readonly toHeld?: (raw: Json) => Json | undefined
  /** Somebody asks now and then what was reported since. */
  readonly isFollowed?: boolean
}

/** A hostile file may name any number of models. */
export const MOST_MODELS = 50
/** What is held of open calls, for each of them, by what their tools' names and the provider's words weigh: most call one tool. */
const WEIGHT_A_CALL = 5

export function createCallFold({
  settle,
  isNotSummed = false,
  window = Number.POSITIVE_INFINITY,
  toHeld,
  isFollowed = false,
}: Options = {}): CallFold {
  const open = new Map<string, BilledCall>()
  const reported = isFollowed ? new Set<string>() : undefined
  /** What the open calls weigh. */
  let openWeight = 0
  const mostWeight = WEIGHT_A_CALL * window
  let entries = 0
  let toolCalls = 0
  let calls = 0
  let uncounted = 0
  let sum: Usage | undefined
  const models = new Set<string>()
  let lastModel: string | undefined
  /** True once two providers gave out the same id. */
  let isSplit = false
  /** True once two sources reported the same call. */
  let isMixed = false

  const close = (call: BilledCall): void => {
    if (hasCounts(call.usage)) calls += 1
    else uncounted += 1
    if (!isNotSummed) sum = sum === undefined ? withoutRaw(call.usage) : addUsage(sum, call.usage)
    settle?.(call)
  }

  /** Several at a time: looking for the first of a map passes over all that were taken out of it before. Never the last one. */
  const closeOldest = (): void => {
    const left = window + 1 - Math.ceil(window / 8)
    for (const [key, call] of open) {
      if (open.size === 1 || (open.size <= left && openWeight <= mostWeight * (7 / 8))) return
      open.delete(key)
      reported?.delete(key)
      openWeight -= weightOf(call)
      close(call)
    }
  }
  const namedModels = (): Pick<Totals, 'models'> => (models.size > 0 ? { models: [...models] } : {})

  return {
    add(entry, ofSession) {
      entries += 1
      for (const block of entry.blocks) if (block.type === 'tool-call') toolCalls += 1
      const named = entry.model ?? ofSession
      const model = named === undefined ? undefined : heldName(named)
      if (model !== undefined && model !== lastModel && models.size < MOST_MODELS) models.add(model)
      lastModel = model
      const usage = reportOf(entry)
      if (usage === undefined) return
      const { at } = entry
      const source = heldName(entry.source)
      const provider = providerOf(entry)
      const base = callKey(entry)
      if (base === undefined) {
        const tools = toolsOf(entry, undefined)
        close({ model, usage, at, provider, source, ...(tools && { tools }) })
        return
      }
      // Nearly every log has calls of one provider: no key of another is looked for before there is one.
      const known = open.get(base)
      const isOwn = provider === undefined || known?.provider === undefined || known.provider === provider
      const key = isOwn && !isSplit ? base : keyAmong(open, base, provider)
      if (key !== base) isSplit = true
      const first = key === base ? known : open.get(key)
      if (first !== undefined) open.delete(key)
      if (isFollowed && first !== undefined && first.source !== source) isMixed = true
      // The call keeps the time of its first report, and what the last does not say.
      const call: { -readonly [K in keyof BilledCall]: BilledCall[K] } = {
        key: base,
        model: model ?? first?.model,
        usage: first === undefined ? usage : laterReport(first.usage, usage),
        at: first?.at ?? at,
        provider: provider ?? first?.provider,
        source: first?.source ?? source,
      }
      const tools = toolsOf(entry, first?.tools)
      if (tools !== undefined) call.tools = tools
      if (first !== undefined) openWeight -= weightOf(first)
      if (toHeld !== undefined && call.usage.raw !== undefined) {
        const raw = toHeld(call.usage.raw)
        if (raw === undefined) {
          reported?.delete(key)
          close(call)
          return
        }
        if (raw !== call.usage.raw) call.usage = { ...call.usage, raw }
      }
      open.set(key, call)
      reported?.add(key)
      openWeight += weightOf(call)
      if (open.size > window || openWeight > mostWeight) closeOldest()
    },
    totals() {
      for (const call of open.values()) close(call)
      open.clear()
      reported?.clear()
      openWeight = 0
      return {
        entries,
        toolCalls,
        calls,
        ...(uncounted > 0 && { uncounted }),
        ...namedModels(),
        ...(sum && calls > 0 && { usage: sum }),
      }
    },
    now: () => ({ entries, toolCalls, ...namedModels() }),
    isFull: () => models.size >= MOST_MODELS,
    open: (key) => open.get(key),
    allOpen: () => open.values(),
    reported() {
      const keys = [...(reported ?? [])]
      reported?.clear()
      return isSplit || isMixed ? undefined : keys
    },
  }
}

/** A hostile message may call any number of tools, by any name. */
const MOST_TOOLS = 50

/** What a tool goes by wherever its calls are counted. */
export const toolName = heldName

function toolsOf({ blocks }: Entry, before: readonly string[] | undefined): readonly string[] | undefined {
  let tools = before
  for (const block of blocks) {
    if (block.type !== 'tool-call' || typeof block.name !== 'string') continue
    const name = toolName(block.name)
    if (tools === undefined) tools = [name]
    else if (!tools.includes(name) && tools.length < MOST_TOOLS) tools = [...tools, name].sort()
  }
  return tools
}

/** What is held of a call besides its counts: as many short names take as much memory. */
function weightOf({ tools, usage }: BilledCall): number {
  let weight = usage.raw === undefined ? 0 : weightOfWords(usage.raw)
  if (tools !== undefined) for (const name of tools) weight += weightOfName(name)
  return weight
}

function weightOfWords(value: Json): number {
  if (typeof value === 'string') return weightOfName(value)
  if (typeof value !== 'object' || value === null) return 1
  let weight = 0
  for (const one of Object.values(value)) weight += 1 + weightOfWords(one)
  return weight
}

/**
 * What an entry says that a call used, without counts for an answer that nobody counted; undefined for what tells of no call.
 */
export function reportOf(entry: Entry): Usage | undefined {
  const usage = validUsage(entry.usage)
  if (usage !== undefined && hasCounts(usage)) return usage
  const isAnswer = entry.role === 'assistant' && entry.kind === 'message' && !isRefusal(entry)
  return isAnswer && (usage !== undefined || callKey(entry) !== undefined)
    ? { ...usage, quality: 'unavailable' }
    : undefined
}

/** Nothing but an error came back: the provider took the request for none, and bills none. */
function isRefusal({ blocks }: Entry): boolean {
  return blocks.length > 0 && blocks.every(({ type }) => type === 'error')
}

/**
 * What makes two reports the same call: the provider's message id, else its request id. Undefined: a call of its own. An empty
 * id is none. Providers are told apart by `keyAmong`.
 */
export function callKey({ call, source }: Entry): string | undefined {
  if (isNamed(call?.messageId)) {
    // Asked for by whoever counts an entry, one after the other.
    if (call !== lastCall) {
      lastCall = call
      lastKey = `m:${heldId(call.messageId)}`
    }
    return lastKey
  }
  if (isNamed(call?.requestId))
    return `r:${source === PRIMARY ? '' : heldId(source)}:${heldId(call.requestId)}`
  return undefined
}

let lastCall: Entry['call']
let lastKey: string | undefined

/**
 * The key of a report's call among those that are open. Two providers may give out the same id, so calls that name different
 * ones are different calls; a report that names none belongs to the first call with its id, and a call that named none so far
 * is that of the first provider that turns up.
 */
export function keyAmong(
  open: ReadonlyMap<string, { readonly provider: string | undefined }>,
  base: string,
  provider: string | undefined,
): string {
  if (provider === undefined) return base
  const own = `${base}\n${provider}`
  if (open.has(own)) return own
  const first = open.get(base)?.provider
  return first === undefined || first === provider ? base : own
}

export function providerOf({ call }: Entry): string | undefined {
  return isNamed(call?.provider) ? heldName(call.provider) : undefined
}

/** Some programs write an empty string for an id they do not have, and a redactor a word that many records share. */
export function isNamed(id: string | undefined): id is string {
  return id !== undefined && id !== '' && id !== 'REDACTED'
}
