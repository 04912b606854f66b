/**
 * Retention: whole sessions go, each leaving a tombstone that stands before anything is removed; then the blobs that no journal
 * names any more. Nothing here decides to delete: callers ask what would go, and say so when it is to go.
 */
import fs from 'node:fs'
import { join } from 'node:path'
import { fromSystemError, HansardError } from '../errors.ts'
import { fromMillis } from '../transcript/instant.ts'
import type { Files } from '../journal/files.ts'
import type { Session } from '../transcript/session.ts'
import type { Archive } from './archive.ts'
import { readChunks } from './bytes.ts'
import { readFacts } from './facts.ts'
import { addTombstone } from './tombstones.ts'

export type Expired = {
  readonly session: Session
  /** When it was last heard of: its end, or the last write to its journal. */
  readonly lastAt: string
  readonly bytes: number
}

/**
 * Sessions last heard of before an instant, oldest last. One that is running is never among them; one that cannot be read is told
 * of, and does not keep the others.
 */
export async function findExpired(
  archive: Archive,
  before: string,
  onUnreadable: (id: string, error: HansardError) => void = () => {},
): Promise<readonly Expired[]> {
  const expired: Expired[] = []
  for (const id of archive.ids()) {
    try {
      if (archive.segments(id).length === 0) continue
      const { session, bytes } = await readFacts(archive, id)
      const lastAt = session.endedAt ?? lastWrite(archive, id)
      if (session.status === 'running' || lastAt === undefined || lastAt >= before) continue
      expired.push({ session, lastAt, bytes })
    } catch (error) {
      onUnreadable(id, fromSystemError(error, id))
    }
  }
  return expired
}

function lastWrite(archive: Archive, id: string): string | undefined {
  const times = archive
    .segments(id)
    .map((path) => fs.lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return fromMillis(Math.max(...times))
}

/** Removes a session's folder. What lies in it that is no plain file is left, and the folder with it. */
export function deleteSession(
  archive: Archive,
  id: string,
  tombstone: { readonly at: string; readonly reason: string },
): void {
  const { files } = archive
  const folder = archive.sessionFolder(id)
  if (files.kind(folder) !== 'folder') {
    throw new HansardError('unsafe-path', `${folder} is not a folder, and is left alone`)
  }
  try {
    addTombstone(files, archive.home, { session: id, ...tombstone })
    for (const name of files.list(folder)) files.remove(join(folder, name))
    fs.rmdirSync(folder)
    files.syncFolder(join(folder, '..'))
  } catch (error) {
    throw fromSystemError(error, folder)
  }
}

export type Sweep = { readonly blobs: number; readonly bytes: number }

/** A blob is written before the line that names it: a young one may be waiting for its line. */
const YOUNG_MS = 24 * 3_600_000

/** The blobs that no journal names, leaving out of account the sessions that are to go. With `remove`, they are removed. */
export async function sweepBlobs(
  archive: Archive,
  {
    without,
    remove,
    now,
  }: { readonly without: ReadonlySet<string>; readonly remove: boolean; readonly now: number },
): Promise<Sweep> {
  const named = new Set<string>()
  for (const id of archive.ids()) {
    if (without.has(id)) continue
    for (const path of archive.segments(id)) await collectNames(archive, path, named)
  }
  let blobs = 0
  let bytes = 0
  const { files, home } = archive
  for (const shelf of files.list(join(home, 'blobs'))) {
    if (!/^[0-9a-f]{2}$/.test(shelf) || files.kind(join(home, 'blobs', shelf)) !== 'folder') continue
    for (const name of listBlobs(files, join(home, 'blobs', shelf), remove)) {
      const path = join(home, 'blobs', shelf, name)
      const size = named.has(name) ? undefined : oldSize(path, now)
      if (size === undefined || (remove && !removeBlob(files, path, now))) continue
      blobs += 1
      bytes += size
    }
  }
  return { blobs, bytes }
}

const SWEPT = '.swept'

/** The names of the blobs on a shelf. One that a sweep took away and did not live to decide on is put back. */
function listBlobs(files: Files, shelf: string, putBack: boolean): readonly string[] {
  return files.list(shelf).flatMap((name) => {
    const hash = name.slice(0, HEX)
    if (!/^[0-9a-f]{64}$/.test(hash)) return []
    if (name === hash) return [name]
    if (name !== `${hash}${SWEPT}` || !putBack) return []
    files.rename(join(shelf, name), join(shelf, hash))
    return [hash]
  })
}

/** The bytes of a blob that is old enough to go. */
function oldSize(path: string, now: number): number | undefined {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false })
  return stat?.isFile() && now - stat.mtimeMs >= YOUNG_MS ? stat.size : undefined
}

/**
 * A recorder may use the blob again at any moment. Out of its reach the blob's age is final: one that was used meanwhile goes back,
 * and whoever wants to use it now finds none and writes it.
 */
function removeBlob(files: Files, path: string, now: number): boolean {
  files.rename(path, `${path}${SWEPT}`)
  const isOld = oldSize(`${path}${SWEPT}`, now) !== undefined
  if (isOld) files.remove(`${path}${SWEPT}`)
  else files.rename(`${path}${SWEPT}`, path)
  return isOld
}

const MARK = 'sha256:'
const HEX = 64

/** Every name that occurs in a journal's bytes, damaged ones included: a mention too many keeps a blob, one too few loses it. */
async function collectNames(archive: Archive, path: string, names: Set<string>): Promise<void> {
  let before = ''
  for await (const chunk of readChunks(archive.files, path)) {
    const text = before + chunk.toString('latin1')
    for (let at = text.indexOf(MARK); at !== -1; at = text.indexOf(MARK, at + 1)) {
      const name = text.slice(at + MARK.length, at + MARK.length + HEX)
      if (name.length === HEX) names.add(name)
    }
    before = text.slice(-(MARK.length + HEX))
  }
}
