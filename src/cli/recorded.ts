/** A session of the archive as a command's input. Apart from files, which need no archive to be read. */
import { openArchive, type Archive } from '../archive/archive.ts'
import { resolveSession } from '../archive/blobs.ts'
import { readSession } from '../archive/read-session.ts'
import { HansardError, isHansardError } from '../errors.ts'
import type { ReadItem } from '../formats/format.ts'
import type { Input } from './input.ts'

/** By its id or the beginning of it. */
export function openRecorded(named: string, home: string | undefined): Input {
  const archive = openArchive(home)
  try {
    const id = archive.find(named)
    return { name: id, read: () => readSession(archive, id), outline: () => outline(archive, id) }
  } catch (error) {
    if (!isHansardError(error) || error.code !== 'session-not-found') throw error
    throw new HansardError('session-not-found', `there is no file, folder or session ${named}`, {
      hint: `looked here and in the archive ${archive.home}; hansard list shows its sessions`,
    })
  }
}

/** Large content of entries stays where it is; the session's own facts are what a first look is for. */
async function* outline(archive: Archive, id: string): AsyncGenerator<readonly ReadItem[]> {
  for await (const items of readSession(archive, id, { blobs: 'reference' })) {
    const isPlain = items.every((item) => item.type !== 'session')
    yield isPlain ? items : await Promise.all(items.map((item) => withFacts(item, archive)))
  }
}

async function withFacts(item: ReadItem, { blobs }: Archive): Promise<ReadItem> {
  if (item.type !== 'session') return item
  return { type: 'session', session: await resolveSession(item.session, blobs) }
}
