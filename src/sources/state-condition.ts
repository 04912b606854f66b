/** Why there is nothing to say of what was synced: there is no state, it is another version's, or it is damaged. */
import { join } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import { openDatabase } from '../sqlite/driver.ts'
import { isDamagedDatabase } from '../sqlite/errors.ts'
import { STATE_VERSION } from './state-schema.ts'

export type StateCondition = 'current' | 'none' | 'other-version' | 'damaged'

/** Looks, and changes nothing. */
export async function stateCondition(archive: Archive): Promise<StateCondition> {
  const path = join(archive.home, 'index', 'state.db')
  const kind = archive.files.kind(path)
  if (kind === undefined) return 'none'
  if (kind !== 'file') return 'damaged'
  try {
    const database = await openDatabase(path, { mode: 'read-only' })
    try {
      const version = database.prepare('PRAGMA user_version').get()?.['user_version']
      if (version === STATE_VERSION) return 'current'
      // Every version of this program has set one.
      return version === 0 ? 'damaged' : 'other-version'
    } finally {
      database.close()
    }
  } catch (error) {
    if (isDamagedDatabase(error)) return 'damaged'
    throw error
  }
}
