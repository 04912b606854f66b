/** What is taken in is in a format that the user named: noted beside what is kept of it, before any of it is read. */
import type { Exclusion } from './exclude.ts'
import type { Looked } from './sync-look.ts'
import type { Shared } from './sync-take.ts'
import { walk } from './walk.ts'

/** Files that were not known to be in it are taken in again, changed or not. */
export function nameFormats(
  { places }: Pick<Looked, 'places'>,
  { kept, files, database, options }: Shared,
  exclude: Exclusion,
): void {
  const { format, passOver } = options
  if (format === undefined) return
  for (const [id, { agent, root, files: globs }] of places) {
    const paths: string[] = []
    for (const { path, absolute } of walk(root, { files: globs, exclude }))
      if (passOver?.has(absolute) !== true) paths.push(path)
    if (paths.length === 0) continue
    const changed = kept.place(agent, root).nameFormat(paths, format)
    database.transaction(() => files.takeAgain(id, changed))
  }
}
