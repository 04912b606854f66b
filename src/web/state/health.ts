/** What goes on in the server: asked at the start and after every break, and kept up by what it tells meanwhile. */
import { effect, signal, type ReadonlySignal } from '@preact/signals'
import type { Health } from '../../server/api.ts'
import { ask } from '../api.ts'
import { connection, on } from '../live.ts'

const now = signal<Health | undefined>(undefined)
export const health: ReadonlySignal<Health | undefined> = now

/** The last thing that went wrong in the background; until the next success. */
const failed = signal<string | undefined>(undefined)
export const trouble: ReadonlySignal<string | undefined> = failed

/** Called once, by the shell. */
export function followHealth(): () => void {
  const refresh = async (): Promise<void> => {
    const answer = await ask.health({ wait: false })
    if (answer.ok) now.value = answer.value
  }
  const ends = [
    effect(() => {
      if (connection.value === 'open') void refresh()
    }),
    on('sync', ({ state, doing = 'syncing', done = 0, of, message }) => {
      if (now.value === undefined) return
      const { syncing: _, ...rest } = now.value
      const syncing = { doing, done, ...(of !== undefined && { of }) }
      now.value = state === 'running' ? { ...rest, syncing } : rest
      failed.value = state === 'failed' ? (message ?? 'a sync failed') : undefined
      if (state === 'done') void refresh()
    }),
    on('index', ({ state, bytes = 0, of = 0, message }) => {
      if (now.value === undefined) return
      const { indexing: _, ...rest } = now.value
      now.value = state === 'running' ? { ...rest, indexing: { bytes, of } } : rest
      failed.value =
        state === 'failed' ? (message ?? 'the search index could not be brought up to date') : undefined
    }),
    on('reset', () => void refresh()),
  ]
  return () => {
    for (const end of ends) end()
  }
}
