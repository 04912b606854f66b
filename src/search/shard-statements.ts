/** What a reader of a shard asks it with, and what it remembers of the answers. */
import type { Database, Statement } from '../sqlite/driver.ts'
import { isUnusable } from './shard.ts'

export type Prepared = (sql: string) => Pick<Statement, 'all' | 'get'>

/** Statements that say so when the shard turns out to be damaged. */
export function createStatements(database: Database, report: () => void): Prepared {
  const known = new Map<string, ReturnType<Prepared>>()
  const watched = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      if (isUnusable(error)) report()
      throw error
    }
  }
  return (sql) => {
    const there = known.get(sql)
    if (there !== undefined) return there
    const statement = watched(() => database.prepare(sql))
    const guarded: ReturnType<Prepared> = {
      all: (...values) => watched(() => statement.all(...values)),
      get: (...values) => watched(() => statement.get(...values)),
    }
    known.set(sql, guarded)
    return guarded
  }
}

export type Cache<T> = {
  get(key: number, make: () => T): T
  /** Undefined for what would have to be made. */
  peek(key: number): T | undefined
  has(key: number): boolean
  /** Of these, the ones that would have to be made. */
  missing(keys: Iterable<number>): readonly number[]
  set(key: number, value: T): void
  clear(): void
}

/** The oldest goes when there are too many. */
export function createCache<T>(most: number): Cache<T> {
  const values = new Map<number, T>()
  const set = (key: number, value: T): void => {
    if (values.size >= most) for (const oldest of values.keys()) if (values.delete(oldest)) break
    values.set(key, value)
  }
  return {
    get(key, make) {
      const known = values.get(key)
      if (known !== undefined) return known
      const made = make()
      set(key, made)
      return made
    },
    peek: (key) => values.get(key),
    has: (key) => values.has(key),
    missing: (keys) => [...new Set(keys)].filter((key) => !values.has(key)),
    set,
    clear: () => values.clear(),
  }
}
