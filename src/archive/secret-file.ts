/**
 * Secrets of the archive: the key of its placeholders and the token of its server. What others can read or have made is not believed:
 * a repository may bring an archive along, and its author knows what is in it.
 */
import { join } from 'node:path'
import type { Files } from '../journal/files.ts'
import { readWholeFile } from './bytes.ts'

/** `isOwn`: only this user can have read or written it. */
export type Secret = { readonly bytes: Buffer; readonly isOwn: boolean }

export function readSecret(files: Files, home: string, name: string): Secret | undefined {
  const path = join(home, name)
  const bytes = readWholeFile(files, path)
  if (bytes === undefined) return undefined
  const access = files.identityAt(path)?.access ?? 'own'
  return { bytes, isOwn: access === 'own' || (access === 'shared' && !hasModes(files, home)) }
}

/** False where the disk keeps no modes: there, every file looks as if all could read it. */
function hasModes(files: Files, home: string): boolean {
  const path = join(home, `.modes.${process.pid}.${Math.random().toString(36).slice(2, 10)}.tmp`)
  try {
    const fd = files.openAppend(path, 'new')
    try {
      return files.identity(fd).access === 'own'
    } finally {
      files.close(fd)
      files.remove(path)
    }
  } catch {
    return true
  }
}

/** To standard error, or to whoever listens for the warnings of the process. */
export function warnOfSecret(home: string, name: string): void {
  process.emitWarning(
    `${join(home, name)} is not used: others may know it, by its owner, its mode or what is in it. A new one is made.`,
    'HansardWarning',
  )
}
