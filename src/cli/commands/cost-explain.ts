/** `hansard cost explain`: how a session's cost comes about, call by call, and what its source says it cost. */
import { openArchive, type Archive } from '../../archive/archive.ts'
import { explain, NOT_BILLED, type ExplainedRequest } from '../../cost/cost.ts'
import { toUsd } from '../../cost/money.ts'
import { createPriceBook, type PriceBook } from '../../cost/price-book.ts'
import { createRedactor } from '../../redact/redactor.ts'
import { counted, toCount, toDollars } from '../../replay/amounts.ts'
import { createClock, type Clock } from '../../replay/clock.ts'
import { visibleLine } from '../../replay/escape.ts'
import { readBills, type Bills } from '../../search/cost-bills.ts'
import { openSessions, type Sessions } from '../../sources/sessions.ts'
import { peekState } from '../../sources/state.ts'
import type { FoundSession } from '../../sources/state-sessions.ts'
import type { Session } from '../../transcript/session.ts'
import { createCallFold, type BilledCall } from '../../transcript/totals.ts'
import { COUNTS, hasCounts, type Count } from '../../transcript/usage.ts'
import { coloursFor } from '../colour.ts'
import { loadConfig } from '../config.ts'
import { out, outJson } from '../print.ts'

export type CostExplainOptions = { readonly utc?: boolean; readonly home?: string; readonly json?: boolean }

export async function costExplain(id: string, options: CostExplainOptions): Promise<void> {
  const { home, utc, prices = [] } = await loadConfig(options)
  const archive = openArchive(home)
  const book = createPriceBook(prices)
  // As it was written, for the redactor might change what a call is known by; what is shown is redacted below.
  const sessions = await openSessions(home, { raw: true })
  try {
    const found = sessions.find(id)
    const bills = await billsOf(archive, found)
    const explained = await explainSession(sessions, found, { book, bills, isRepriced: prices.length > 0 })
    const shown = redacted(archive, explained)
    if (options.json) await outJson(shown)
    else await print(shown, createClock(utc ? 'UTC' : undefined))
  } finally {
    sessions.close()
  }
}

async function billsOf(archive: Archive, { key }: FoundSession): Promise<Bills | undefined> {
  const state = await peekState(archive)
  try {
    return state && readBills(state.database, key)
  } finally {
    state?.close()
  }
}

type ExplainedCall = {
  readonly at?: string | undefined
  readonly model?: string | undefined
  readonly usage?: { readonly [K in Count]?: number }
  readonly quality: string
  /** The price row, or why there is none. */
  readonly row?: string
  readonly unpriced?: string
  readonly usd: string | null
  readonly requests?: readonly ShownRequest[]
  /** The session that pays for it, where that is another one. */
  readonly billedTo?: string
  /** What is on the bill where another recording of the call counts more. */
  readonly billedUsd?: string
}

type ShownRequest = Omit<ExplainedRequest, 'products'> & {
  /** US dollars, as decimal strings. */
  readonly products: readonly {
    readonly kind: string
    readonly tokens: number
    readonly perMillion: string
    readonly usd: string
  }[]
}

type Explained = {
  readonly session: string
  readonly title?: string | undefined
  readonly basis: 'api-equivalent'
  readonly isStub?: true
  readonly calls: readonly ExplainedCall[]
  /** As `hansard cost --by session --no-rollup` has it. */
  readonly total: { readonly calls: number; readonly usd: string | null }
  readonly reportedCost?: string
}

type Explaining = {
  readonly book: PriceBook
  readonly bills: Bills | undefined
  readonly isRepriced: boolean
}

async function explainSession(
  sessions: Sessions,
  found: FoundSession,
  { book, bills, isRepriced }: Explaining,
): Promise<Explained> {
  const calls: ExplainedCall[] = []
  let session: Session | undefined
  let total: bigint | undefined
  let billed = 0
  const settle = (call: BilledCall): void => {
    const { explained, pico, isOurs } = explainCall(call, { book, bills, isRepriced })
    calls.push(session?.stub === true ? { ...explained, usd: null } : explained)
    if (!isOurs || session?.stub === true) return
    if (hasCounts(call.usage) && explained.row !== NOT_BILLED) billed += 1
    if (pico !== undefined) total = (total ?? 0n) + pico
  }
  const fold = createCallFold({ settle, window: OPEN_CALLS })
  for await (const items of sessions.read(found)) {
    for (const item of items) {
      if (item.type === 'session') session = item.session
      else if (item.type === 'entry') {
        const model = item.entry.model ?? session?.model
        fold.add(model === undefined ? item.entry : { ...item.entry, model })
      }
    }
  }
  fold.totals()
  return {
    session: found.id,
    ...(session?.title !== undefined && { title: session.title }),
    basis: 'api-equivalent',
    ...(session?.stub === true && { isStub: true }),
    calls,
    total: { calls: billed, usd: total === undefined ? null : toUsd(total) },
    ...(session?.reportedCost !== undefined && { reportedCost: session.reportedCost }),
  }
}

/** As many as the totals of the archive wait for. */
const OPEN_CALLS = 10_000

function explainCall(
  call: BilledCall,
  { book, bills, isRepriced }: Explaining,
): { readonly explained: ExplainedCall; readonly pico?: bigint; readonly isOurs: boolean } {
  const { raw: _, quality, ...counts } = call.usage
  const cost = hasCounts(call.usage) ? explain(call, book) : { unpriced: 'nobody counted its tokens' }
  const own = 'pico' in cost && cost.row !== NOT_BILLED ? cost.pico : undefined
  const bill = call.key === undefined ? undefined : bills?.get(call.key)
  const isOurs = bill?.billedTo === undefined
  // The state's figure is that of the best report, which a copy of this session may hold.
  const pico = isOurs && !isRepriced ? (bill?.pico ?? own) : own
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
      ...(isOurs && pico !== undefined && pico !== own && { billedUsd: toUsd(pico, 12) }),
    },
    ...(pico !== undefined && { pico }),
    isOurs,
  }
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

async function print(explained: Explained, clock: Clock): Promise<void> {
  const { session, title, calls, total, reportedCost, isStub } = explained
  const { bold, dim, green, yellow } = coloursFor(process.stdout)
  await out(`${bold(visibleLine(session))}${title === undefined ? '' : `  ${visibleLine(title)}`}\n`)
  await out(
    'US dollars at API list prices; what a subscription covered is shown as what the API would have charged.\n\n',
  )
  for (const [at, call] of calls.entries()) {
    const where = call.billedTo === undefined ? '' : `  billed to ${visibleLine(call.billedTo)}`
    await out(
      `${at + 1}. ${clock.date(call.at)}  ${visibleLine(call.model ?? 'unknown model')}  ${call.quality}${where}\n`,
    )
    await out(`   ${dim(toUsageLine(call.usage))}\n`)
    if (call.unpriced !== undefined) await out(`   ${yellow('no cost')}: ${visibleLine(call.unpriced)}\n`)
    for (const request of call.requests ?? []) await out(toRequestText(request))
    if (call.usd !== null) await out(`   = ${green(`$${toShort(call.usd)}`)}\n`)
    if (call.billedUsd !== undefined)
      await out(
        `   on the bill: $${toShort(call.billedUsd)}, by another recording of the call, which counts more\n`,
      )
  }
  if (isStub) await out('a stub: nothing was asked of a provider, so nothing was billed\n')
  await out(
    `\n${counted(total.calls, 'call')} billed: ${total.usd === null ? yellow('cost unknown') : green(toDollars(total.usd))}\n`,
  )
  if (reportedCost !== undefined) await out(`its source says: ${toDollars(reportedCost)}\n`)
}

function toUsageLine(usage: ExplainedCall['usage']): string {
  const said = COUNTS.flatMap((count) => {
    const tokens = usage?.[count]
    return tokens === undefined ? [] : [`${count} ${toCount(tokens)}`]
  })
  return said.length === 0 ? 'usage unknown' : said.join(', ')
}

function toRequestText({ row, source, abovePromptTokens, tier, geo, products }: ShownRequest): string {
  const facts = [
    abovePromptTokens === undefined ? undefined : `prompt above ${toCount(abovePromptTokens)}`,
    tier,
    geo,
  ].filter((fact) => fact !== undefined)
  const lines = products.map(
    ({ kind, tokens, perMillion, usd }) =>
      `     ${kind}: ${toCount(tokens)} × $${toShort(perMillion)} a million = $${toShort(usd)}\n`,
  )
  return `   ${visibleLine(row)}${facts.length === 0 ? '' : ` (${visibleLine(facts.join(', '))})`}  ${visibleLine(source)}\n${lines.join('')}`
}

/** All digits that say something, and cents. */
function toShort(usd: string): string {
  return usd.replace(/(\.\d\d\d*?)0+$/, '$1')
}
