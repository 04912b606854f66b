/**
 * The search index brought up to what was taken in, in a process of its own, when nothing new has come for a moment. Searching is
 * complete without it, and faster with it.
 */
import { isHansardError, messageOf } from '../errors.ts'
import { isIndexed } from '../search/index-record.ts'
import { whenQuiet, type WhenQuiet } from '../search/when-quiet.ts'
import type { AppContext } from './context.ts'

export function createIndexing(
  { archive, behind, hub, progress, redactor }: AppContext,
  onError: (error: unknown) => void,
): WhenQuiet {
  return whenQuiet(async (signal) => {
    if (await isIndexed(archive)) return
    try {
      await behind.work(
        { kind: 'index' },
        {
          signal,
          onProgress(now) {
            if (now.kind !== 'index') return
            const { bytes, of } = now
            progress.indexing = { bytes, of }
            hub.tell('index', { state: 'running', bytes, of })
          },
        },
      )
      hub.tell('index', { state: 'done' })
    } catch (error) {
      // A full disk, or a process that is at it already: searches read the rest.
      if (!isHansardError(error)) throw error
      hub.tell('index', { state: 'failed', message: redactor.text(messageOf(error)) })
    } finally {
      progress.indexing = undefined
    }
  }, onError)
}
