/** The dearest calls of the archive, each once, with the session that pays. */
import { isNotBilled } from '../cost/models.ts'
import { toUsd } from '../cost/money.ts'
import { allCalls } from '../sources/all-calls.ts'
import { toUsage } from '../sources/state-usage.ts'
import type { Database } from '../sqlite/driver.ts'
import type { Cost } from '../transcript/session.ts'
import type { Usage } from '../transcript/usage.ts'
import type { Bounds } from './cost-parts.ts'

export type DearCall = {
  /** As people know it. */
  readonly session: string
  readonly title?: string
  readonly source?: string
  readonly model?: string
  readonly at?: string
  readonly usage?: Usage
  readonly cost: Cost
}

export function dearestCalls(
  database: Database,
  { since, until, payers }: Bounds,
  limit: number,
): readonly DearCall[] {
  const tests = [
    ...(since === undefined ? [] : [['at >= ?', since.replace(/Z$/, '')] as const]),
    ...(until === undefined ? [] : [['at < ?', until.replace(/Z$/, '')] as const]),
  ]
  const paid = payers === undefined ? [] : [`billed_to IN (SELECT key FROM listing WHERE ${payers.where})`]
  const where = ['billed_to IS NOT NULL AND pico > 0', ...tests.map(([test]) => test), ...paid].join(' AND ')
  const rows = database
    .prepare(
      `SELECT dear.*, listing.id AS id, coalesce(listing.title, listing.prompt) AS title FROM
         (SELECT billed_to, source, model, at, input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, quality, pico
          FROM ${allCalls(database)} WHERE ${where} ORDER BY pico DESC, id LIMIT ?) AS dear
       JOIN listing ON listing.key = dear.billed_to ORDER BY dear.pico DESC`,
    )
    .all(...tests.map(([, value]) => value), ...(payers?.values ?? []), limit)
  return rows.flatMap((row): DearCall[] => {
    const { id, title, source, model, at, pico } = row
    if (typeof model === 'string' && isNotBilled(model)) return []
    const usage = toUsage(row)
    return [
      {
        session: String(id),
        ...(typeof title === 'string' && { title }),
        ...(typeof source === 'string' && { source }),
        ...(typeof model === 'string' && { model }),
        ...(typeof at === 'string' && { at }),
        ...(usage && { usage }),
        cost: { usd: toUsd(BigInt(String(pico))), unpriced: [] },
      },
    ]
  })
}
