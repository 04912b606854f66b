/**
 * Checkpoints that Entire keeps inside git repositories: looked at where there are any, kept session by session when a ref has
 * moved. Later checkpoints of a session go on where earlier ones end, so that what is kept grows by what is new.
 */
import fs from 'node:fs'
import { join, resolve } from 'node:path'
import { entire } from '../formats/entire.ts'
import type { EntireSource } from './entire-git.ts'
import { GIT } from './open-files.ts'
import { unitOf, type Shared, type Taken } from './sync-take.ts'

export type TakenRepositories = Taken & { readonly seen: number }

/** `folders`: work trees that may have such refs. */
export async function takeRepositories(
  folders: readonly string[],
  shared: Shared,
): Promise<TakenRepositories> {
  const { files, problems, options } = shared
  const taken = { seen: 0, new: 0, grown: 0, rewritten: 0, failed: 0, bytesRead: 0 }
  for (const folder of folders) {
    if (options.signal?.aborted || !mayHaveCheckpoints(folder)) continue
    try {
      const { openEntireRepository } = await import('./entire-git.ts')
      const source = await openEntireRepository(folder)
      if (source === undefined) continue
      const place = files.place(entire.id, `${GIT}${fs.realpathSync(folder)}`)
      if (files.stamp(place) === source.stamp) continue
      await takeFiles(source, place, taken, shared)
      for (const { file, reason } of source.damage()) problems.add('damage', `${folder}: ${file}: ${reason}`)
      files.setStamp(place, source.stamp)
    } catch (error) {
      taken.failed += 1
      problems.caught(error, folder)
    }
  }
  return taken
}

type Counts = { -readonly [K in keyof TakenRepositories]: number }

async function takeFiles(
  source: EntireSource,
  place: number,
  taken: Counts,
  { files, kept, database, options }: Shared,
): Promise<void> {
  const { agent, root } = files.placeAt(place)
  const target = kept.place(agent, root)
  for (const file of await source.list()) {
    taken.seen += 1
    const unit = await unitOf(entire, file)
    if (options.keep === false) {
      database.transaction(() => files.copied(place, file.path, unit, undefined))
      continue
    }
    const result = await target.keep(file.path, { chunks: () => file.chunks(), modifiedAt: file.modifiedAt })
    taken.bytesRead += result.bytesRead
    if (result.change !== 'none') taken[result.change] += 1
    database.transaction(() => files.copied(place, file.path, unit, result))
  }
}

/** Without asking git: a sync looks at every folder that a session was ever held in. */
function mayHaveCheckpoints(folder: string): boolean {
  const store = storeOf(folder)
  if (store === undefined) return false
  if (fs.existsSync(join(store, 'refs/entire')) || fs.existsSync(join(store, 'refs/heads/entire')))
    return true
  try {
    return fs.readFileSync(join(store, 'packed-refs'), 'latin1').includes('entire/')
  } catch {
    return false
  }
}

/** Where the refs are: the repository's own folder, also from one of its other work trees. */
function storeOf(folder: string): string | undefined {
  const git = join(folder, '.git')
  try {
    const stat = fs.lstatSync(git)
    if (stat.isDirectory()) return git
    const named = /^gitdir: (.+)$/m.exec(fs.readFileSync(git, 'utf8'))?.[1]
    return named === undefined ? undefined : resolve(folder, named, '../..')
  } catch {
    return undefined
  }
}
