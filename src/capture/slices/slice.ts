/**
 * weakincentives' slices: what a session knows, a list for each type of thing. A slice of policy `LOG` only ever grows; one of
 * policy `STATE` may be rewritten and is rolled back with a snapshot.
 */
import type { Damage } from '../../transcript/damage.ts'

/** Names a type of item and tells its items from others: what a Python class is to the original. */
export type SliceType<T> = {
  /** Module and class, which a file is named after: `weakincentives.transcript:TranscriptEntry`. */
  readonly name: string
  is(value: unknown): value is T
  /** Returns the item as a slice holds it: a complete copy that nobody can change. Throws for an item that it cannot hold. */
  settle?(item: T): T
}

export type SlicePolicy = 'STATE' | 'LOG'

/** Lazy: nothing is read before it is asked for, and `isEmpty`, `length` and `iterate` never hold a whole slice. */
export type SliceView<T> = {
  isEmpty(): boolean
  length(): number
  iterate(): Iterable<T>
  all(): readonly T[]
  latest(): T | undefined
  where(predicate: (item: T) => boolean): readonly T[]
}

/** Where a slice's items are. */
export type SliceStore<T> = SliceView<T> & {
  append(item: T): void
  extend(items: readonly T[]): void
  /** All at once: never seen half done. */
  replace(items: readonly T[]): void
  /** All items, or those the predicate picks. */
  clear(predicate?: (item: T) => boolean): void
  /** The file, where there is one: two stores of one place hold the same items. */
  readonly place?: string
  /** What could not be read the last time the items were gone through. */
  damage(): readonly Damage[]
}

export type SliceFactory = { create<T>(type: SliceType<T>): SliceStore<T> }

/** Which factory makes the slices of which policy. */
export type SliceFactoryConfig = { readonly stateFactory: SliceFactory; readonly logFactory: SliceFactory }

/** What a reducer wants done to a slice. */
export type SliceOp<T> =
  | { readonly op: 'append'; readonly item: T }
  | { readonly op: 'extend'; readonly items: readonly T[] }
  | { readonly op: 'replace'; readonly items: readonly T[] }
  | { readonly op: 'clear'; readonly predicate?: (item: T) => boolean }

export type Reducer<T, E> = (view: SliceView<T>, event: E) => SliceOp<T>

/** The lazy questions, for a store that can go through its items. */
export function viewOf<T>(
  iterate: () => Iterable<T>,
): Pick<SliceView<T>, 'iterate' | 'all' | 'latest' | 'where'> {
  return {
    iterate,
    all: () => [...iterate()],
    latest() {
      let last: T | undefined
      for (const item of iterate()) last = item
      return last
    },
    where(predicate) {
      const found: T[] = []
      for (const item of iterate()) if (predicate(item)) found.push(item)
      return found
    },
  }
}
