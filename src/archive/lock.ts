/**
 * One process at a time may sync, clean or sweep, or rewrite a file that several share. The lock names its holder by process, start time and boot, so that a lock left by
 * a crash is told from one that is held, and taken over. It is there whole or not at all: a lock that says nothing is nobody's.
 * Readers and recorders never need it.
 */
import { basename, dirname, join } from 'node:path'
import { fromSystemError, HansardError, isHansardError, systemCode } from '../errors.ts'
import { claimWhole, type Files } from '../journal/files.ts'
import { bootId, createWriterId, isWriterAlive } from '../journal/writer-id.ts'
import { asObject, asString, parseJson } from '../transcript/json.ts'
import { readWholeFile } from './bytes.ts'

const NAME = 'sync.lock'
const TRIES = 5

/**
 * Holds a folder's lock until the function it gives is called: the archive's own, or that of the given name. Throws `locked` while
 * a living process has it.
 */
export function acquireLock(files: Files, folder: string, name = NAME): () => void {
  const path = join(folder, name)
  const holder = createWriterId()
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (create(files, path, holder)) return () => release(files, path, holder)
    const held = readHolder(files, path)
    if (isHeld(held)) throw locked(path, held)
    removeStale(files, path, () => !isHeld(readHolder(files, path)))
  }
  throw locked(path, undefined)
}

/** The same for who can wait a little: whoever only reads holds it for a moment, to bring what is derived up to date. */
export async function waitForLock(files: Files, home: string, patienceMs: number): Promise<() => void> {
  const attempt = untilHeld(files, home, NAME, patienceMs)
  for (;;) {
    const release = attempt()
    if (release !== undefined) return release
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
  }
}

/** The same for who holds it for a moment and cannot give up the thread: it sleeps. */
export function sleepForLock(files: Files, folder: string, name: string, patienceMs: number): () => void {
  const attempt = untilHeld(files, folder, name, patienceMs)
  for (;;) {
    const release = attempt()
    if (release !== undefined) return release
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
  }
}

const LOOK_AGAIN_MS = 30
const PAUSE_MS = 3

/** Tries once each time it is called; undefined while another has it and patience lasts, and then throws. */
function untilHeld(
  files: Files,
  folder: string,
  name: string,
  patienceMs: number,
): () => (() => void) | undefined {
  const until = Date.now() + patienceMs
  return () => {
    try {
      return acquireLock(files, folder, name)
    } catch (error) {
      if (!isHansardError(error) || error.code !== 'locked' || Date.now() >= until) throw error
      return undefined
    }
  }
}

/**
 * Removes what a crash left, if `isStale` still says so once nobody else can be removing it: else of two who found it stale, the
 * slower would remove what the faster has put in its place. Does nothing while another does it.
 */
export function removeStale(files: Files, path: string, isStale: () => boolean): void {
  const guard = `${path}.takeover`
  const holder = createWriterId()
  if (create(files, guard, holder)) {
    try {
      if (files.kind(path) !== undefined && isStale()) files.remove(path)
    } finally {
      release(files, guard, holder)
    }
  } else if (!isHeld(readHolder(files, guard))) setAside(files, guard, holder)
}

type Held = { readonly holder: string; readonly boot: string }

function create(files: Files, path: string, holder: string): boolean {
  const text = `${JSON.stringify({ holder, boot: bootId() })}\n`
  try {
    return claimWhole(files, dirname(path), basename(path), Buffer.from(text))
  } catch (error) {
    throw fromSystemError(error, path)
  }
}

function readHolder(files: Files, path: string): Held | undefined {
  const value = asObject(parseJson(readText(files, path)))
  const holder = asString(value?.['holder'])
  const boot = asString(value?.['boot'])
  return holder === undefined || boot === undefined ? undefined : { holder, boot }
}

function readText(files: Files, path: string): string {
  try {
    return readWholeFile(files, path)?.toString('utf8') ?? ''
  } catch (error) {
    // Released between the look and the reading.
    if (systemCode(error) === 'ENOENT') return ''
    throw error
  }
}

function isHeld(held: Held | undefined): boolean {
  return held !== undefined && isWriterAlive(held.holder, held.boot)
}

/** A takeover that a crash left: renamed, looked at once more, and put back when it is not what was found. */
function setAside(files: Files, path: string, holder: string): void {
  const aside = `${path}.${holder}`
  try {
    files.rename(path, aside)
    if (isHeld(readHolder(files, aside))) files.link(aside, path)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' && systemCode(error) !== 'EEXIST') throw error
  } finally {
    if (files.kind(aside) !== undefined) files.remove(aside)
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
