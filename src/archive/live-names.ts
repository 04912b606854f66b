/**
 * What rows of a table were lately written to, by the names in their keys: who cannot be told which rows were changed looks there again.
 * A few at a time, in memory.
 */
import type { KeysKept } from '../formats/format.ts'
import type { SqlValue } from '../transcript/source.ts'

export type LiveNames = {
  /** A row came, or was changed: by its key. */
  note(table: string, keys: KeysKept, key: SqlValue | undefined): void
  /** The last first. */
  recent(table: string): readonly string[]
}

/** What was not written to for so long is left alone by now. */
const LIVE_MS = 10 * 60_000
/** An agent and those that it has started. */
const MOST_NAMES = 8
const MOST_LENGTH = 256

export function createLiveNames(now: () => number = Date.now): LiveNames {
  /** By table; the one that was noted last is the last. */
  const tables = new Map<string, Map<string, number>>()
  return {
    note(table, keys, key) {
      const name = nameIn(keys, key)
      if (name === undefined) return
      const names = tables.get(table) ?? new Map<string, number>()
      tables.set(table, names)
      names.delete(name)
      names.set(name, now())
      for (const oldest of names.keys()) if (names.size > MOST_NAMES) names.delete(oldest)
    },
    recent(table) {
      const since = now() - LIVE_MS
      const names = [...(tables.get(table) ?? [])].filter(([, at]) => at >= since)
      return names.map(([name]) => name).toReversed()
    },
  }
}

/** Undefined for a key that names nothing. */
function nameIn({ prefixes }: KeysKept, key: SqlValue | undefined): string | undefined {
  if (typeof key !== 'string') return undefined
  const prefix = prefixes.find((begin) => key.startsWith(begin))
  const [name = ''] = prefix === undefined ? [] : key.slice(prefix.length).split(':', 1)
  return name === '' || name.length > MOST_LENGTH ? undefined : name
}
