/** A session's cost, call by call, for people. */
import { toDollars } from '../replay/amounts.ts'
import { counted, toCount } from '../transcript/counted.ts'
import type { Clock } from '../replay/clock.ts'
import { visibleLine } from '../replay/escape.ts'
import { marked, sumMark, toMark, type Mark } from '../replay/marks.ts'
import { COUNTS } from '../transcript/usage.ts'
import { coloursFor } from './colour.ts'
import type {
  Explained,
  ExplainedCall,
  ExplainedTotal,
  ShownRequest,
  ShownSpawned,
} from './commands/cost-explain.ts'
import { noteLegend } from './legend.ts'
import { out } from './print.ts'
import { stdout } from './streams.ts'

export async function printExplained(explained: Explained, clock: Clock): Promise<void> {
  const { session, title, calls, total, spawned, totalWithSpawned, reportedCost, isStub } = explained
  const { bold, dim, green, yellow } = coloursFor(stdout)
  const marks = new Set<Mark>()
  const paint = (mark: Mark, dollars: string): string => {
    marks.add(mark)
    return mark === '' ? green(dollars) : yellow(marked(mark, dollars))
  }
  const toSum = ({ usd, quality }: ExplainedTotal): string =>
    usd === null ? yellow('cost unknown') : paint(toMark(quality), toDollars(usd))
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
    const mark = sumMark({ usage: { ...call.usage, quality: call.quality } })
    if (call.usd !== null) await out(`   = ${paint(mark, `$${toShort(call.usd)}`)}\n`)
    if (call.isSetAside === true)
      await out('   not on the bill: another recording speaks for the session, and may have this call, too\n')
    if (call.billedUsd !== undefined)
      await out(
        `   on the bill: ${marked(toMark(call.billedQuality), `$${toShort(call.billedUsd)}`)}, by another recording of the call, ${whyBilled(call)}\n`,
      )
  }
  if (spawned !== undefined) {
    await out(`\n${bold('subagents')}\n`)
    for (const one of spawned) await out(toSpawnedText(one, 1))
  }
  if (isStub) await out('a stub: nothing was asked of a provider, so nothing was billed\n')
  await out(`\n${counted(total.calls, 'call')} billed: ${toSum(total)}\n`)
  if (totalWithSpawned !== undefined)
    await out(
      `${counted(totalWithSpawned.calls, 'call')} with the sessions that it started: ${toSum(totalWithSpawned)}\n`,
    )
  if (reportedCost !== undefined) await out(`its source says: ${toDollars(reportedCost)}\n`)
  noteLegend([...marks])
}

/** Why the figure on the bill is another one. */
function whyBilled({ usage, usd, billedUsd }: ExplainedCall): string {
  if (usage === undefined) return 'which counted it'
  return usd !== null && Number(billedUsd) > Number(usd) ? 'which counts more' : 'whose report is the surer'
}

function toSpawnedText(
  { by, source, session, title, calls, usd, quality, spawned = [] }: ShownSpawned,
  depth: number,
): string {
  const indent = '  '.repeat(depth)
  const name = [source ?? session, title].filter((one) => one !== undefined).map(visibleLine)
  const from = by === undefined ? '' : `  started by ${visibleLine(by)}`
  const cost = usd === null ? 'cost unknown' : marked(toMark(quality), toDollars(usd))
  const more = spawned.map((one) => toSpawnedText(one, depth + 1))
  return `${indent}${cost}  ${counted(calls, 'call')}  ${name.join('  ')}${from}\n${more.join('')}`
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
