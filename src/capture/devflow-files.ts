/** The folder behind a devflow store: its runs' metadata, sizes and index. Ids are checked before they become paths; links are not followed. */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { readWholeFile } from '../archive/bytes.ts'
import { updateShared } from '../archive/shared-file.ts'
import { HansardError, fromSystemError, isHansardError } from '../errors.ts'
import { readFacts } from '../formats/devflow/facts.ts'
import { toGoTime } from '../formats/devflow/fields.ts'
import { nodeFiles, type Files } from '../journal/files.ts'
import { fromMillis } from '../transcript/instant.ts'
import { checkId, isSafeId } from '../transcript/ids.ts'
import { isObject, parseJson, toJson, type JsonObject } from '../transcript/json.ts'
import type { Status } from '../transcript/session.ts'

/** What `metadata.json` says, in devflow's own words. What it does not say is absent. */
export type RunMetadata = {
  readonly runId: string
  readonly flowId?: string
  readonly nodeId?: string
  readonly input?: JsonObject
  readonly startedAt?: string
  readonly endedAt?: string
  readonly status: Status
  readonly totalTokensIn?: number
  readonly totalTokensOut?: number
  /** US dollars, decimal. */
  readonly totalCost?: string
  readonly turnCount?: number
  readonly error?: string
}

export type RunFilter = {
  readonly flow?: string
  readonly status?: Status
  /** Started after and before these instants, both exclusive. */
  readonly after?: string
  readonly before?: string
  readonly limit?: number
}

export type RunList = {
  /** Newest first. */
  readonly runs: readonly RunMetadata[]
  /** Runs whose metadata cannot be read: not among `runs`, and never touched. */
  readonly unreadable: readonly { readonly runId: string; readonly reason: string }[]
}

export type StoreFiles = { readonly base: string; readonly files: Files; readonly now: () => number }

export type FileBelow = { readonly path: string; readonly sizeBytes: number; readonly modifiedMs: number }

export function createStoreFiles(
  base: string,
  files: Files = nodeFiles,
  now: () => number = Date.now,
): StoreFiles {
  return { base, files, now }
}

export function runFolder({ base }: StoreFiles, runId: string): string {
  return join(base, 'runs', checkId(runId, 'run id'))
}

export function runExists(store: StoreFiles, runId: string): boolean {
  return store.files.kind(runFolder(store, runId)) !== undefined
}

/** Throws `run-not-found`, and `not-a-transcript` for metadata that cannot be read. */
export function readMetadata(store: StoreFiles, runId: string): RunMetadata {
  const folder = runFolder(store, runId)
  if (store.files.kind(folder) !== 'folder') throw runNotFound(runId)
  const path = join(folder, 'metadata.json')
  const value = parseJson(readText(store, path) ?? '')
  if (!isObject(value)) throw new HansardError('not-a-transcript', `${path} cannot be read as metadata`)
  const facts = readFacts(value)
  const { tokensIn, tokensOut, cost, kept: _, ...said } = facts
  return {
    ...said,
    runId,
    status: facts.status ?? 'interrupted',
    ...(tokensIn !== undefined && { totalTokensIn: tokensIn }),
    ...(tokensOut !== undefined && { totalTokensOut: tokensOut }),
    ...(cost !== undefined && { totalCost: cost }),
  }
}

/** Every run, by its own metadata: the index is never asked, since anybody may have changed the folder. */
export function listRuns(store: StoreFiles, filter: RunFilter = {}): RunList {
  const runs: RunMetadata[] = []
  const unreadable: { runId: string; reason: string }[] = []
  for (const runId of runIds(store)) {
    try {
      runs.push(readMetadata(store, runId))
    } catch (error) {
      if (!isHansardError(error)) throw error
      unreadable.push({ runId, reason: error.message })
    }
  }
  const found = runs.filter((run) => matches(run, filter)).sort(newestFirst)
  return { runs: found.slice(0, filter.limit ?? found.length), unreadable }
}

export function runIds({ base, files }: StoreFiles): readonly string[] {
  const folder = join(base, 'runs')
  return files
    .list(folder)
    .filter((name) => isSafeId(name) && files.kind(join(folder, name)) === 'folder')
    .sort()
}

/** The regular files below a folder, sorted. With `strict`, anything else there is an error. */
export function filesBelow(folder: string, { strict = false } = {}): readonly FileBelow[] {
  const found: FileBelow[] = []
  const walk = (below: string): void => {
    for (const name of fs.readdirSync(join(folder, below)).sort()) {
      const path = below === '' ? name : `${below}/${name}`
      const stat = fs.lstatSync(join(folder, path))
      if (stat.isDirectory()) walk(path)
      else if (stat.isFile()) found.push({ path, sizeBytes: stat.size, modifiedMs: stat.mtimeMs })
      else if (strict)
        throw new HansardError('unsafe-path', `${join(folder, path)} is neither a file nor a folder`)
    }
  }
  try {
    walk('')
  } catch (error) {
    throw fromSystemError(error, folder)
  }
  return found
}

/** Out of sight in one step, then gone: a crash between leaves no half a run. */
export function removeRun(store: StoreFiles, runId: string): void {
  const folder = runFolder(store, runId)
  const aside = join(store.base, `.removed-${runId}-${randomBytes(4).toString('hex')}`)
  try {
    store.files.rename(folder, aside)
    store.files.syncFolder(dirname(folder))
    fs.rmSync(aside, { recursive: true, force: true })
  } catch (error) {
    throw fromSystemError(error, folder)
  }
}

/** `index.json` again from what is there. Best effort: the index is a convenience for others and never read here. */
export function rebuildIndex(store: StoreFiles): void {
  const list = (): string => {
    const runs = listRuns(store).runs.map(({ runId, flowId = '', status, startedAt }) => ({
      runId,
      flowId,
      status,
      startedAt: toGoTime(startedAt),
    }))
    return toJson({ runs, lastUpdated: toGoTime(fromMillis(store.now())) }, 2)
  }
  try {
    updateShared(store.files, join(store.base, 'runs'), 'index.json', list)
  } catch {
    // A run that was removed is removed, whatever its listing says.
  }
}

export function runNotFound(runId: string): HansardError {
  return new HansardError('run-not-found', `no run ${runId}`, { hint: 'list() gives the runs there are' })
}

export function runAlreadyExists(runId: string): HansardError {
  return new HansardError('run-already-exists', `run ${runId} already exists`, {
    hint: 'give the run another id, or remove the old one first',
  })
}

/** An instant as a text that sorts, whatever its number of digits. */
export function sortable(instant: string | undefined): string {
  return instant === undefined ? '' : instant.slice(0, -1).padEnd(29, '0')
}

function matches(run: RunMetadata, { flow, status, after, before }: RunFilter): boolean {
  if (flow !== undefined && run.flowId !== flow) return false
  if (status !== undefined && run.status !== status) return false
  if (after !== undefined && !(sortable(run.startedAt) > sortable(after))) return false
  return before === undefined || (run.startedAt !== undefined && sortable(run.startedAt) < sortable(before))
}

function newestFirst(a: RunMetadata, b: RunMetadata): number {
  const [left, right] = [sortable(a.startedAt) + a.runId, sortable(b.startedAt) + b.runId]
  return left < right ? 1 : left > right ? -1 : 0
}

/** Metadata is a few KB; a file past this is something else. */
const METADATA_LIMIT = 16 * 1024 * 1024

function readText({ files }: StoreFiles, path: string): string | undefined {
  try {
    if ((files.identityAt(path)?.size ?? 0) > METADATA_LIMIT) return undefined
    return readWholeFile(files, path)?.toString('utf8')
  } catch (error) {
    throw fromSystemError(error, path)
  }
}
