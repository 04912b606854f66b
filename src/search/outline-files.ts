/**
 * The files of outlines, in `index/outlines`: for each session rows and copies of one generation, and a note that says which generation
 * is the one, how long, and what it was made from. Derived: whatever is missing or does not fit is made again.
 */
import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import { fromSystemError, systemCode } from '../errors.ts'
import type { Damage } from '../transcript/damage.ts'
import { asObject, parseJson, toJson } from '../transcript/json.ts'
import type { Fill } from './outline-fills.ts'
import { ROW_BYTES } from './outline-row.ts'

/** Raised when rows or notes change their meaning. */
const OUTLINE_VERSION = 4

export type OutlineNote = {
  readonly version: number
  /** What it was made from, and the part of it that stays while a log only grows. */
  readonly stamp: string
  readonly basis: string
  /** Its last rows were added without reading all before them. */
  readonly isExtended?: boolean
  readonly generation: string
  /** Rows that count; there may be more in the file, of one who died writing. */
  readonly length: number
  readonly copyBytes: number
  /** Large content was in its place when checksums were made. */
  readonly isInline: boolean
  readonly sources: readonly string[]
  /** Entries of each source, in the same order. */
  readonly perSource: readonly number[]
  readonly files: readonly string[]
  readonly damage: readonly PlacedDamage[]
  readonly damageCount: number
  /** Models without a price, each with where it first came. */
  readonly unpriced: readonly (readonly [model: string, position: number])[]
  readonly fills: readonly Fill[]
}

/** All but what says where it is from. */
export type Note = Omit<OutlineNote, 'version' | 'stamp'>

/** `position`: of the entry that it stands before, or the length. */
export type PlacedDamage = { readonly position: number; readonly damage: Damage }

/** Names that grow while an outline is made. */
export type Names = Pick<OutlineNote, 'sources' | 'files'>

export type OutlineFolder = { readonly folder: string; readonly name: string }

export function outlineFolder(home: string): string {
  return join(home, 'index', 'outlines')
}

/** Keys may be anything that an id may be: files are called by a hash. */
export function outlineName(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, NAME_LENGTH)
}

export function newGeneration(): string {
  return randomBytes(6).toString('hex')
}

export const rowsPath = ({ folder, name }: OutlineFolder, generation: string): string =>
  join(folder, `${name}-${generation}.rows`)
export const copiesPath = ({ folder, name }: OutlineFolder, generation: string): string =>
  join(folder, `${name}-${generation}.copies`)
const notePath = ({ folder, name }: OutlineFolder): string => join(folder, `${name}.json`)

export function makeFolder(folder: string): void {
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw fromSystemError(error, folder)
  }
}

/** Undefined when there is none that can be used. */
export function readNote(at: OutlineFolder): OutlineNote | undefined {
  let text: string
  try {
    text = fs.readFileSync(notePath(at), 'utf8')
  } catch {
    return undefined
  }
  const note = asObject(parseJson(text))
  if (note?.['version'] !== OUTLINE_VERSION || typeof note['generation'] !== 'string') return undefined
  if (!/^[0-9a-f]{12}$/.test(note['generation'])) return undefined
  // Of this version, it is what `writeNote` wrote.
  return note as unknown as OutlineNote
}

/** Whether all that the note speaks of is there. */
export function isWhole(at: OutlineFolder, { generation, length, copyBytes }: OutlineNote): boolean {
  const size = (path: string): number => fs.statSync(path, { throwIfNoEntry: false })?.size ?? -1
  return size(rowsPath(at, generation)) >= length * ROW_BYTES && size(copiesPath(at, generation)) >= copyBytes
}

/** In place at once, whole; other generations are gone after it. */
export function writeNote(at: OutlineFolder, note: Omit<OutlineNote, 'version'>): OutlineNote {
  const whole: OutlineNote = { version: OUTLINE_VERSION, ...note }
  const path = notePath(at)
  const staged = `${path}.${newGeneration()}`
  fs.writeFileSync(staged, toJson(whole), { mode: 0o600 })
  fs.renameSync(staged, path)
  removeOthers(at, note.generation)
  return whole
}

/** Milliseconds since 1970; 0 where there is none. */
export function writtenAt(at: OutlineFolder): number {
  return fs.statSync(notePath(at), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function removeOthers({ folder, name }: OutlineFolder, generation: string): void {
  for (const file of list(folder)) {
    const isOther = file.startsWith(`${name}-`) && !file.startsWith(`${name}-${generation}.`)
    if (isOther && !isBeingWritten(join(folder, file))) fs.rmSync(join(folder, file), { force: true })
  }
}

export function removeOutline({ folder, name }: OutlineFolder): void {
  for (const file of list(folder)) if (file.startsWith(name)) fs.rmSync(join(folder, file), { force: true })
}

/** Outlines of sessions that are gone, what others left that died, and the longest unused beyond what all may take. */
export function pruneOutlines(
  folder: string,
  isKnown: (name: string) => boolean,
  mostBytes = MOST_BYTES,
): void {
  const sizes = new Map<string, { bytes: number; used: number }>()
  for (const file of list(folder)) {
    const stat = fs.statSync(join(folder, file), { throwIfNoEntry: false })
    const name = file.slice(0, NAME_LENGTH)
    const known = sizes.get(name) ?? { bytes: 0, used: 0 }
    sizes.set(name, {
      bytes: known.bytes + (stat?.size ?? 0),
      used: Math.max(known.used, stat?.mtimeMs ?? 0),
    })
  }
  let bytes = 0
  for (const [name, size] of [...sizes].sort(([, a], [, b]) => b.used - a.used)) {
    bytes += size.bytes
    const isIdle = Date.now() - size.used > WRITTEN_MS
    if (!isKnown(name) || (bytes > mostBytes && isIdle)) removeOutline({ folder, name })
    else removeLeftovers({ folder, name })
  }
}

/** Generations that no note speaks of, and notes that never came to their place. */
function removeLeftovers(at: OutlineFolder): void {
  const { folder, name } = at
  const note = readNote(at)
  const kept = note === undefined ? undefined : `${name}-${note.generation}.`
  for (const file of list(folder)) {
    const isRows = file.startsWith(`${name}-`) && (kept === undefined || !file.startsWith(kept))
    const isStaged = file.startsWith(`${name}.json.`)
    if ((isRows || isStaged) && !isBeingWritten(join(folder, file)))
      fs.rmSync(join(folder, file), { force: true })
  }
}

/** Of a hash, in characters. */
const NAME_LENGTH = 32
const MOST_BYTES = 2 * 1024 * 1024 * 1024
/** Another process may be writing it: one at work writes more often than this. */
const WRITTEN_MS = 30_000

function isBeingWritten(path: string): boolean {
  const stat = fs.statSync(path, { throwIfNoEntry: false })
  return stat !== undefined && Date.now() - stat.mtimeMs < WRITTEN_MS
}

/**
 * The right to write into what is there; undefined when another process has it. Without it one writes a generation of one's own, which
 * is right as well.
 */
export function takeOutline({ folder, name }: OutlineFolder): (() => void) | undefined {
  const path = join(folder, `${name}.lock`)
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      fs.writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 })
      return () => fs.rmSync(path, { force: true })
    } catch {
      if (isHeld(path)) return undefined
      fs.rmSync(path, { force: true })
    }
  }
  return undefined
}

function isHeld(path: string): boolean {
  try {
    const pid = Number(fs.readFileSync(path, 'utf8'))
    if (pid === process.pid) return false
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}

function list(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder)
  } catch {
    return []
  }
}
