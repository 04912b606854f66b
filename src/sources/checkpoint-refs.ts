/** Whether a folder's repository may hold Entire's checkpoints, told by its files: a sync asks it of every folder it knows. */
import fs from 'node:fs'
import { join, resolve } from 'node:path'

/** Without asking git: a sync looks at every folder that a session was ever held in. */
export function mayHaveCheckpoints(folder: string): boolean {
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
