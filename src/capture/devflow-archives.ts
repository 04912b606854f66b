/**
 * Runs put away: `archive/<YYYY-MM>/<runId>.tar.gz`, with every file of the run's folder under `<runId>/`.
 *
 * Promise: a run's folder goes only after its archive has been read back and holds every byte of it. What is restored came out of
 * a strict reader, appears under its name complete or not at all, and never replaces a run that is there.
 */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { HansardError, fromSystemError, isHansardError } from '../errors.ts'
import { fromMillis } from '../transcript/instant.ts'
import { checkId, isSafeId } from '../transcript/ids.ts'
import {
  filesBelow,
  readMetadata,
  removeRun,
  runAlreadyExists,
  runExists,
  runFolder,
  runNotFound,
  type StoreFiles,
} from './devflow-files.ts'
import { hashArchive, hashFolder, packRun, readArchive, sameFiles, unpackRun } from './devflow-tar.ts'

export type ArchivedRun = {
  readonly runId: string
  /** `2025-01` */
  readonly month: string
  readonly path: string
  readonly sizeBytes: number
  readonly archivedAt: string
}

/** Archives a run and removes its folder. The caller has made sure that nobody is writing to it. */
export async function archiveRun(store: StoreFiles, runId: string): Promise<ArchivedRun> {
  if (!runExists(store, runId)) throw runNotFound(runId)
  const month = monthOf(store, runId)
  const target = join(store.base, 'archive', month, `${runId}.tar.gz`)
  const before = hashFolder(store, runId)
  if (store.files.kind(target) === undefined) await packRun(store, runId, target)
  if (!sameFiles(before, await hashArchive(store, target))) {
    throw new HansardError('output-exists', `${target} does not hold run ${runId} as it is now`, {
      hint: 'the run is left in place; move the archive away and try again',
    })
  }
  // Somebody may have written to the run while it was packed: only what was seen twice the same is removed.
  if (!sameFiles(before, hashFolder(store, runId)))
    throw new HansardError('locked', `run ${runId} changed while it was archived`, {
      hint: 'try again when it has ended',
    })
  removeRun(store, runId)
  const { size, mtime } = fs.statSync(target)
  return { runId, month, path: target, sizeBytes: size, archivedAt: mtime.toISOString() }
}

/** Puts an archived run back. The archive stays. Throws `run-already-exists` or `run-not-found`. */
export async function restoreRun(store: StoreFiles, runId: string): Promise<void> {
  checkId(runId, 'run id')
  if (runExists(store, runId)) throw runAlreadyExists(runId)
  const archived = listArchives(store).findLast((one) => one.runId === runId)
  if (archived === undefined) throw runNotFound(runId)
  const aside = join(store.base, `.restoring-${runId}-${randomBytes(4).toString('hex')}`)
  try {
    store.files.makeFolder(aside)
    await unpackRun(store, archived.path, runId, aside)
    const target = runFolder(store, runId)
    store.files.makeFolder(dirname(target))
    if (runExists(store, runId)) throw runAlreadyExists(runId)
    store.files.rename(aside, target)
    store.files.syncFolder(dirname(target))
  } catch (error) {
    throw fromSystemError(error, archived.path)
  } finally {
    fs.rmSync(aside, { recursive: true, force: true })
  }
}

/** Oldest month first. */
export function listArchives({ base, files }: StoreFiles): readonly ArchivedRun[] {
  const root = join(base, 'archive')
  const found: ArchivedRun[] = []
  for (const month of files.list(root).sort()) {
    if (!MONTH.test(month) || files.kind(join(root, month)) !== 'folder') continue
    for (const name of files.list(join(root, month)).sort()) {
      const runId = name.endsWith('.tar.gz') ? name.slice(0, -'.tar.gz'.length) : ''
      const path = join(root, month, name)
      if (!isSafeId(runId) || files.kind(path) !== 'file') continue
      const { size, mtime } = fs.lstatSync(path)
      found.push({ runId, month, path, sizeBytes: size, archivedAt: mtime.toISOString() })
    }
  }
  return found
}

/** One small file out of an archive; undefined when it is not there or the archive cannot be read. */
export async function readArchived(
  store: StoreFiles,
  { path, runId }: ArchivedRun,
  name: string,
): Promise<Buffer | undefined> {
  try {
    let wanted = false
    const parts: Buffer[] = []
    for await (const item of readArchive(store, path)) {
      if (item.type === 'file') wanted = item.entry.path === `${runId}/${name}`
      else if (wanted) parts.push(item.bytes)
    }
    return parts.length === 0 ? undefined : Buffer.concat(parts)
  } catch {
    return undefined
  }
}

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/

/** The id's own month where it begins with a date, else that of the run's end or start, else that of its newest file. */
function monthOf(store: StoreFiles, runId: string): string {
  if (/^\d{4}-\d{2}-\d{2}/.test(runId) && MONTH.test(runId.slice(0, 7))) return runId.slice(0, 7)
  const { startedAt, endedAt } = tryMetadata(store, runId) ?? {}
  const newest = Math.max(0, ...filesBelow(runFolder(store, runId)).map((file) => file.modifiedMs))
  return (endedAt ?? startedAt ?? fromMillis(newest) ?? '1970-01').slice(0, 7)
}

function tryMetadata(
  store: StoreFiles,
  runId: string,
): { readonly startedAt?: string; readonly endedAt?: string } | undefined {
  try {
    return readMetadata(store, runId)
  } catch (error) {
    if (isHansardError(error)) return undefined
    throw error
  }
}
