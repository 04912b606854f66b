/**
 * Where the files of a place lie: `files/` as they are, `packed/` cold ones, `older/` earlier versions, each under the path it had. For
 * those who only read a few bytes, also those bytes: nothing that keeps, packs or redacts is loaded for them.
 */
import { join } from 'node:path'
import type { Files } from '../journal/files.ts'
import { checkId, isSafeId } from '../transcript/ids.ts'
import { asObject, asString, parseJson } from '../transcript/json.ts'
import { sha256 } from '../transcript/sha256.ts'
import type { Archive } from './archive.ts'
import { readWholeFile } from './bytes.ts'
import { readPart, type Stored } from './kept-content.ts'
import { openTree, type KeptTree } from './kept-tree.ts'

export const PACKED = '.gz'
export const PLACE = 'place.json'

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

/** The folder of an agent with one place, if it is this one: to read what it says takes less time than to hash where it was. */
function onlyFolder(files: Files, home: string, agent: string, root: string): string | undefined {
  const above = join(home, 'kept', checkId(agent, "agent's name"))
  const [only, another] = files.list(above)
  if (only === undefined || another !== undefined || !isSafeId(only)) return undefined
  const folder = join(above, only)
  return placeOf(files, folder)?.root === root ? folder : undefined
}

/** What a folder of kept files says of itself: `place.json`. */
export function placeOf(
  files: Files,
  folder: string,
): { readonly agent: string; readonly root: string } | undefined {
  if (files.kind(folder) !== 'folder') return undefined
  const said = asObject(parseJson(readWholeFile(files, join(folder, PLACE))?.toString('utf8') ?? ''))
  const agent = asString(said?.['agent'])
  const root = asString(said?.['root'])
  return agent === undefined || root === undefined ? undefined : { agent, root }
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
    const finder =
      finders.get(key) ??
      openFinder(files, onlyFolder(files, home, agent, root) ?? keptFolder(home, agent, root))
    finders.set(key, finder)
    const stored = finder.locate(path, version)
    return stored && readPart(files, stored, { byteOffset, byteLength })
  }
}
