/**
 * The files that this program wrote beside a journal, in the formats that were asked for. They say nothing that the journal does not:
 * a sync that took them for another program's would show every session twice.
 */
import fs from 'node:fs'
import { join } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import { readChunks } from '../archive/bytes.ts'
import { readJournal } from '../journal/reader.ts'

/** Absolute, by the path that links lead to. */
export async function ownFiles(archive: Archive, id: string): Promise<readonly string[]> {
  const own = new Set<string>()
  for (const segment of archive.segments(id)) {
    const roots = new Map<string, string>()
    for await (const items of readJournal(readChunks(archive.files, segment), segment)) {
      for (const item of items) {
        if (!item.ok) continue
        const { record } = item
        if (record.t === 'session')
          for (const { id, root } of record.formats ?? []) roots.set(id, realPath(root))
        if (record.t !== 'files' || record.taken === true) continue
        const root = roots.get(record.format)
        if (root !== undefined) own.add(join(root, record.path))
      }
    }
  }
  return [...own]
}

function realPath(path: string): string {
  try {
    return fs.realpathSync(path)
  } catch {
    return path
  }
}
