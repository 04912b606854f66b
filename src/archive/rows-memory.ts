/**
 * What an export left of a database that is followed: what every kept row was, and how far its tables had come. The next one then asks
 * for what was written since, instead of for all. In memory alone, and only believed while the file of kept rows is as it was left.
 */
import type { Files } from '../journal/files.ts'
import { createLiveNames, type LiveNames } from './live-names.ts'
import { tailOf } from './rows-appender.ts'
import type { RowHashes } from './row-hashes.ts'

export type Left = {
  readonly hashes: RowHashes
  /** The lines that declare columns, by table. */
  readonly declared: Map<string, string>
  readonly marks: ReadonlyMap<string, Mark>
  readonly bytes: number
  readonly tail: string
  /**
   * When the export began, the last one that asked for all rows, and the first after that which did not. In milliseconds since 1970.
   */
  readonly beganAt: number
  readonly wholeAt: number
  readonly someSince: number | undefined
}

/** How far a table had come: the highest number of its rows before they were read, and the highest time of a change. */
export type Mark = { readonly number: number; readonly changedAt: number }

/** Of one database. */
export type RowsMemory = {
  /** What was lately written to. Only says where to look: it is never wrong, and stays whatever is left. */
  readonly live: LiveNames
  /** Nothing is left until it is left again. Undefined where all is to be read. */
  take(files: Files, path: string): Left | undefined
  leave(left: Left): void
  hasLeft(): boolean
  /** True when all rows are asked for again, though somebody waits: some program may not write down when it changes one. */
  isDue(left: Left): boolean
  /** True when all rows should be looked at as soon as nobody waits: some were asked for since, and the last time is a while ago. */
  mayLook(): boolean
  close(): void
}

/** Between looks at all rows, while there is time for one after each change. */
const LOOK_MS = 60_000
/** When a program writes for so long without a rest, all rows are asked for in between. */
const DUE_MS = 5 * 60_000

export function createRowsMemory({ dueMs = DUE_MS, lookMs = LOOK_MS } = {}): RowsMemory {
  let left: Left | undefined
  return {
    live: createLiveNames(),
    take(files, path) {
      const taken = left
      left = undefined
      if (taken === undefined) return undefined
      if (files.identityAt(path)?.size === taken.bytes && tailOf(files, path) === taken.tail) return taken
      taken.hashes.close()
      return undefined
    },
    leave(now) {
      left = now
    },
    hasLeft: () => left !== undefined,
    isDue({ someSince, beganAt }) {
      const now = Date.now()
      // After a rest there is time for a look at all of them right behind.
      return someSince !== undefined && now - someSince >= dueMs && now - beganAt < lookMs
    },
    mayLook: () => left?.someSince !== undefined && Math.abs(Date.now() - left.wholeAt) >= lookMs,
    close() {
      left?.hashes.close()
      left = undefined
    },
  }
}

export type RowsMemories = {
  /** That of a database, by any name that it has alone. */
  of(name: string): RowsMemory
  has(name: string): boolean
  forget(name: string): void
}

/** Of a million and a half rows 50 MB are held. */
const MOST_MEMORIES = 2

export function createRowsMemories(most: number = MOST_MEMORIES): RowsMemories {
  /** The one that was asked for last is the last. */
  const all = new Map<string, RowsMemory>()
  const forget = (name: string): void => {
    all.get(name)?.close()
    all.delete(name)
  }
  return {
    of(name) {
      const memory = all.get(name) ?? createRowsMemory()
      all.delete(name)
      all.set(name, memory)
      for (const oldest of all.keys()) if (all.size > most) forget(oldest)
      return memory
    },
    has: (name) => all.has(name),
    forget,
  }
}
