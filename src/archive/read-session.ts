/**
 * A session of the archive as one stream of items: its writers' segments merged, its blobs back in place. Nothing is held but a
 * window of each segment and the entry at hand.
 */
import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { HansardError, fromSystemError } from '../errors.ts'
import type { ReadItem } from '../formats/format.ts'
import { journal } from '../journal/format.ts'
import { UNFINISHED } from '../journal/unanswered.ts'
import type { Damage } from '../transcript/damage.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import type { Archive } from './archive.ts'
import { isApart, resolveBlobs, resolveSession } from './blobs.ts'
import { readChunks } from './bytes.ts'

type Options = {
  /** `reference` leaves large content where it is: for lists and totals. */
  readonly blobs?: 'inline' | 'reference'
}

export async function* readSession(
  archive: Archive,
  id: string,
  { blobs = 'inline' }: Options = {},
): AsyncGenerator<readonly ReadItem[]> {
  const source = await sessionSource(archive, id)
  for await (const items of journal.read(source)) {
    if (blobs === 'reference' || !items.some(isReferring)) yield items
    else yield* inline(items, archive)
  }
}

/** The same for a first look: large content of entries stays where it is, and the session's own facts are whole. */
export async function* outlineSession(archive: Archive, id: string): AsyncGenerator<readonly ReadItem[]> {
  for await (const items of readSession(archive, id, { blobs: 'reference' })) {
    const isPlain = items.every((item) => item.type !== 'session')
    yield isPlain ? items : await Promise.all(items.map((item) => withFacts(item, archive)))
  }
}

async function withFacts(item: ReadItem, { blobs }: Archive): Promise<ReadItem> {
  if (item.type !== 'session') return item
  return { type: 'session', session: await resolveSession(item.session, blobs) }
}

function isReferring(item: ReadItem): boolean {
  if (item.type === 'session') return item.session.apart !== undefined
  return item.type === 'entry' && isApart(item.entry)
}

/** An entry with large content is a batch of its own: those of a whole batch together may be more than memory holds. */
async function* inline(items: readonly ReadItem[], archive: Archive): AsyncGenerator<readonly ReadItem[]> {
  let batch: ReadItem[] = []
  for (const item of items) {
    if (!isReferring(item)) {
      batch.push(item)
      continue
    }
    if (batch.length > 0) yield batch
    batch = []
    const damage: ReadItem[] = []
    const whole = await resolve(item, archive, (found) => void damage.push({ type: 'damage', damage: found }))
    yield [whole, ...damage]
  }
  if (batch.length > 0) yield batch
}

async function resolve(
  item: ReadItem,
  { blobs }: Archive,
  onDamage: (damage: Damage) => void,
): Promise<ReadItem> {
  if (item.type === 'entry') return { type: 'entry', entry: await resolveBlobs(item.entry, blobs, onDamage) }
  if (item.type === 'session')
    return { type: 'session', session: await resolveSession(item.session, blobs, onDamage) }
  return item
}

/** The session's folder as a format sees it: its journal segments and what had come of answers, and nothing else that may lie there. */
export async function sessionSource(archive: Archive, id: string): Promise<Source> {
  const paths = archive.segments(id)
  if (paths.length === 0) {
    throw new HansardError('session-not-found', `no session ${id} in ${archive.home}`, {
      hint: 'hansard list shows the sessions there are',
    })
  }
  const segments = await Promise.all(paths.map((path) => toSourceFile(archive, path)))
  const beside = join(archive.sessionFolder(id), UNFINISHED)
  // It goes away as soon as its answers have come.
  const unfinished =
    archive.files.kind(beside) === 'file' ? [await toSourceFile(archive, beside).catch(() => [])].flat() : []
  const files = [...segments, ...unfinished]
  return {
    path: archive.sessionFolder(id),
    kind: 'folder',
    list: () => Promise.resolve(files),
    find: (path) => Promise.resolve(files.find((file) => file.path === path)),
  }
}

async function toSourceFile(archive: Archive, path: string): Promise<SourceFile> {
  const { size, mtime } = await stat(path).catch((error: unknown) => {
    throw fromSystemError(error, path)
  })
  const chunks = (): AsyncIterable<Buffer> => readChunks(archive.files, path)
  const take = async (limit: number): Promise<Buffer> => {
    const parts: Buffer[] = []
    let length = 0
    for await (const chunk of chunks()) {
      parts.push(chunk)
      length += chunk.length
      if (length >= limit) break
    }
    return Buffer.concat(parts).subarray(0, limit)
  }
  return {
    path: basename(path),
    sizeBytes: size,
    modifiedAt: mtime.toISOString(),
    chunks,
    head: take,
    async bytes(limit) {
      const bytes = await take(limit + 1)
      if (bytes.length <= limit) return bytes
      throw new HansardError('too-large', `${path} is over ${limit} bytes`)
    },
  }
}
