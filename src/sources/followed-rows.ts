/**
 * Databases that this process follows, as their own programs have them: what the last export of each left is held, and looked through
 * when there is nothing else to do. So the next row is found by itself, and none is missed for good that nobody wrote the time of.
 */
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { canAskSince } from '../archive/ask-since.ts'
import type { KeptPlace } from '../archive/kept.ts'
import { createRowsMemories, type RowsMemory } from '../archive/rows-memory.ts'
import type { RowsKept } from '../formats/format.ts'
import { SQLITE_MAGIC, type SourceDatabase, type SourceFile } from '../transcript/source.ts'
import { collect, collecting } from './one-at-a-time.ts'
import type { OpenSource } from './open.ts'
import { keptIn } from './open-unit.ts'
import type { FoundPlace } from './places.ts'

/** A database in its place. */
export type RowsOf = { readonly place: KeptPlace; readonly path: string; readonly rows: readonly RowsKept[] }

const memories = createRowsMemories()
/** Those that something is held of, by name. */
const followed = new Map<string, RowsOf>()

const nameOf = ({ place, path }: Pick<RowsOf, 'place' | 'path'>): string => `${place.folder}\n${path}`

/** Undefined where its tables cannot be asked for what was written since. */
export function memoryOf(one: RowsOf): RowsMemory | undefined {
  if (!canAskSince(one.rows)) return undefined
  const memory = memories.of(nameOf(one))
  followed.set(nameOf(one), one)
  for (const name of followed.keys()) if (!memories.has(name)) followed.delete(name)
  return memory
}

export function forgetRows(one: RowsOf): void {
  memories.forget(nameOf(one))
  followed.delete(nameOf(one))
}

/** Whether who follows it asks it for what was written since: nobody knows then that all of it is kept. */
export function isAskedSince(home: string, { agent, root }: FoundPlace, path: string): boolean {
  const name = nameOf({ place: keptIn(home).place(agent, root), path })
  return memories.has(name) && memories.of(name).hasLeft()
}

/** Whether there is one that it is time to look through. */
export function isLookDue(): boolean {
  return [...followed.keys()].some((name) => memories.has(name) && memories.of(name).mayLook())
}

/** Looks through one that it is time for, once nothing is written any more. False when there is none. */
export async function lookAtNext(signal?: AbortSignal): Promise<boolean> {
  for (const [name, one] of followed) {
    if (!memories.has(name) || !memories.of(name).mayLook()) continue
    if (await isQuiet(signal)) await lookAtRows(one, signal)
    return true
  }
  return false
}

/** For so long nothing is exported: a program that writes goes on, and a look would be beside the reading of what it wrote. */
const QUIET_MS = 2000
/** Databases that were exported so far. */
let exports = 0

async function isQuiet(signal: AbortSignal | undefined): Promise<boolean> {
  const before = exports
  await wait(QUIET_MS, undefined, { signal }).catch(() => {})
  return exports === before && signal?.aborted !== true
}

/** What is held of rows is one's at a time: a look ends when something is to be exported, and begins when nothing is. */
let last: Promise<unknown> = Promise.resolve()
let looking: AbortController | undefined

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const next = last.then(work)
  last = next.catch(() => {})
  return next
}

/** While no other database is exported, or looked at. */
export function exporting<T>(work: () => Promise<T>): Promise<T> {
  exports += 1
  looking?.abort()
  return inTurn(work)
}

/** Nothing is held of it afterwards if it cannot be looked at, is damaged, or has rows that are not kept: the next export asks for all. */
export function lookAtRows(one: RowsOf, signal?: AbortSignal): Promise<void> {
  const ending = new AbortController()
  const end = (): void => ending.abort()
  signal?.addEventListener('abort', end, { once: true })
  return inTurn(async () => {
    looking = ending
    if (signal?.aborted !== true) await look(one, ending.signal)
  }).finally(() => {
    if (looking === ending) looking = undefined
    signal?.removeEventListener('abort', end)
  })
}

async function look(one: RowsOf, signal: AbortSignal): Promise<void> {
  const memory = memoryOf(one)
  const opened = memory && (await openRowsOf(one).catch(() => undefined))
  if (memory === undefined || opened === undefined) return forgetRows(one)
  const { source, database } = opened
  try {
    const isKept = await one.place.hasRows(one.path, { database, rows: one.rows, memory }, signal)
    if (source.damage().length > 0 || (!isKept && !signal.aborted)) forgetRows(one)
  } catch {
    forgetRows(one)
  } finally {
    await database.close()
    collect()
  }
}

export type OpenedRows = { readonly source: OpenSource; readonly database: SourceDatabase }

/** Undefined for a file that is no database. */
export async function openRowsOf({ place, path }: RowsOf): Promise<OpenedRows | undefined> {
  const { openSource } = await import('./open.ts')
  const source = await openSource(join(place.root, path))
  const [file] = await source.list()
  if (file === undefined || !(await isDatabase(file))) return undefined
  const database = await collecting(file.database)?.()
  return database && { source, database }
}

async function isDatabase(file: SourceFile): Promise<boolean> {
  const magic = await file.head(SQLITE_MAGIC.length)
  return magic.toString('latin1') === SQLITE_MAGIC
}
