/** The state for answers that need nothing else: caught up first, where something was recorded since, and built again where it is damaged. */
import type { Archive } from '../archive/archive.ts'
import { isDamagedDatabase } from '../sqlite/errors.ts'
import { isStateCurrent } from './current.ts'
import { peekState, type State } from './state.ts'

export type StateAnswer<T> = {
  /** Undefined where nothing was ever recorded or synced. */
  readonly answer: T | undefined
  /** False when another process is at work: what was recorded in the last moments may be missing. */
  readonly isCaughtUp: boolean
}

export async function withState<T>(
  archive: Archive,
  work: (state: State) => T | Promise<T>,
): Promise<StateAnswer<T>> {
  try {
    return await answer(archive, work)
  } catch (error) {
    if (!isDamagedDatabase(error)) throw error
    const { rebuild } = await import('./sync.ts')
    await rebuild(archive)
    return answer(archive, work)
  }
}

async function answer<T>(archive: Archive, work: (state: State) => T | Promise<T>): Promise<StateAnswer<T>> {
  let state = await peekState(archive)
  let isCaughtUp = true
  try {
    if (state === undefined || !isStateCurrent(state, archive)) {
      state?.close()
      state = undefined
      isCaughtUp = await catchUp(archive.home)
      state = await peekState(archive)
    }
    return { answer: state && (await work(state)), isCaughtUp }
  } finally {
    state?.close()
  }
}

/** Loaded only here: it brings every format with it. */
async function catchUp(home: string): Promise<boolean> {
  const { openSessions } = await import('./sessions.ts')
  const sessions = await openSessions(home)
  sessions.close()
  return sessions.isCaughtUp
}
