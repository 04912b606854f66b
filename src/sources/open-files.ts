/** Some files of a folder as a source, for a unit that is read where it lies. */
import { posix } from 'node:path'
import { HansardError } from '../errors.ts'
import type { Damage } from '../transcript/damage.ts'
import type { SourceFile } from '../transcript/source.ts'
import { isLong, type FileLists } from './file-lists.ts'
import { renamed } from './listed-file.ts'
import type { EntireSource } from './entire-git.ts'
import { openSource, type OpenSource } from './open.ts'

/** How a place inside a repository is called: not by a folder, for its files lie in none. */
export const GIT = 'git:'

/** Paths are relative to the root. One path alone is a file source; what has gone meanwhile is left out. */
export async function openFiles(
  root: string,
  paths: readonly string[],
  lists?: FileLists,
): Promise<OpenSource> {
  const isGit = root.startsWith(GIT)
  const folder = isGit ? await openRepository(root.slice(GIT.length)) : await openSource(root)
  const [only] = paths
  const isAlone = paths.length === 1 && only !== undefined
  const above = isAlone ? posix.dirname(only) : '.'
  // Named as what is kept of them is: a session that has no name of its own goes by where its file lies.
  const find = async (path: string): Promise<SourceFile | undefined> => {
    const file = await folder.find(path)
    const name = posix.relative(above, path)
    return file === undefined || file.path === name ? file : renamed(file, name)
  }
  return {
    path: isAlone ? `${root}/${only}` : root,
    kind: isAlone ? 'file' : 'folder',
    list: () => (isLong(paths, lists) ? manyFound(paths, folder, lists) : allFound(paths, find)),
    // Beside the file, and as far up as the place goes.
    find: (path) => find(posix.join(above, path)),
    damage: () => (isGit ? ownDamage(folder, paths) : folder.damage()),
  }
}

/** One after the other: what is found of many at a time is more than what is held of them. */
async function allFound(
  paths: readonly string[],
  find: (path: string) => Promise<SourceFile | undefined>,
): Promise<readonly SourceFile[]> {
  const files: SourceFile[] = []
  for (const path of paths) {
    const file = await find(path)
    if (file !== undefined) files.push(file)
  }
  return files
}

/** The same, noted on disk, where it can be opened again by what is noted. */
async function manyFound(
  paths: readonly string[],
  folder: OpenSource,
  lists: FileLists,
): Promise<readonly SourceFile[]> {
  const { again } = folder
  if (again === undefined) return allFound(paths, (path) => folder.find(path))
  const list = lists.begin()
  for (const path of paths) {
    const file = await folder.find(path)
    if (file !== undefined) list.add({ path, sizeBytes: file.sizeBytes, modifiedAt: file.modifiedAt })
  }
  return list.end(again)
}

/** A repository is opened once for many units: damage in the others' files is theirs to tell. */
function ownDamage(repository: OpenSource, paths: readonly string[]): readonly Damage[] {
  const all = repository.damage()
  if (all.length === 0) return all
  const own = new Set(paths)
  return all.filter(({ file }) => own.has(file) || file.startsWith('refs/'))
}

/** The repository opened last, while its refs are as they were: each of its units would list all of it. */
let latest: { readonly folder: string; readonly source: EntireSource } | undefined
let forgetting: NodeJS.Timeout | undefined
/** Milliseconds after the last unit: what is known of a hundred thousand checkpoints is not held by a server for good. */
const REMEMBERED_MS = 10_000

async function openRepository(folder: string): Promise<OpenSource> {
  // What reads repositories is as much as all else that a file needs.
  const { openEntireRepository } = await import('./entire-git.ts')
  // Asks for nothing but the refs, until it is listed.
  const source = await openEntireRepository(folder)
  clearTimeout(forgetting)
  forgetting = setTimeout(() => (latest = undefined), REMEMBERED_MS).unref()
  // Objects that are missing may be fetched later, under the same refs.
  const isWhole = latest?.source.damage().every(({ kind }) => kind !== 'missing') === true
  if (isWhole && latest?.folder === folder && latest.source.stamp === source?.stamp) return latest.source
  latest = source && { folder, source }
  if (source !== undefined) return source
  throw new HansardError('not-found', `${folder} has no checkpoints any more`)
}
