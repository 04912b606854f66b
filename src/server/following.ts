/**
 * What agents and recorders write while the server runs, taken in as they write it: their logs by a watch on the places where they
 * lie, journals of this archive by one on theirs.
 */
import os from 'node:os'
import { join } from 'node:path'
import { isHansardError, messageOf } from '../errors.ts'
import { isCurrent } from '../sources/current.ts'
import { parseExclude } from '../sources/exclude.ts'
import { followPlaces } from '../sources/follow.ts'
import { allFormats } from '../sources/formats.ts'
import type { SyncOptions, SyncProgress, SyncReport } from '../sources/sync.ts'
import { watchPlaces } from '../sources/watch.ts'
import type { AppContext } from './context.ts'
import { toPlain } from './behind-work.ts'
import { createIndexing } from './indexing.ts'
import { watchChanges } from './changes.ts'

export type Following = {
  /** A sync of everything, now. */
  sync(): Promise<SyncReport>
  end(): Promise<void>
}

export type FollowingOptions = {
  /** How logs are taken in. */
  readonly sync: SyncOptions
  /** `false`: only what is in the archive already, and what others put there. */
  readonly logs?: boolean
  readonly onError: (error: unknown) => void
}

export function follow(
  context: AppContext,
  { sync: how, logs = true, onError }: FollowingOptions,
): Following {
  const { archive, behind, hub, progress, redactor } = context
  const ending = new AbortController()
  const { signal } = ending
  const changes = watchChanges(context, onError)
  const canWrite = !archive.readOnly
  const indexing = canWrite ? createIndexing(context, onError) : undefined
  const took = async (): Promise<void> => {
    indexing?.touch()
    await changes.look()
  }
  let toldAt = 0
  const take = (options: SyncOptions): Promise<SyncReport> =>
    behind.work(
      { kind: 'sync', options: toPlain(options) },
      {
        ...(options.signal && { signal: options.signal }),
        onProgress(now) {
          if (now.kind === 'plan') toldAt = Date.now()
          else if (now.kind === 'sync') tellOf(now.progress)
        },
      },
    )
  const tellOf = ({ doing, done, of }: SyncProgress): void => {
    const now = { doing, done, ...(of !== undefined && { of }) }
    progress.syncing = now
    // A sync of a line or two is over before anybody would read of it.
    if (Date.now() - toldAt < PROGRESS_MS) return
    toldAt = Date.now()
    hub.tell('sync', { state: 'running', ...now })
  }
  const ended = (report: SyncReport): void => {
    progress.syncing = undefined
    const { sessions, entries } = report
    if (sessions === 0) return
    hub.tell('sync', { state: 'done', sessions, entries })
    void took()
  }
  const failed = (error: unknown): void => {
    progress.syncing = undefined
    const message = isHansardError(error) ? redactor.text(messageOf(error)) : 'something went wrong'
    hub.tell('sync', { state: 'failed', message })
    onError(error)
  }
  const following =
    logs && canWrite
      ? followPlaces(archive, how, {
          take,
          prepare: (until) => behind.work({ kind: 'prepare' }, { signal: until }),
          formats: allFormats,
          exclude: parseExclude(how.exclude ?? [], { home: os.homedir() }),
          signal,
          onSync: ended,
          onError: failed,
        }).catch(failed)
      : undefined
  if (canWrite) context.state.waitFor(followJournals(context, signal, took, onError))
  if (logs) followLookedAt(context, signal, onError)
  indexing?.touch()
  return {
    async sync() {
      try {
        hub.tell('sync', { state: 'running' })
        const report = await take({ ...how, signal })
        ended(report)
        return report
      } catch (error) {
        failed(error)
        throw error
      }
    },
    async end() {
      ending.abort()
      changes.stop()
      // A log may be long, and what is done by halves is done again.
      const late = setTimeout(() => behind.close(), END_MS)
      await Promise.all([following, indexing?.end()])
      clearTimeout(late)
    },
  }
}

/** For whoever is at work when the server ends. */
const END_MS = 2000

/** Between looks at the logs of sessions that are shown. */
const SHOWN_MS = 200
/** The end of a log is read in no time, or not at all. */
const EXTEND_MS = 2000

/**
 * Of a session that is looked at, what is appended to its log is told before a sync has read it: that takes as long as the log, and
 * may take long.
 */
function followLookedAt(
  { state, outlines, hub, redactor }: AppContext,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): void {
  let isAtWork = false
  const look = async (): Promise<void> => {
    for (const session of outlines.grown()) {
      const outline = await state.read((database) => outlines.open(session, database))
      const now = await outline?.reach(Number.POSITIVE_INFINITY, EXTEND_MS)
      const length = outlines.followedTo(session.id)
      if (now?.state === 'ready' && length !== undefined)
        hub.tell('entries', { id: redactor.id(session.id), length })
    }
  }
  const timer = setInterval(() => {
    if (isAtWork || hub.listeners === 0) return
    isAtWork = true
    void look()
      .catch(onError)
      .finally(() => (isAtWork = false))
  }, SHOWN_MS)
  timer.unref()
  signal.addEventListener('abort', () => clearInterval(timer))
}

/** Between two words on how far a sync is. */
const PROGRESS_MS = 500
const TRY_AGAIN_MS = 150
const SETTLE_MS = 100

/** Resolves when what was recorded before is taken in. */
async function followJournals(
  { archive, behind }: AppContext,
  signal: AbortSignal,
  took: () => Promise<void>,
  onError: (error: unknown) => void,
): Promise<void> {
  let isChanged = false
  let isAtWork = false
  let isTakenIn = (): void => {}
  const takenIn = new Promise<void>((done) => (isTakenIn = done))
  const work = async (): Promise<void> => {
    if (isAtWork) return
    isAtWork = true
    while (isChanged && !signal.aborted) {
      isChanged = false
      try {
        await behind.work({ kind: 'catch-up' })
        isTakenIn()
        await took()
      } catch (error) {
        if (!isHansardError(error) || error.code !== 'locked') {
          isTakenIn()
          onError(error)
        } else {
          // Another process is at it; it may have passed these before they changed.
          isChanged = true
          await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS))
        }
      }
    }
    isAtWork = false
  }
  const root = join(archive.home, 'sessions')
  watchPlaces([{ agent: 'journal', root, files: ['*/journal-*.jsonl'] }], {
    signal,
    settleMs: SETTLE_MS,
    onChange() {
      isChanged = true
      void work()
    },
  })
  // What was recorded before.
  isChanged = true
  void work()
  // Nobody waits for a process to start where there is nothing for it to do.
  if (!(await isCurrent(archive))) await takenIn
}
