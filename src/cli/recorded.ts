/** A session of the archive as a command's input, whatever recorded it. Apart from files, which need no archive to be read. */
import { openArchive } from '../archive/archive.ts'
import { HansardError, isHansardError } from '../errors.ts'
import { openSessions } from '../sources/sessions.ts'
import type { Input } from './input.ts'

/** By its id or the beginning of it. */
export async function openRecorded(
  named: string,
  { home, raw = false }: { readonly home?: string; readonly raw?: boolean },
): Promise<Input> {
  const sessions = await openSessions(home, { raw })
  try {
    const found = sessions.find(named)
    return {
      name: found.id,
      read: () => sessions.read(found),
      outline: () => sessions.outline(found),
      close: () => sessions.close(),
    }
  } catch (error) {
    sessions.close()
    if (!isHansardError(error) || error.code !== 'session-not-found') throw error
    throw new HansardError('session-not-found', `there is no file, folder or session ${named}`, {
      hint: `looked here and in the archive ${openArchive(home).home}; hansard list shows its sessions`,
    })
  }
}
