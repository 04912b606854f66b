/** A session of the archive as a command's input. Apart from files, which need no archive to be read. */
import { openArchive } from '../archive/archive.ts'
import { readSession } from '../archive/read-session.ts'
import { HansardError, isHansardError } from '../errors.ts'
import type { Input } from './input.ts'

/** By its id or the beginning of it. */
export function openRecorded(named: string, home: string | undefined): Input {
  const archive = openArchive(home)
  try {
    const id = archive.find(named)
    return {
      name: id,
      read: () => readSession(archive, id),
      outline: () => readSession(archive, id, { blobs: 'reference' }),
    }
  } catch (error) {
    if (!isHansardError(error) || error.code !== 'session-not-found') throw error
    throw new HansardError('session-not-found', `there is no file, folder or session ${named}`, {
      hint: `looked here and in the archive ${archive.home}; hansard list shows its sessions`,
    })
  }
}
