/** Some files of a folder as a source, for a unit that is read where it lies. */
import { posix } from 'node:path'
import { HansardError } from '../errors.ts'
import type { SourceFile } from '../transcript/source.ts'
import { renamed } from './listed-file.ts'
import { openSource, type OpenSource } from './open.ts'

/** How a place inside a repository is called: not by a folder, for its files lie in none. */
export const GIT = 'git:'

/** Paths are relative to the root. One path alone is a file source; what has gone meanwhile is left out. */
export async function openFiles(root: string, paths: readonly string[]): Promise<OpenSource> {
  const folder = root.startsWith(GIT) ? await openRepository(root.slice(GIT.length)) : await openSource(root)
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
    list: () => allFound(paths, find),
    // Beside the file, and as far up as the place goes.
    find: (path) => find(posix.join(above, path)),
    damage: () => folder.damage(),
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

async function openRepository(folder: string): Promise<OpenSource> {
  // What reads repositories is as much as all else that a file needs.
  const { openEntireRepository } = await import('./entire-git.ts')
  const source = await openEntireRepository(folder)
  if (source !== undefined) return source
  throw new HansardError('not-found', `${folder} has no checkpoints any more`)
}
