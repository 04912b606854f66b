/** What tells that a file is the same and unchanged: device, inode, size and time of change, to a quarter of a microsecond. */
import type { Stats } from 'node:fs'

export type Stamp = string

export function toStamp({ dev, ino, size, mtimeMs }: Stats): Stamp {
  return `${dev}:${ino}:${size}:${mtimeMs}`
}
