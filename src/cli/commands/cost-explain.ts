/** `hansard cost explain`: how a session's cost comes about, call by call, and what its source says it cost. */
import { openArchive, type Archive } from '../../archive/archive.ts'
import { explain, NOT_BILLED, type ExplainedRequest } from '../../cost/cost.ts'
import { isNotBilled } from '../../cost/models.ts'
import { toUsd } from '../../cost/money.ts'
import { createPriceBook, type PriceBook } from '../../cost/price-book.ts'
import { createRedactor } from '../../redact/redactor.ts'
import { createClock } from '../../replay/clock.ts'
import { sumQuality, worseOf } from '../../replay/marks.ts'
import { createCostSum, type CostPart } from '../../search/cost-sum.ts'
import { readBills, readUnnamed, type Bills } from '../../search/cost-bills.ts'
import {
  createSpawnedFold,
  startedSessions,
  sumStarted,
  type SpawnedCost,
  type StartedSession,
} from '../../search/cost-spawned.ts'
import { openSessions, type Sessions } from '../../sources/sessions.ts'
import { peekState } from '../../sources/state.ts'
import type { FoundSession } from '../../sources/state-sessions.ts'
import { PRIMARY } from '../../transcript/entry.ts'
import type { Session } from '../../transcript/session.ts'
import { createCallFold, type BilledCall } from '../../transcript/totals.ts'
import { hasCounts, type Count, type Quality } from '../../transcript/usage.ts'
import { loadConfig } from '../config.ts'
import { printExplained } from '../explained-cost.ts'
import { outJson } from '../print.ts'

export type CostExplainOptions = { readonly utc?: boolean; readonly home?: string; readonly json?: boolean }

export async function costExplain(id: string, options: CostExplainOptions): Promise<void> {
  const { home, utc, prices = [] } = await loadConfig(options)
  const archive = openArchive(home)
  const book = createPriceBook(prices)
  // As it was written, for the redactor might change what a call is known by; what is shown is redacted below.
  const sessions = await openSessions(home, { raw: true })
  try {
    const found = sessions.find(id)
    const known = await billedFor(archive, found)
    const explained = await explainSession(sessions, found, { book, ...known, isRepriced: prices.length > 0 })
    const shown = redacted(archive, explained)
    if (options.json) await outJson(shown)
    else await printExplained(shown, createClock(utc ? 'UTC' : undefined))
  } finally {
    sessions.close()
  }
}

type Billed = {
  readonly bills: Bills | undefined
  readonly isUnnamedBilled?: ReturnType<typeof readUnnamed>
  readonly started: readonly StartedSession[]
}

/** What the state knows of it; nothing before the first sync. */
async function billedFor(archive: Archive, { key }: FoundSession): Promise<Billed> {
  const state = await peekState(archive)
  try {
    if (state === undefined) return { bills: undefined, started: [] }
    return {
      bills: readBills(state.database, key),
      isUnnamedBilled: readUnnamed(state.database, key),
      started: startedSessions(state.database, key),
    }
  } finally {
    state?.close()
  }
}

export type ExplainedCall = {
  readonly at?: string | undefined
  readonly model?: string | undefined
  readonly usage?: { readonly [K in Count]?: number }
  readonly quality: Quality
  /** The price row, or why there is none. */
  readonly row?: string
  readonly unpriced?: string
  readonly usd: string | null
  readonly requests?: readonly ShownRequest[]
  /** The session that pays for it, where that is another one. */
  readonly billedTo?: string
  /** True where no session pays for it: another recording speaks for this one, and nothing tells whether it has the call. */
  readonly isSetAside?: true
  /** What is on the bill where another recording of the call knows more of it. */
  readonly billedUsd?: string
  /** How sure that is. */
  readonly billedQuality?: Quality
}

export type ShownRequest = Omit<ExplainedRequest, 'products'> & {
  /** US dollars, as decimal strings. */
  readonly products: readonly {
    readonly kind: string
    readonly tokens: number
    readonly perMillion: string
    readonly usd: string
  }[]
}

export type Explained = {
  readonly session: string
  readonly title?: string | undefined
  readonly basis: 'api-equivalent'
  readonly isStub?: true
  readonly calls: readonly ExplainedCall[]
  /** As `hansard cost --by session --no-rollup` has it. */
  readonly total: ExplainedTotal
  /** Subagents, each under the call that started it. */
  readonly spawned?: readonly ShownSpawned[]
  /** With the sessions that it started: as `hansard cost --by session` has it. */
  readonly totalWithSpawned?: ExplainedTotal
  readonly reportedCost?: string
}

/** `quality`: of the cost, the worst in it, `partial` where something was not counted or has no price; absent with no cost. */
export type ExplainedTotal = {
  readonly calls: number
  readonly usd: string | null
  readonly quality?: Quality
}

export type ShownSpawned = Omit<SpawnedCost, 'pico' | 'spawned'> & {
  readonly usd: string | null
  readonly spawned?: readonly ShownSpawned[]
}

type Explaining = Billed & { readonly book: PriceBook; readonly isRepriced: boolean }

async function explainSession(
  sessions: Sessions,
  found: FoundSession,
  explaining: Explaining,
): Promise<Explained> {
  const spawned = createSpawnedFold(found.id)
  const calls: ExplainedCall[] = []
  const sum = createCostSum()
  let session: Session | undefined
  const settle = (call: BilledCall): void => {
    const { explained, part, isOurs } = explainCall(call, explaining)
    calls.push(session?.stub === true ? { ...explained, usd: null } : explained)
    if (!isOurs || session?.stub === true) return
    const isFree = call.model !== undefined && isNotBilled(call.model)
    if (!isFree) sum.add(part)
    spawned.billed(call.source ?? PRIMARY, part.pico, isFree ? undefined : qualityOf(part))
  }
  const fold = createCallFold({ settle, window: OPEN_CALLS })
  for await (const items of sessions.read(found)) {
    for (const item of items) {
      if (item.type === 'session') session = item.session
      else if (item.type === 'entry') {
        spawned.observe(item.entry)
        const model = item.entry.model ?? session?.model
        fold.add(model === undefined ? item.entry : { ...item.entry, model })
      }
    }
  }
  fold.totals()
  const { pico, calls: billed, ...sums } = sum.sum()
  const quality = sumQuality(sums)
  return {
    session: found.id,
    ...(session?.title !== undefined && { title: session.title }),
    basis: 'api-equivalent',
    ...(session?.stub === true && { isStub: true }),
    calls,
    total: { calls: billed, usd: toDecimal(pico), ...(pico !== undefined && { quality }) },
    ...shownSpawned(spawned.end(explaining.started), explaining.started, { calls: billed, pico, quality }),
    ...(session?.reportedCost !== undefined && { reportedCost: session.reportedCost }),
  }
}

function shownSpawned(
  spawned: readonly SpawnedCost[],
  started: readonly StartedSession[],
  own: { readonly calls: number; readonly pico: bigint | undefined; readonly quality: Quality },
): Pick<Explained, 'spawned' | 'totalWithSpawned'> {
  if (spawned.length === 0) return {}
  const apart = started.map(sumStarted)
  const known = [own, ...apart].flatMap(({ pico }) => pico ?? [])
  const pico = known.length === 0 ? undefined : known.reduce((sum, one) => sum + one, 0n)
  const calls = apart.reduce((sum, one) => sum + one.calls, own.calls)
  const quality = apart.reduce((worst, one) => worseOf(worst, one.quality), own.quality)
  return {
    spawned: spawned.map(toShown),
    ...(started.length > 0 && { totalWithSpawned: { calls, usd: toDecimal(pico), quality } }),
  }
}

function toShown({ pico, spawned, ...facts }: SpawnedCost): ShownSpawned {
  return { ...facts, usd: toDecimal(pico), ...(spawned && { spawned: spawned.map(toShown) }) }
}

function toDecimal(pico: bigint | undefined): string | null {
  return pico === undefined ? null : toUsd(pico)
}

/** As many as the totals of the archive wait for. */
const OPEN_CALLS = 10_000

function explainCall(
  call: BilledCall,
  { book, bills, isUnnamedBilled, isRepriced }: Explaining,
): { readonly explained: ExplainedCall; readonly part: CostPart; readonly isOurs: boolean } {
  const { raw: _, quality, ...counts } = call.usage
  const cost = hasCounts(call.usage) ? explain(call, book) : { unpriced: 'nobody counted its tokens' }
  const own = picoOf(call, book)
  const bill = call.key === undefined ? undefined : bills?.get(call.key)
  const isSetAside = call.key === undefined && isUnnamedBilled?.(call.usage) === false
  const isOurs = bill?.billedTo === undefined && !isSetAside
  // The state's figure is that of the best report, which a copy of this session may hold: what is shown here may not be counted at all.
  const isByBill = isOurs && bill !== undefined && (!isRepriced || !hasCounts(call.usage))
  const usage = (isByBill ? bill.usage : undefined) ?? call.usage
  const pico = !isByBill ? own : isRepriced ? picoOf({ ...call, usage }, book) : (bill.pico ?? own)
  const part: CostPart = {
    calls: hasCounts(usage) ? 1 : 0,
    uncounted: hasCounts(usage) ? 0 : 1,
    usage,
    ...(pico !== undefined && { pico }),
    ...(hasCounts(usage) && pico === undefined && { unpriced: call.model ?? 'unknown' }),
  }
  return {
    explained: {
      ...(call.at !== undefined && { at: call.at }),
      ...(call.model !== undefined && { model: call.model }),
      ...(hasCounts(call.usage) && { usage: counts }),
      quality,
      ...('pico' in cost ? { row: cost.row } : { unpriced: cost.unpriced }),
      usd: own === undefined ? null : toUsd(own, 12),
      ...('pico' in cost && cost.requests.length > 0 && { requests: cost.requests.map(toRequest) }),
      ...(bill?.billedTo !== undefined && { billedTo: bill.billedTo }),
      ...(isSetAside && { isSetAside }),
      ...(isOurs &&
        pico !== undefined &&
        pico !== own && { billedUsd: toUsd(pico, 12), billedQuality: qualityOf(part) }),
    },
    part,
    isOurs,
  }
}

/** Undefined for what has no price, nobody counted, or is not billed. */
function picoOf(call: BilledCall, book: PriceBook): bigint | undefined {
  const cost = hasCounts(call.usage) ? explain(call, book) : undefined
  return cost !== undefined && 'pico' in cost && cost.row !== NOT_BILLED ? cost.pico : undefined
}

/** Of one call. */
function qualityOf({ usage, uncounted, unpriced }: CostPart): Quality {
  return sumQuality({
    usage,
    uncounted,
    cost: { usd: null, unpriced: unpriced === undefined ? [] : [unpriced] },
  })
}

function toRequest({ products, ...facts }: ExplainedRequest): ShownRequest {
  return {
    ...facts,
    products: products.map(({ kind, tokens, price, pico }) => {
      // Pico-dollars a token are micro-dollars a million.
      return { kind, tokens, perMillion: toUsd(price * 1_000_000n), usd: toUsd(pico, 12) }
    }),
  }
}

function redacted(archive: Archive, explained: Explained): Explained {
  const redactor = createRedactor({ key: archive.redactionKey(), env: process.env })
  // Nothing in it is deeper than a redactor goes.
  return redactor.json(JSON.parse(JSON.stringify(explained))) as unknown as Explained
}
