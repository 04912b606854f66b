/**
 * `hansard complete`: the words that a shell offers while somebody is typing, one a line, what they are after a tab. Whatever is
 * wrong, it says nothing and offers nothing. No foreign text: an id is safe, and its words are not the session's own.
 */
import { openArchive } from '../../archive/archive.ts'
import { createClock } from '../../replay/clock.ts'
import { LOADABLE } from '../../sources/load-format.ts'
import { listIds } from '../../sources/session-ids.ts'
import { peekState } from '../../sources/state.ts'
import { isSafeId } from '../../transcript/ids.ts'
import { loadConfig } from '../config.ts'
import { out } from '../print.ts'

/** More is not read by anybody. */
const MOST = 100

export async function complete(what: string, prefix = ''): Promise<void> {
  try {
    const words = await wordsOf(what, prefix)
    await out(
      words
        .filter((word) => word.startsWith(prefix))
        .map((word) => `${word}\n`)
        .join(''),
    )
  } catch {
    // Somebody is in the middle of a line: nothing may stand between its words.
  }
}

async function wordsOf(what: string, prefix: string): Promise<readonly string[]> {
  if (what === 'formats') return LOADABLE
  if (what === 'targets') return targets()
  return what === 'sessions' ? sessions(prefix) : []
}

/** Formats that can be written. */
async function targets(): Promise<readonly string[]> {
  const { formats } = await import('../../formats/index.ts')
  return formats.filter(({ write }) => write !== undefined).map(({ id }) => id)
}

async function sessions(prefix: string): Promise<readonly string[]> {
  const { home } = await loadConfig({}, process.env, () => {})
  const archive = openArchive(home)
  const state = await peekState(archive)
  // Nothing was listed or synced yet: what was recorded has folders.
  if (state === undefined)
    return archive
      .ids()
      .filter((id) => id.startsWith(prefix))
      .toReversed()
      .slice(0, MOST)
  const clock = createClock()
  try {
    return listIds(state.database, prefix, MOST)
      .filter(({ id }) => isSafeId(id))
      .map(
        ({ id, startedAt, status }) =>
          `${id}\t${[startedAt && clock.date(startedAt), status].filter(Boolean).join(' ')}`,
      )
  } finally {
    state.close()
  }
}
