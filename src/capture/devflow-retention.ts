/**
 * Retention as ADR-016 has it, with its contradiction settled: no run is deleted that was not archived first. A run past its days is
 * archived; an archive past its own days is deleted. Runs that are running are never touched, and nothing happens unless asked for.
 */
import { join } from 'node:path'
import { HansardError, isHansardError } from '../errors.ts'
import { readWholeFile } from '../archive/bytes.ts'
import { asBoolean, asCount, asObject, parseJson } from '../transcript/json.ts'
import { toMillis } from '../transcript/instant.ts'
import { archiveRun, listArchives, readArchived, type ArchivedRun } from './devflow-archives.ts'
import {
  filesBelow,
  listRuns,
  rebuildIndex,
  runFolder,
  sortable,
  type RunMetadata,
  type StoreFiles,
} from './devflow-files.ts'

export type Retention = {
  /** A run older than this has no place among the runs. */
  readonly retentionDays: number
  /** A run older than this is archived. */
  readonly archiveAfterDays: number
  /** An archive older than this is deleted. */
  readonly archiveRetentionDays: number
  /** Failed runs stay, archived or not. */
  readonly keepFailed: boolean
  /** Runs are not archived below this number. */
  readonly keepMinRuns: number
}

export const RETENTION: Retention = {
  retentionDays: 30,
  archiveAfterDays: 7,
  archiveRetentionDays: 90,
  keepFailed: true,
  keepMinRuns: 100,
}

export type CleanOptions = Partial<Retention> & {
  /** On unless false: says what would be done, and does nothing. */
  readonly dryRun?: boolean
}

export type Cleaned = {
  /** Runs put away, or that would be. */
  readonly archived: readonly string[]
  /** Runs whose archives were deleted, or would be. */
  readonly deleted: readonly string[]
  readonly kept: readonly string[]
  readonly errors: readonly { readonly runId: string; readonly message: string }[]
  /** Bytes. Of a dry run: at most, since what an archive will take is not known. */
  readonly spaceSaved: number
}

const DAY_MS = 86_400_000

export async function cleanRuns(
  store: StoreFiles,
  active: ReadonlySet<string>,
  options: CleanOptions = {},
): Promise<Cleaned> {
  const { dryRun = true, ...asked } = options
  const retention = { ...RETENTION, ...configured(store), ...asked }
  const result = { archived: [] as string[], deleted: [] as string[], kept: [] as string[], spaceSaved: 0 }
  const errors: { runId: string; message: string }[] = []
  const attempt = async (runId: string, work: () => Promise<number>): Promise<boolean> => {
    try {
      result.spaceSaved += await work()
      return true
    } catch (error) {
      if (!isHansardError(error)) throw error
      errors.push({ runId, message: error.message })
      return false
    }
  }

  const { runs, unreadable } = listRuns(store)
  for (const { runId, reason } of unreadable) {
    errors.push({ runId, message: reason })
    result.kept.push(runId)
  }
  const afterDays = Math.min(retention.archiveAfterDays, retention.retentionDays)
  let left = runs.length
  for (const run of oldestFirst(runs)) {
    const isDue = isEnded(run, active, retention) && isOlder(store, run.endedAt ?? run.startedAt, afterDays)
    const goes =
      isDue &&
      left > retention.keepMinRuns &&
      (await attempt(run.runId, () => putAway(store, run.runId, dryRun)))
    left -= goes ? 1 : 0
    result[goes ? 'archived' : 'kept'].push(run.runId)
  }
  const justArchived = new Set(result.archived)
  for (const archive of listArchives(store)) {
    if (justArchived.has(archive.runId)) continue
    if (!isOlder(store, archive.archivedAt, retention.archiveRetentionDays)) continue
    if (retention.keepFailed && (await isFailed(store, archive))) continue
    if (await attempt(archive.runId, () => deleteArchive(store, archive, dryRun)))
      result.deleted.push(archive.runId)
  }
  if (!dryRun && result.archived.length > 0) rebuildIndex(store)
  return { ...result, errors }
}

function oldestFirst(runs: readonly RunMetadata[]): readonly RunMetadata[] {
  const key = ({ endedAt, startedAt, runId }: RunMetadata): string =>
    `${sortable(endedAt ?? startedAt)} ${runId}`
  return runs.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
}

function isEnded(run: RunMetadata, active: ReadonlySet<string>, { keepFailed }: Retention): boolean {
  if (run.status === 'running' || active.has(run.runId)) return false
  return !(keepFailed && (run.status === 'failed' || run.status === 'interrupted'))
}

/** A run that does not say when it was is not old. */
function isOlder(store: StoreFiles, instant: string | undefined, days: number): boolean {
  return instant !== undefined && store.now() - toMillis(instant) > days * DAY_MS
}

async function putAway(store: StoreFiles, runId: string, dryRun: boolean): Promise<number> {
  const size = filesBelow(runFolder(store, runId)).reduce((sum, file) => sum + file.sizeBytes, 0)
  if (dryRun) return size
  return size - (await archiveRun(store, runId)).sizeBytes
}

async function deleteArchive(
  store: StoreFiles,
  { path, sizeBytes }: ArchivedRun,
  dryRun: boolean,
): Promise<number> {
  if (!dryRun) store.files.remove(path)
  return sizeBytes
}

/** An archive that cannot say how its run ended counts as failed: it is kept. */
async function isFailed(store: StoreFiles, archive: ArchivedRun): Promise<boolean> {
  const bytes = await readArchived(store, archive, 'metadata.json')
  const status = asObject(bytes && parseJson(bytes.toString('utf8')))?.['status']
  return status !== 'completed' && status !== 'canceled'
}

/** `artifacts` of `config.json`. One that is there and cannot be read stops everything: it may say to keep what we would remove. */
function configured(store: StoreFiles): Partial<Retention> {
  const path = join(store.base, 'config.json')
  const bytes = readWholeFile(store.files, path)
  if (bytes === undefined) return {}
  const config = asObject(parseJson(bytes.toString('utf8')))
  const said = config && (config['artifacts'] === undefined ? {} : asObject(config['artifacts']))
  if (said === undefined) throw badConfig(path, 'is not JSON with an object "artifacts"')
  const found: { -readonly [K in keyof Retention]?: Retention[K] } = {}
  for (const key of ['retentionDays', 'archiveAfterDays', 'archiveRetentionDays', 'keepMinRuns'] as const) {
    if (said[key] === undefined) continue
    const count = asCount(said[key])
    if (count === undefined) throw badConfig(path, `has a ${key} that is no whole number`)
    found[key] = count
  }
  if (said['keepFailed'] !== undefined) {
    const keepFailed = asBoolean(said['keepFailed'])
    if (keepFailed === undefined) throw badConfig(path, 'has a keepFailed that is neither true nor false')
    found.keepFailed = keepFailed
  }
  return found
}

function badConfig(path: string, what: string): HansardError {
  return new HansardError('invalid-argument', `${path} ${what}`, {
    hint: 'nothing was cleaned; correct it first',
  })
}
