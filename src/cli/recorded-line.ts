/** What was recorded, in one line: for whoever ran an agent under the recorder and wants to know where to look. */
import { openArchive } from '../archive/archive.ts'
import type { DelaySummary } from '../capture/proxy/delay.ts'
import { parseUsd, toUsd } from '../cost/money.ts'
import { markedCount } from '../replay/amounts.ts'
import { visibleLine } from '../replay/escape.ts'
import { marked, sumMark } from '../replay/marks.ts'
import type { Session } from '../transcript/session.ts'
import { addUsage, COUNTS } from '../transcript/usage.ts'

export type Recorded = {
  readonly sessions: readonly string[]
  readonly entries: number
  /** Null where nobody said. */
  readonly tokens: number | null
  readonly cost: { readonly usd: string | null; readonly unpriced: readonly string[] }
}

/** Those of which there is something in the archive: a disk that is full has nothing of what went by. */
export function inArchive(home: string | undefined, sessions: readonly Session[]): readonly Session[] {
  try {
    const archive = openArchive(home)
    return sessions.filter(({ id }) => archive.segments(id).length > 0)
  } catch {
    return []
  }
}

export function toRecorded(sessions: readonly Session[]): Recorded {
  let entries = 0
  let tokens: number | null = null
  let pico: bigint | undefined
  for (const { totals } of sessions) {
    entries += totals?.entries ?? 0
    // Reasoning is a part of the output.
    for (const count of COUNTS) {
      const said = count === 'reasoning' ? undefined : totals?.usage?.[count]
      if (said !== undefined) tokens = (tokens ?? 0) + said
    }
    const usd = totals?.cost?.usd
    if (typeof usd === 'string') pico = (pico ?? 0n) + (parseUsd(usd) ?? 0n)
  }
  const unpriced = new Set(sessions.flatMap(({ totals }) => totals?.cost?.unpriced ?? []))
  return {
    sessions: sessions.map(({ id }) => id),
    entries,
    tokens,
    cost: { usd: pico === undefined ? null : toUsd(pico), unpriced: [...unpriced] },
  }
}

/** `passed`: how many went by, recorded or not. */
export function recordedLine(sessions: readonly Session[], passed = sessions.length): string {
  if (passed === 0) return 'hansard: no call was made, nothing is recorded'
  const missing = passed - sessions.length
  if (sessions.length === 0) return `hansard: nothing is recorded, of ${many(passed, 'session')}`
  const { entries, tokens, cost } = toRecorded(sessions)
  const usages = sessions.flatMap(({ totals }) => totals?.usage ?? [])
  const usage = usages.length === 0 ? undefined : usages.reduce(addUsage)
  const uncounted = sessions.reduce((sum, { totals }) => sum + (totals?.uncounted ?? 0), 0)
  const usd = cost.usd === null ? 'cost unknown' : marked(sumMark({ usage, uncounted, cost }), `$${cost.usd}`)
  const [first] = sessions
  return [
    `hansard: ${many(sessions.length, 'session')}`,
    many(entries, 'entry', 'entries'),
    tokens === null ? 'tokens unknown' : `${markedCount(tokens, sumMark({ usage, uncounted }))} tokens`,
    cost.unpriced.length === 0 ? usd : `${usd} without ${visibleLine(cost.unpriced.slice(0, 3).join(', '))}`,
    ...(missing > 0 ? [`${missing.toLocaleString('en')} not recorded`] : []),
    sessions.length === 1 ? `hansard show ${first?.id.slice(0, 13)}` : 'hansard list',
  ].join(', ')
}

/** How long parts of answers were with the proxy; undefined when none has passed. */
export function delayLine({ parts, p50, p99 }: DelaySummary): string | undefined {
  if (p50 === null || p99 === null) return undefined
  const micros = (value: number): string => value.toFixed(value < 10 ? 1 : 0)
  return `hansard: ${many(parts, 'part')} of answers passed on within ${micros(p50)} µs of our reading at the median, ${micros(p99)} for 99 of 100`
}

function many(count: number, one: string, several = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : several}`
}
