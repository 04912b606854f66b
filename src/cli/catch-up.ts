/**
 * The index brought up to what was taken in: after a sync, a little after a search, and while watching when nothing else is going on.
 * Searching is complete without it, and faster with it; so what goes wrong here is said, and spoils nothing.
 */
import type { Archive } from '../archive/archive.ts'
import { isHansardError, messageOf } from '../errors.ts'
import { isIndexed } from '../search/index-record.ts'
import type { CatchUpOptions, CaughtUp } from '../search/indexer.ts'
import { STEP_BYTES, whenQuiet, type WhenQuiet } from '../search/when-quiet.ts'
import { FAILED, note } from './print.ts'
import { createProgress } from './progress.ts'

/** Where nothing is new, nothing that indexes is loaded. */
export async function catchUpAfterSync(archive: Archive): Promise<void> {
  if (await isIndexed(archive)) return
  const progress = createProgress()
  const done = await catchUp(archive, {
    onProgress: ({ bytes, of }) => progress.show({ doing: 'indexing', bytes, ofBytes: of }),
  })
  progress.end()
  if (done === undefined) process.exitCode = FAILED
  else sayLeft(done)
}

/** What a search waits for at its end, in bytes of logs: a quarter of a second. */
const AFTER_SEARCH_BYTES = 6 * 1024 * 1024

/** After an answer for which something had to be read: a little of it is indexed, so that the next one need not. Says nothing. */
export async function catchUpAfterSearch(archive: Archive): Promise<void> {
  if (archive.readOnly || (await isIndexed(archive))) return
  const { catchUpIndex } = await import('../search/indexer.ts')
  try {
    await catchUpIndex(archive, { mostBytes: AFTER_SEARCH_BYTES })
  } catch (error) {
    if (!isHansardError(error)) throw error
  }
}

/** Undefined when it could not be done: a full disk, a folder that may not be written. */
async function catchUp(archive: Archive, options: CatchUpOptions): Promise<CaughtUp | undefined> {
  const { catchUpIndex } = await import('../search/indexer.ts')
  try {
    return await catchUpIndex(archive, options)
  } catch (error) {
    if (!isHansardError(error)) throw error
    note(`hansard: not all is indexed, and searches will read the rest: ${messageOf(error)}`)
    if (error.hint !== undefined) note(`  ${error.hint}`)
    return undefined
  }
}

function sayLeft({ failed, isNewer }: CaughtUp): void {
  if (isNewer)
    note(
      'hansard: the index was made by a newer hansard, and is left alone: searches read everything. Update this one, or remove the search files in index/',
    )
  const [first] = failed
  if (first === undefined) return
  const more = failed.length > 1 ? `, and ${failed.length - 1} more` : ''
  note(`hansard: ${first.name} is not indexed: ${first.message}${more}`)
}

/** In threads of its own: what is written meanwhile is taken in as fast as without it. */
export function createWatchedIndex(archive: Archive): WhenQuiet {
  let told = ''
  return whenQuiet(
    async (signal) => {
      const done = await catchUp(archive, { signal, batchBytes: STEP_BYTES, inThreads: true })
      const said = JSON.stringify([done?.isNewer, done?.failed])
      if (done !== undefined && said !== told) sayLeft(done)
      told = said
    },
    (error) => note(`hansard: ${messageOf(error)}`),
  )
}
