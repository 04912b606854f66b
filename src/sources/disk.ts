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

export function diskFullMessage(what: string): string {
  return `less than ${FREE_SHARE * 100} % of the disk would be free: ${what} is not kept`
}

function diskOf(folder: string): Disk {
  const { bsize, blocks, bavail } = fs.statfsSync(folder)
  return { free: bavail * bsize, total: blocks * bsize }
}
