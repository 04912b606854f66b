/**
 * Where the files of a place lie: `files/` as they are, `packed/` cold ones, `older/` earlier versions, each under the path it had. For
 * those who only read a few bytes, also those bytes: nothing that keeps, packs or redacts is loaded for them.
 */
import { join } from 'node:path'
import type { Files } from '../journal/files.ts'
import { checkId } from '../transcript/ids.ts'
import { sha256 } from '../transcript/sha256.ts'
import type { Archive } from './archive.ts'
import { readPart, type Stored } from './kept-content.ts'
import { openTree, type KeptTree } from './kept-tree.ts'

export const PACKED = '.gz'

export type KeptFinder = {
  readonly plain: KeptTree
  readonly packed: KeptTree
  readonly older: KeptTree
  /** The newest, or an older version. */
  locate(path: string, version?: number): Stored | undefined
}

export function openFinder(files: Files, folder: string): KeptFinder {
  const plain = openTree(files, folder, join(folder, 'files'))
  const packed = openTree(files, folder, join(folder, 'packed'))
  const older = openTree(files, folder, join(folder, 'older'))
  const newest = (path: string): Stored | undefined => {
    const at = plain.find(path)
    if (at !== undefined) return { at, isPacked: false }
    const cold = packed.find(path, PACKED)
    return cold === undefined ? undefined : { at: cold, isPacked: true }
  }
  const olderOne = (path: string, version: number): Stored | undefined => {
    const at = older.find(path, `.${version}`)
    if (at !== undefined) return { at, isPacked: false }
    const cold = older.find(path, `.${version}${PACKED}`)
    return cold === undefined ? undefined : { at: cold, isPacked: true }
  }
  return {
    plain,
    packed,
    older,
    locate: (path, version) => (version === undefined ? newest(path) : olderOne(path, version)),
  }
}

/** `kept/<agent>/<key>`, absolute. */
export function keptFolder(home: string, agent: string, root: string): string {
  return join(home, 'kept', checkId(agent, "agent's name"), keyOf(root))
}

/** Twelve hex digits tell a machine's places apart. */
export function keyOf(root: string): string {
  return sha256(root).toString('hex').slice(0, 12)
}

export type KeptPart = {
  readonly agent: string
  readonly root: string
  readonly path: string
  /** Undefined for the newest. */
  readonly version: number | undefined
  /** As kept files are read: unpacked, but not what an agent itself has compressed. */
  readonly byteOffset: number
  readonly byteLength: number
}

export type KeptReader = (part: KeptPart) => Buffer | undefined

/** Undefined for a file that is not there. */
export function openKeptReader({ files, home }: Archive): KeptReader {
  const finders = new Map<string, KeptFinder>()
  return ({ agent, root, path, version, byteOffset, byteLength }) => {
    const key = `${agent}\0${root}`
    const finder = finders.get(key) ?? openFinder(files, keptFolder(home, agent, root))
    finders.set(key, finder)
    const stored = finder.locate(path, version)
    return stored && readPart(files, stored, { byteOffset, byteLength })
  }
}
