/** The work that is done behind the server, wherever that is: taking in logs, journals, and indexing both. */
import type { Archive } from '../archive/archive.ts'
import { catchUpIndex } from '../search/indexer.ts'
import { STEP_BYTES } from '../search/when-quiet.ts'
import { prepareFollowed } from '../sources/prepare-followed.ts'
import { catchUp, sync, type SyncOptions, type SyncProgress, type SyncReport } from '../sources/sync.ts'

export type Work =
  | { readonly kind: 'sync'; readonly options: PlainSyncOptions }
  /** Of journals. */
  | { readonly kind: 'catch-up' }
  /** Of one long log, for what comes to it: see `prepareFollowed`. */
  | { readonly kind: 'prepare' }
  | { readonly kind: 'index' }

/** What can be sent to another process. */
export type PlainSyncOptions = Omit<SyncOptions, 'signal' | 'onPlan' | 'onProgress' | 'disk'>

/** Without what is told and who is asked: that stays here. */
export function toPlain(options: SyncOptions): PlainSyncOptions {
  const isPlain = ([, value]: [string, unknown]): boolean =>
    typeof value !== 'function' && !(value instanceof AbortSignal)
  return Object.fromEntries(Object.entries(options).filter(isPlain))
}

export type Done<W extends Work> = W['kind'] extends 'sync'
  ? SyncReport
  : W['kind'] extends 'prepare'
    ? boolean
    : undefined

export type WorkProgress =
  | { readonly kind: 'plan' }
  | { readonly kind: 'sync'; readonly progress: SyncProgress }
  | { readonly kind: 'index'; readonly bytes: number; readonly of: number }

export type WorkOptions = {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: WorkProgress) => void
}

export async function doWork<W extends Work>(
  archive: Archive,
  work: W,
  { signal, onProgress = () => {} }: WorkOptions,
): Promise<Done<W>> {
  const stop = signal === undefined ? {} : { signal }
  // Each branch gives what `Done` says of its kind.
  if (work.kind === 'sync')
    return (await sync(archive, {
      ...work.options,
      ...stop,
      onPlan: () => onProgress({ kind: 'plan' }),
      onProgress: (progress) => onProgress({ kind: 'sync', progress }),
    })) as Done<W>
  if (work.kind === 'prepare') return (await prepareFollowed(archive, signal)) as Done<W>
  if (work.kind === 'catch-up') await catchUp(archive)
  else
    await catchUpIndex(archive, {
      ...stop,
      batchBytes: STEP_BYTES,
      inThreads: true,
      onProgress: ({ bytes, of }) => onProgress({ kind: 'index', bytes, of }),
    })
  return undefined as Done<W>
}
