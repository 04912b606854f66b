/** Renames what an earlier execution wrote to its next free number. No file takes another's place, whoever does the same at once. */
import { dirname } from 'node:path'
import { systemCode } from '../errors.ts'
import type { Files } from '../journal/files.ts'
import { numbered } from './safe-path.ts'

/** Absolute paths of files that belong together: they get the same number. */
export function setAside(files: Files, paths: readonly string[]): void {
  if (paths.length === 0) return
  const n = reserveNumber(files, paths)
  for (const path of paths) {
    try {
      files.rename(path, numbered(path, n))
    } catch (error) {
      files.remove(numbered(path, n))
      // Another execution was first.
      if (systemCode(error) !== 'ENOENT') throw error
    }
  }
  for (const folder of new Set(paths.map((path) => dirname(path)))) files.syncFolder(folder)
}

/** The first number that is free for all of them, held by empty files that the renaming replaces. */
function reserveNumber(files: Files, paths: readonly string[]): number {
  for (let n = 1; ; n += 1) {
    const reserved: string[] = []
    for (const path of paths) if (reserve(files, numbered(path, n))) reserved.push(numbered(path, n))
    if (reserved.length === paths.length) return n
    for (const path of reserved) files.remove(path)
  }
}

function reserve(files: Files, path: string): boolean {
  if (files.kind(path) !== undefined) return false
  try {
    files.close(files.openAppend(path, 'new'))
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  }
}
