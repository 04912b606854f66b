/** How much of a disk must stay free, whatever is kept: a recorder that fills the disk takes what it records along. */
import fs from 'node:fs'
import type { Disk } from './sync.ts'

/** Below this share of the disk nothing more is kept. */
const FREE_SHARE = 0.1

/** Whether so many bytes more would leave too little. `disk` is asked in place of the system. */
export function wouldFill(folder: string, bytes: number, disk: (folder: string) => Disk = diskOf): boolean {
  const { free, total } = disk(folder)
  return free - bytes < total * FREE_SHARE
}

/** So many bytes, or files, are taken in between two questions to the system: asking for each takes as long as keeping a small one. */
const ASKED_BYTES = 64 * 1024 * 1024
const ASKED_FILES = 100

/** `wouldFill` for one file after the other. Where little is left, each is asked for. */
export function createDiskWatch(folder: string, disk?: (folder: string) => Disk): (bytes: number) => boolean {
  if (disk !== undefined) return (bytes) => wouldFill(folder, bytes, disk)
  let known: Disk | undefined
  let files = 0
  let spent = 0
  return (bytes) => {
    files += 1
    spent += bytes
    if (known === undefined || files > ASKED_FILES || spent > ASKED_BYTES) {
      const now = diskOf(folder)
      known = now.free - ASKED_BYTES < now.total * FREE_SHARE ? undefined : now
      files = 0
      spent = bytes
      return now.free - bytes < now.total * FREE_SHARE
    }
    return known.free - spent < known.total * FREE_SHARE
  }
}

export function diskFullMessage(what: string): string {
  return `less than ${FREE_SHARE * 100} % of the disk would be free: ${what} is not kept`
}

function diskOf(folder: string): Disk {
  const { bsize, blocks, bavail } = fs.statfsSync(folder)
  return { free: bavail * bsize, total: blocks * bsize }
}
