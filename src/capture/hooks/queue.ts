/**
 * What hooks have asked for, and who is at work on it, as small files in the archive. A request is there whole or not at all, and
 * outlives whoever works on it: it is gone when it was done, not when it was begun. The same request twice is one. Loaded by every
 * hook, so it needs nothing but Node.js's own files.
 */
import fs from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from './make-folder.ts'

/** What a hook says that counts here; nothing of it has been checked. */
export type Ticket = {
  readonly agent: string
  readonly session?: string
  readonly transcript?: string
  readonly agentTranscript?: string
  /** The variables that move the agent's folders, as the agent has them. */
  readonly env?: Readonly<Record<string, string>>
}

export const hooksFolder = (home: string): string => join(home, 'hooks')
const queueFolder = (home: string): string => join(hooksFolder(home), 'queue')
const takenFolder = (home: string): string => join(hooksFolder(home), 'taken')
const lockPath = (home: string): string => join(hooksFolder(home), 'work.lock')

/** Taken at once; what is more waits for the next round. */
const MOST_TAKEN = 1000
/** A lock that says nothing is being written, or was left by a crash. */
const WRITING_MS = 5000
/** Where the system does not tell when a process began, its number may long be another's: two workers at once only cost time. */
const UNSURE_MS = 15 * 60_000
const PRIVATE = { mode: 0o600 }

export function addTicket(home: string, ticket: Ticket): void {
  const text = `${JSON.stringify(ticket)}\n`
  const name = `${nameOf(text)}.json`
  const folder = queueFolder(home)
  const temporary = join(hooksFolder(home), `${name}.${process.pid}`)
  makeFolder(folder)
  fs.writeFileSync(temporary, text, PRIVATE)
  fs.renameSync(temporary, join(folder, name))
}

/** What is to be done, and, one by one, what a worker has died of: it may be its fault. */
export type Taken = {
  readonly fresh: readonly string[]
  readonly again: readonly string[]
  readonly given: readonly string[]
}

/**
 * Those that wait, and those whose worker died, which count as asked for until `dropTickets`. `given`: up, after so many workers that
 * began on them were not seen to end.
 */
export function takeTickets(home: string): Taken {
  const folder = takenFolder(home)
  makeFolder(folder)
  const again: string[] = []
  const given: string[] = []
  for (const name of namesIn(folder)) {
    const [, base = '', tries = '0'] = TRIED.exec(name) ?? []
    const next = `${base}-${Number(tries) + 1}.json`
    fs.renameSync(join(folder, name), join(folder, next))
    if (Number(tries) + 1 >= MOST_TRIES) given.push(next)
    else again.push(next)
  }
  const fresh = namesIn(queueFolder(home)).slice(0, MOST_TAKEN)
  for (const name of fresh) fs.renameSync(join(queueFolder(home), name), join(folder, name))
  return { fresh, again, given }
}

const TRIED = /^([0-9a-f]{1,16})(?:-(\d))?\.json$/
const MOST_TRIES = 3

/** Undefined for what is no ticket. */
export function readTicket(home: string, name: string): Ticket | undefined {
  try {
    const value: unknown = JSON.parse(fs.readFileSync(join(takenFolder(home), name), 'utf8'))
    return typeof value === 'object' && value !== null && 'agent' in value ? (value as Ticket) : undefined
  } catch {
    return undefined
  }
}

export function dropTickets(home: string, names: readonly string[]): void {
  for (const name of names) fs.rmSync(join(takenFolder(home), name), { force: true })
}

/** Those that wait, and those that somebody is at work on. */
export function waitingTickets(home: string): number {
  return namesIn(queueFolder(home)).length + namesIn(takenFolder(home)).length
}

export const hasWaiting = (home: string): boolean => namesIn(queueFolder(home)).length > 0

/** True when nobody is at work and this process may begin, or send another to. */
export function claimWork(home: string): boolean {
  const path = lockPath(home)
  if (create(path)) return true
  const before = readText(path)
  if (isHeld(path, before)) return false
  // Left by a crash. Of two who see it, one sets aside what it saw; the other finds that it holds something else, and gives it back.
  const aside = `${path}.${process.pid}`
  try {
    fs.renameSync(path, aside)
    if (readText(aside) !== before) fs.linkSync(aside, path)
  } catch {
    // Somebody else was faster.
  }
  fs.rmSync(aside, { force: true })
  return create(path)
}

/** The work is now another process's, which was started for it. */
export function passWork(home: string, pid: number): void {
  const temporary = `${lockPath(home)}.to-${pid}`
  fs.writeFileSync(temporary, holderText(pid), PRIVATE)
  fs.renameSync(temporary, lockPath(home))
}

export const holdsWork = (home: string): boolean => readText(lockPath(home)) === holderText(process.pid)

export function releaseWork(home: string): void {
  if (holdsWork(home)) fs.rmSync(lockPath(home), { force: true })
}

/** True while somebody who lives is at work. */
export const isAtWork = (home: string): boolean => isHeld(lockPath(home), readText(lockPath(home)))

function create(path: string): boolean {
  try {
    fs.writeFileSync(path, holderText(process.pid), { ...PRIVATE, flag: 'wx' })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** The process, and when it began: its number may be another's by now. */
const holderText = (pid: number): string => `${pid} ${startOf(pid) ?? 'x'}\n`

function isHeld(path: string, text: string | undefined): boolean {
  if (text === undefined) return false
  const [, pid, start] = /^(\d{1,10}) (\d{1,20}|x)\n$/.exec(text) ?? []
  if (pid === undefined) return Date.now() - modified(path) < WRITING_MS
  if (start !== 'x') return startOf(Number(pid)) === start
  return exists(Number(pid)) && Date.now() - modified(path) < UNSURE_MS
}

/** Clock ticks from boot, where the system tells; undefined too for one that is dead and not yet waited for. */
function startOf(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function modified(path: string): number {
  return fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function readText(path: string): string | undefined {
  try {
    return fs.readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder).filter((name) => TRIED.test(name))
  } catch {
    return []
  }
}

/** A name for a text: FNV-1a, twice. Nothing is trusted to it; two texts of one name would be one request. */
function nameOf(text: string): string {
  let a = 0x811c9dc5
  let b = 0x1000193
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ code ^ a, 0x01000193)
  }
  return [a, b].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
}
