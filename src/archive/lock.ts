/**
 * One process at a time may sync, clean or sweep. The lock names its holder by process, start time and boot, so that a lock left by
 * a crash is told from one that is held, and taken over. Readers and recorders never need it.
 */
import { join } from 'node:path'
import { HansardError, systemCode } from '../errors.ts'
import { writeAll, type Files } from '../journal/files.ts'
import { bootId, createWriterId, isWriterAlive } from '../journal/writer-id.ts'
import { asObject, asString, parseJson } from '../transcript/json.ts'
import { readWholeFile } from './bytes.ts'

const NAME = 'sync.lock'
const TRIES = 5

/** Holds the archive's lock until the function it gives is called. Throws `locked` while a living process has it. */
export function acquireLock(files: Files, home: string): () => void {
  const path = join(home, NAME)
  const holder = createWriterId()
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (create(files, path, holder)) return () => release(files, path, holder)
    const held = readHolder(files, path)
    if (held !== undefined && isWriterAlive(held.holder, held.boot)) throw locked(path, held)
    setAside(files, path, holder)
  }
  throw locked(path, undefined)
}

type Held = { readonly holder: string; readonly boot: string }

function create(files: Files, path: string, holder: string): boolean {
  try {
    const fd = files.openAppend(path, 'new')
    try {
      writeAll(files, fd, Buffer.from(`${JSON.stringify({ holder, boot: bootId() })}\n`))
    } finally {
      files.close(fd)
    }
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  }
}

function readHolder(files: Files, path: string): Held | undefined {
  const value = asObject(parseJson(readWholeFile(files, path)?.toString('utf8') ?? ''))
  const holder = asString(value?.['holder'])
  const boot = asString(value?.['boot'])
  return holder === undefined || boot === undefined ? undefined : { holder, boot }
}

/** Renamed before it is removed: of two processes that find the same stale lock, one renames it and the other finds nothing. */
function setAside(files: Files, path: string, holder: string): void {
  try {
    files.rename(path, `${path}.${holder}`)
    files.remove(`${path}.${holder}`)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
}

function release(files: Files, path: string, holder: string): void {
  if (readHolder(files, path)?.holder === holder) files.remove(path)
}

function locked(path: string, held: Held | undefined): HansardError {
  const who = held === undefined ? 'another process' : `process ${held.holder.split('-')[0]}`
  return new HansardError('locked', `${path} is held by ${who}`, {
    hint: 'wait until it is done, then run the command again',
  })
}
