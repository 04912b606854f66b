/** `hansard stats`: what the archive's sessions come to, and what was done in vain, with the entries that show it. */
import { openArchive } from '../../archive/archive.ts'
import { NO_STATS, queryStats } from '../../search/stats.ts'
import { withState } from '../../sources/with-state.ts'
import type { Status } from '../../transcript/session.ts'
import { loadConfig } from '../config.ts'
import { outJson } from '../print.ts'
import { printStats } from '../stats-page.ts'
import { filterOf, sayBehind } from './list.ts'

export type StatsOptions = {
  readonly status?: Status
  readonly flow?: string
  readonly run?: string
  readonly since?: string
  readonly until?: string
  readonly limit?: number
  readonly utc?: boolean
  readonly home?: string
  readonly json?: boolean
}

export async function stats(words: readonly string[], options: StatsOptions): Promise<void> {
  const { home, utc = false } = await loadConfig(options)
  const asked = await filterOf(words, options, utc)
  if (asked === undefined) return
  const archive = openArchive(home)
  const filter = asked.where === 'true' && asked.numbers === undefined ? undefined : asked
  const { limit } = options
  const { answer, isCaughtUp } = await withState(archive, ({ database }) =>
    queryStats(database, { ...(filter && { filter }), ...(limit !== undefined && { findings: limit }) }),
  )
  sayBehind(archive, isCaughtUp)
  if (options.json) await outJson(answer ?? NO_STATS)
  else await printStats(answer ?? NO_STATS, { home: archive.home, limit: limit ?? LIMIT })
}

/** Tools in the table. */
const LIMIT = 15
