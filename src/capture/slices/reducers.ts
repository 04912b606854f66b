/** The built-in reducers. Each says what to do and does nothing; `appendAll` never looks at the slice, however long it is. */
import type { Reducer } from './slice.ts'

export function appendAll<T>(): Reducer<T, T> {
  return (_, event) => ({ op: 'append', item: event })
}

/** Keeps only the newest. */
export function replaceLatest<T>(): Reducer<T, T> {
  return (_, event) => ({ op: 'replace', items: [event] })
}

/** Puts the item in the place of the one with the same key, or at the end. */
export function upsertBy<T>(key: (item: T) => unknown): Reducer<T, T> {
  return (view, event) => {
    const items = view.all()
    const at = items.findIndex((item) => key(item) === key(event))
    return at === -1 ? { op: 'append', item: event } : { op: 'replace', items: items.with(at, event) }
  }
}

/** Takes away the one with the same key, and puts the item at the end. */
export function replaceLatestBy<T>(key: (item: T) => unknown): Reducer<T, T> {
  return (view, event) => ({
    op: 'replace',
    items: [...view.where((item) => key(item) !== key(event)), event],
  })
}
