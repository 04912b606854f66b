/** `hansard sync`: finds what agents have written on this machine, keeps it, and says what was new. */
import { openArchive } from '../../archive/archive.ts'
import { toBytes } from '../../replay/amounts.ts'
import { counted, toCount } from '../../transcript/counted.ts'
import { sync, type SyncOptions, type SyncPlan, type SyncReport } from '../../sources/sync.ts'
import { catchUpAfterSync } from '../catch-up.ts'
import { loadConfig } from '../config.ts'
import { note, outJson } from '../print.ts'
import { createProgress } from '../progress.ts'
import { arePatterns } from '../patterns.ts'
import { noteProblems } from '../problems.ts'

export type SyncCommandOptions = {
  readonly watch?: boolean
  /** Commander's name for `--no-keep`. */
  readonly keep?: boolean
  /** Commander's name for `--no-index`. */
  readonly index?: boolean
  readonly exclude?: readonly string[]
  readonly forget?: readonly string[]
  readonly home?: string
  readonly json?: boolean
}

export async function syncCommand(paths: readonly string[], options: SyncCommandOptions): Promise<void> {
  const { keep, ...flags } = options
  const config = await loadConfig({ ...flags, ...(keep === false && { keep }) })
  if (!(await arePatterns(config.exclude, options.json === true))) return
  const archive = openArchive(config.home, { write: true })
  const progress = createProgress()
  const how: SyncOptions = {
    ...(paths.length > 0 && { paths }),
    ...(config.keep !== undefined && { keep: config.keep }),
    ...(config.exclude !== undefined && { exclude: config.exclude }),
    onPlan: (plan) => sayPlan(plan, archive.home, config.keep ?? true),
    onReady: ({ sessions }) =>
      note(`list, cost and stats have ${counted(sessions, 'session')}; their files are kept now`),
    onProgress: progress.show,
  }
  const { forget } = options
  const report = await sync(archive, forget === undefined ? how : { ...how, forget })
  progress.end()
  if (options.json) await outJson(report)
  else sayReport(report)
  noteProblems(report.problems)
  // The list and the costs are there already; the words follow.
  const isIndexing = options.index !== false
  if (isIndexing && !options.watch) await catchUpAfterSync(archive)
  if (!options.watch) return
  const { watchAndSync } = await import('./watch.ts')
  await watchAndSync(archive, how, { json: options.json === true, isIndexing })
}

/** Before the first byte is copied: what is about to be kept, and where. */
function sayPlan({ files, bytes, isFirst }: SyncPlan, home: string, keep: boolean | 'redacted'): void {
  if (!isFirst) return
  if (keep === false)
    note(`reading ${counted(files, 'file')}, ${toBytes(bytes)}, where they lie; nothing is kept`)
  else note(`keeping ${counted(files, 'file')}, ${toBytes(bytes)}, in ${home}`)
}

export function sayReport({ files, sessions, entries, damage, bytesRead }: SyncReport): void {
  const changes = [
    [files.new, 'new'],
    [files.grown, 'grown'],
    [files.rewritten, 'rewritten'],
    [files.unchanged, 'unchanged'],
    [files.failed, 'failed'],
  ] as const
  const parts = changes.filter(([count]) => count > 0).map(([count, what]) => `${toCount(count)} ${what}`)
  const found = parts.length === 0 ? '' : `: ${parts.join(', ')}`
  note(`${counted(files.seen, 'file')}${found}; ${toBytes(bytesRead)} read`)
  const read = `${counted(sessions, 'session')} and ${counted(entries, 'entry', 'entries')} taken in`
  note(damage === 0 ? read : `${read}, ${counted(damage, 'damaged record')}`)
}
