/**
 * The search index brought up to what was taken in, in threads of its own, when nothing new has come for a moment. Searching is
 * complete without it, and faster with it.
 */
import { isHansardError, messageOf } from '../errors.ts'
import { isIndexed } from '../search/index-record.ts'
import { catchUpIndex } from '../search/indexer.ts'
import type { AppContext } from './context.ts'

export type Indexing = {
  /** Something was taken in. */
  touch(): void
  /** Waits for the work at hand, which stops soon. */
  end(): Promise<void>
}

/** After so long without anything new, or at the latest after so long. */
const QUIET_MS = 2000
const LATEST_MS = 15_000
/** Small steps, so that an end is soon. */
const BATCH_BYTES = 8 * 1024 * 1024

export function createIndexing(
  { archive, hub, progress, redactor }: AppContext,
  onError: (error: unknown) => void,
): Indexing {
  const ending = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let since: number | undefined
  let running: Promise<void> | undefined
  const run = async (): Promise<void> => {
    since = undefined
    if (await isIndexed(archive)) return
    try {
      await catchUpIndex(archive, {
        signal: ending.signal,
        batchBytes: BATCH_BYTES,
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
  }
  const start = (): void => {
    if (running !== undefined) return void (timer = setTimeout(start, QUIET_MS))
    running = run()
      .catch(onError)
      .finally(() => (running = undefined))
  }
  return {
    touch() {
      if (ending.signal.aborted) return
      const now = Date.now()
      since ??= now
      clearTimeout(timer)
      timer = setTimeout(start, Math.max(0, Math.min(QUIET_MS, since + LATEST_MS - now)))
    },
    async end() {
      ending.abort()
      clearTimeout(timer)
      await running
    },
  }
}
