/**
 * Files of a folder by their paths in it, and none that lies elsewhere: links on the way to one are followed only where they lead to
 * what is below the ceiling.
 */
import fs from 'node:fs'
import { dirname, resolve, sep } from 'node:path'
import { nodeFiles } from '../journal/files.ts'
import type { ShortFile } from '../transcript/source.ts'
import { openShort } from './chunks-at-once.ts'

/** A short file of a folder, open: the one that `find` would give. Undefined also where there is none, or none that can be read so. */
export function openShortBelow(folder: string, wanted: string, mostBytes: number): ShortFile | undefined {
  try {
    const at = pathBelow(folder, wanted, folder)
    // What is a link by itself, or no regular file, is refused when it is opened.
    return at === undefined ? undefined : openShort(nodeFiles, { at, isPacked: false }, mostBytes)
  } catch {
    return undefined
  }
}

/** Throws where nothing is. Not by promises: a unit's files are looked for one by one, and each of these takes longer to hand over than to do. */
export function pathBelow(folder: string, wanted: string, ceiling: string): string | undefined {
  if (wanted.includes('\0') || wanted.startsWith('/')) return undefined
  const path = resolve(folder, wanted)
  if (!isWithin(path, ceiling)) return undefined
  const isInside = isWithin(fs.realpathSync.native(dirname(path)), fs.realpathSync.native(ceiling))
  return isInside ? path : undefined
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
