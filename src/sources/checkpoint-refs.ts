/** Whether a folder's repository may hold Entire's checkpoints, told by its files: a sync asks it of every folder it knows. */
import fs from 'node:fs'
import { join } from 'node:path'
import { useAtOnce } from './at-once.ts'
import { findGitFolder } from './git-folder.ts'

/** Without asking git: a sync looks at every folder that a session was ever held in. */
export function mayHaveCheckpoints(folder: string): boolean {
  if (!fs.existsSync(join(folder, '.git'))) return false
  const store = findGitFolder(folder)?.common
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
  return useAtOnce(path, { follow: true }, (file) => {
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
  })
}
