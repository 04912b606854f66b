/**
 * The search index brought up to what was taken in, in threads of its own, when nothing new has come for a moment. Searching is
 * complete without it, and faster with it.
 */
import { isHansardError, messageOf } from '../errors.ts'
import { isIndexed } from '../search/index-record.ts'
import { catchUpIndex } from '../search/indexer.ts'
import { STEP_BYTES, whenQuiet, type WhenQuiet } from '../search/when-quiet.ts'
import type { AppContext } from './context.ts'

export function createIndexing(
  { archive, hub, progress, redactor }: AppContext,
  onError: (error: unknown) => void,
): WhenQuiet {
  return whenQuiet(async (signal) => {
    if (await isIndexed(archive)) return
    try {
      await catchUpIndex(archive, {
        signal,
        batchBytes: STEP_BYTES,
        inThreads: true,
        onProgress({ bytes, of }) {
          progress.indexing = { bytes, of }
          hub.tell('index', { state: 'running', bytes, of })
        },
      })
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
