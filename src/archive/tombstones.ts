/**
 * What is left of deleted sessions: `tombstones.jsonl`, one line each, so that nothing that was deleted on purpose comes back with
 * the next sync of the log it came from.
 */
import { join } from 'node:path'
import { writeAll, type Files } from '../journal/files.ts'
import { asObject, asString, parseJson } from '../transcript/json.ts'
import { readWholeFile } from './bytes.ts'

export type Tombstone = { readonly session: string; readonly at: string; readonly reason: string }

const NAME = 'tombstones.jsonl'

/** On disk and synced before it returns: the tombstone stands before the session goes. */
export function addTombstone(files: Files, home: string, tombstone: Tombstone): void {
  const fd = files.openAppend(join(home, NAME), 'any')
  try {
    writeAll(files, fd, Buffer.from(`${JSON.stringify(tombstone)}\n`))
    files.datasync(fd)
  } finally {
    files.close(fd)
  }
}

/** A torn line costs the tombstone it was to be. */
export function readTombstones(files: Files, home: string): readonly Tombstone[] {
  const text = readWholeFile(files, join(home, NAME))?.toString('utf8') ?? ''
  return text.split('\n').flatMap((line) => {
    const value = asObject(parseJson(line))
    const session = asString(value?.['session'])
    if (session === undefined) return []
    return [{ session, at: asString(value?.['at']) ?? '', reason: asString(value?.['reason']) ?? '' }]
  })
}
