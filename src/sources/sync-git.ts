/**
 * Checkpoints that Entire keeps inside git repositories: looked at where there are any, kept session by session when a ref has
 * moved. Later checkpoints of a session go on where earlier ones end, so that what is kept grows by what is new.
 */
import fs from 'node:fs'
import os from 'node:os'
import { basename, dirname } from 'node:path'
import { entire } from '../formats/entire.ts'
import { openEntireRepository, type EntireSource } from './entire-git.ts'
import { parseExclude, type Exclusion } from './exclude.ts'
import { GIT } from './open-files.ts'
import { diskFullMessage } from './disk.ts'
import { isDiskFull, type Shared, type Taken } from './sync-take.ts'
import { unitOf } from './unit-of.ts'

export type TakenRepositories = Taken & { readonly seen: number }

/** `folders`: work trees that may have such refs: see `mayHaveCheckpoints`. */
export async function takeRepositories(
  folders: readonly string[],
  shared: Shared,
): Promise<TakenRepositories> {
  const { files, problems, options } = shared
  const taken = { seen: 0, new: 0, grown: 0, rewritten: 0, failed: 0, bytesRead: 0 }
  const { exclude: patterns = [], userHome = os.homedir(), platform = process.platform } = options
  const exclude = parseExclude(patterns, { home: userHome, platform })
  for (const folder of folders) {
    if (options.signal?.aborted) continue
    try {
      const real = fs.realpathSync(folder)
      if (exclude.isExcluded(dirname(real), basename(real))) continue
      const source = await openEntireRepository(folder)
      if (source === undefined) continue
      const place = files.place(entire.id, `${GIT}${real}`)
      // Other patterns, and other files are looked at.
      const stamp = patterns.length === 0 ? source.stamp : `${source.stamp} ${JSON.stringify(patterns)}`
      if (isKnown(files.stamp(place), stamp, options.keep !== false)) continue
      const isWhole = await takeFiles(source, { place, taken, exclude, real }, shared)
      const damage = source.damage()
      for (const { file, reason } of damage) problems.add('damage', `${folder}: ${file}: ${reason}`)
      // Objects that are missing may be fetched later, under the same refs.
      if (isWhole && !damage.some(({ kind }) => kind === 'missing'))
        files.setStamp(place, options.keep === false ? `${READ_ONLY}${stamp}` : stamp)
    } catch (error) {
      taken.failed += 1
      problems.caught(error, folder)
    }
  }
  return taken
}

/** Before the stamp of refs that were read where they lie: they are still to be kept. */
const READ_ONLY = 'read '

function isKnown(known: string | undefined, stamp: string, isToKeep: boolean): boolean {
  return known === stamp || (!isToKeep && known === `${READ_ONLY}${stamp}`)
}

type Taking = {
  readonly place: number
  readonly taken: { -readonly [K in keyof TakenRepositories]: number }
  readonly exclude: Exclusion
  readonly real: string
}

/** True when all of it was taken in, or left out on purpose. */
async function takeFiles(
  source: EntireSource,
  { place, taken, exclude, real }: Taking,
  shared: Shared,
): Promise<boolean> {
  const { files, kept, database, problems, options } = shared
  const { agent, root } = files.placeAt(place)
  const target = kept.place(agent, root)
  let isWhole = true
  for (const file of await source.list()) {
    if (options.signal?.aborted) return false
    if (exclude.isExcluded(real, file.path)) continue
    taken.seen += 1
    const unit = await unitOf(entire.id, file)
    if (options.keep === false) {
      database.transaction(() => files.copied(place, file.path, unit, undefined))
      continue
    }
    if (isDiskFull(shared, { size: file.sizeBytes, bytes: target.file(file.path)?.sizeBytes })) {
      taken.failed += 1
      problems.add('disk-full', diskFullMessage(`${root}/${file.path}`))
      isWhole = false
      continue
    }
    const result = await target.keep(file.path, { chunks: () => file.chunks(), modifiedAt: file.modifiedAt })
    taken.bytesRead += result.bytesRead
    if (result.change !== 'none') taken[result.change] += 1
    database.transaction(() => files.copied(place, file.path, unit, result))
  }
  return isWhole
}
