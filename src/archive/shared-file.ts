/**
 * A small file that several processes rewrite from what it holds: an index beside the runs. One at a time, so that no change is
 * lost; a lock that a crash left is told from one that is held by the process that took it.
 */
import { join } from 'node:path'
import { HansardError, systemCode } from '../errors.ts'
import { writeAll, writeWhole, type FileIdentity, type Files } from '../journal/files.ts'
import { bootId, createWriterId, isWriterAlive } from '../journal/writer-id.ts'
import { readWholeFile } from './bytes.ts'

/** How long a change may take that is not ours. After that a lock without a living holder is broken, and one with it is an error. */
const WAIT_MS = 2000
const PAUSE_MS = 3

export function updateShared(
  files: Files,
  folder: string,
  name: string,
  change: (current: string | undefined) => string,
): void {
  const release = hold(files, join(folder, `.${name}.lock`))
  try {
    const changed = change(readWholeFile(files, join(folder, name))?.toString('utf8'))
    writeWhole(files, folder, name, Buffer.from(changed))
  } finally {
    release()
  }
}

function hold(files: Files, path: string): () => void {
  const until = Date.now() + WAIT_MS
  for (;;) {
    const mine = create(files, path)
    if (mine !== undefined) return () => removeIf(files, path, mine)
    const held = files.identityAt(path)
    if (held === undefined) continue
    const holder = holderOf(files, path)
    // Created and filled are two steps: an empty lock is a young one, until it has been there too long.
    const isDead = holder === undefined ? Date.now() > until : !isWriterAlive(...holder)
    if (isDead) removeIf(files, path, held)
    else if (Date.now() > until) {
      throw new HansardError('locked', `${path} is held by process ${holder?.[0].split('-')[0] ?? 'unknown'}`)
    } else pause(PAUSE_MS)
  }
}

function create(files: Files, path: string): FileIdentity | undefined {
  try {
    const fd = files.openAppend(path, 'new')
    try {
      writeAll(files, fd, Buffer.from(`${createWriterId()} ${bootId()}\n`))
      return files.identity(fd)
    } finally {
      files.close(fd)
    }
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return undefined
    throw error
  }
}

function holderOf(files: Files, path: string): [writer: string, boot: string] | undefined {
  try {
    const [writer, boot] = (readWholeFile(files, path)?.toString('utf8') ?? '').trimEnd().split(' ')
    return writer === undefined || boot === undefined ? undefined : [writer, boot]
  } catch (error) {
    // Released between looking and opening.
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

function removeIf(files: Files, path: string, { dev, ino }: FileIdentity): void {
  const now = files.identityAt(path)
  if (now?.dev !== dev || now.ino !== ino) return
  try {
    files.remove(path)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
