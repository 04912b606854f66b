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
    return hasWord(join(store, 'packed-refs'), 'entire/')
  } catch {
    return false
  }
}

const PIECE_BYTES = 64 * 1024

/** Piece by piece: there may be any number of refs. */
function hasWord(path: string, word: string): boolean {
  const file = fs.openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(PIECE_BYTES)
    // The end of one piece and the beginning of the next may be the word.
    for (let held = 0; ;) {
      const more = fs.readSync(file, bytes, held, bytes.length - held, null)
      if (more === 0) return false
      const length = held + more
      if (bytes.subarray(0, length).includes(word)) return true
      held = Math.min(length, word.length - 1)
      bytes.copyWithin(0, length - held, length)
    }
  } finally {
    fs.closeSync(file)
  }
}

/** What says where a repository is, is a path. */
const MOST_POINTER_BYTES = 4096

/** Where the refs are: the repository's own folder, also from one of its other work trees. */
function storeOf(folder: string): string | undefined {
  const git = join(folder, '.git')
  try {
    if (fs.lstatSync(git).isDirectory()) return git
    // What a link leads to may be of any size, or a device without an end.
    const stat = fs.statSync(git)
    if (!stat.isFile() || stat.size > MOST_POINTER_BYTES) return undefined
    const named = /^gitdir: (.+)$/m.exec(fs.readFileSync(git, 'utf8'))?.[1]
    return named === undefined ? undefined : resolve(folder, named, '../..')
  } catch {
    return undefined
  }
}
