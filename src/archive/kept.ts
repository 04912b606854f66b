/**
 * Kept files: the exact bytes of what other programs wrote, under `kept/<agent>/<key>/`. A source that is purged, truncated or
 * rewritten takes nothing with it. Each folder says in `place.json` where its files came from, so that all that is known about
 * them can be built again without the source.
 */
import { join } from 'node:path'
import { HansardError, fromSystemError, isHansardError } from '../errors.ts'
import type { RowsKept } from '../formats/format.ts'
import { writeWhole } from '../journal/files.ts'
import type { Redactor } from '../redact/redactor.ts'
import type { Damage } from '../transcript/damage.ts'
import { isSafeId } from '../transcript/ids.ts'
import type { SourceDatabase, SourceFile } from '../transcript/source.ts'
import type { Archive } from './archive.ts'
import type { HeldRows } from './held-rows.ts'
import { openContent, toKeptFile, type Content, type Stored } from './kept-content.ts'
import { redactDatabase } from './kept-redaction.ts'
import { openRedacted } from './kept-redacted.ts'
import { openGrowing } from './kept-growing.ts'
import { keptFolder, keyOf, PLACE, placeOf } from './kept-find.ts'
import { keepBytes } from './kept-keep.ts'
import { openNamed } from './kept-named.ts'
import { packFile } from './kept-pack.ts'
import { openRowsShelf, type LookedAt } from './kept-databases.ts'
import { mergePaths, openShelf } from './kept-shelf.ts'
import type { RowsMemory } from './rows-memory.ts'
import { makeSafeFolder } from './safe-path.ts'

export type KeptFiles = {
  /** What is kept of a place of an agent. Nothing is made before the first file is kept. */
  place(agent: string, root: string): KeptPlace
  /** Every place that something is kept of. */
  places(): readonly KeptPlace[]
}

/** What one place of an agent has been kept of. Paths are relative to the place, with `/`. */
export type KeptPlace = {
  readonly agent: string
  /** The folder that the files came from, absolute; or what else they came from, as `stdin`. */
  readonly root: string
  /** `kept/<agent>/<key>`, absolute. */
  readonly folder: string
  /** Brings the kept copy up to what the source is now. Reads no byte that is kept already, but for its last 4 KB. */
  keep(path: string, from: KeepFrom): Promise<Kept>
  /** The same for a database: rows that are new or changed, of those that count. `memory`: of one that is followed. */
  keepRows(
    path: string,
    database: SourceDatabase,
    rows: readonly RowsKept[],
    memory?: RowsMemory,
  ): Promise<Kept>
  /** Whether all rows of a database that is followed are kept as they are; `memory` then knows where it is. */
  hasRows(path: string, looked: LookedAt, signal?: AbortSignal): Promise<boolean>
  /** Rows of a database that were kept, held while more come; undefined where none are, or they are damaged. */
  holdRows(path: string): Promise<HeldRows | undefined>
  /** Every path that is kept, sorted. */
  paths(): AsyncIterable<string>
  /**
   * A kept file, uncompressed, at one of its versions: the newest, or an older one. A database answers `database()`, and tells `damaged` of
   * rows that cannot be read.
   */
  file(path: string, version?: number, damaged?: (damage: Damage) => void): SourceFile | undefined
  /** Bytes of a version by their uncompressed offset; fewer at the end. Throws `not-found`. */
  readAt(path: string, version: number | undefined, offset: number, length: number): Promise<Buffer>
  /**
   * Packs a file that has gone cold, and its older versions: gzip members with a table of offsets, which all of the above reads
   * the same. False when nothing became smaller. It is plain again once its source has grown.
   */
  pack(path: string): Promise<boolean>
  /**
   * Whether anything is kept of a path, without opening it, and how many bytes of it: of what is packed or redacted, its size does not
   * tell.
   */
  look(path: string): { readonly bytes?: number } | undefined
  /** What the path takes up here: its newest bytes, packed or not, and its older versions. */
  bytesHeld(path: string): number
  /** Older versions still held, oldest first; none for most files. */
  versions(path: string): readonly number[]
  /** Forgets an older version: the newer ones hold all of its records. */
  drop(path: string, version: number): void
  /** Removes all that is kept of a path. */
  remove(path: string): void
  /** What the user said that it is in, where that is not to be told by its content. */
  namedFormat(path: string): string | undefined
  /** Notes that; gives those of the paths that were not noted so before. */
  nameFormat(paths: readonly string[], format: string): readonly string[]
}

/** Where the bytes are: a file to copy from, or something that gives them. */
export type KeepFrom =
  | { readonly file: string }
  | { readonly chunks: () => AsyncIterable<Buffer>; readonly modifiedAt?: string }

export type Kept = {
  /** `rewritten`: what was kept is no beginning of what is there now; the old bytes are an older version. */
  readonly change: 'none' | 'new' | 'grown' | 'rewritten'
  /** Bytes read of the source. */
  readonly bytesRead: number
  /** Bytes of the source that are kept now. */
  readonly bytes: number
  /** SHA-256 of the last 4 KB kept. */
  readonly tail: string
}

/** Kept files of a newer layout are read and never written. */
const LAYOUT = 1

export type KeptOptions = {
  /** With it, what is kept has its secrets taken out: `keep: 'redacted'`. */
  readonly redact?: Redactor
}

export function openKept(archive: Archive, options: KeptOptions = {}): KeptFiles {
  const kept = join(archive.home, 'kept')
  const { files } = archive
  const opened = new Map<string, KeptPlace>()
  const place = (agent: string, root: string): KeptPlace => {
    const key = `${agent}\0${root}`
    const known = opened.get(key) ?? openPlace(archive, agent, root, options)
    opened.set(key, known)
    return known
  }
  return {
    place,
    places() {
      const found = files.list(kept).filter(isSafeId).sort()
      return found.flatMap((agent) =>
        files
          .list(join(kept, agent))
          .sort()
          .flatMap((key) => {
            const said = placeOf(files, join(kept, agent, key))
            return said?.agent === agent && keyOf(said.root) === key ? [place(agent, said.root)] : []
          }),
      )
    },
  }
}

function openPlace(archive: Archive, agent: string, root: string, { redact }: KeptOptions): KeptPlace {
  const { files, home } = archive
  const folder = keptFolder(home, agent, root)
  const shelf = openShelf(files, folder)
  const keeping = { files, shelf, growing: openGrowing(files, folder) }
  const rows = openRowsShelf(files, folder)
  const redacted = openRedacted(keeping, folder, redact)
  const named = openNamed(files, folder)
  let isThere = false
  const makePlace = (): void => {
    if (isThere) return
    if (archive.readOnly)
      throw new HansardError('archive-newer', `the archive ${home} is newer than this program`)
    try {
      makeSafeFolder(files, home, folder)
      if (placeOf(files, folder) === undefined) {
        writeWhole(files, folder, PLACE, Buffer.from(`${JSON.stringify({ agent, root, layout: LAYOUT })}\n`))
      }
    } catch (error) {
      throw fromSystemError(error, folder)
    }
    isThere = true
  }

  /** What is plain comes before what is packed: where it still is, it need not be looked for. */
  const openAgain = (stored: Stored, path: string, version: number | undefined): Content => {
    try {
      if (!stored.isPacked) return openContent(files, stored)
    } catch (error) {
      if (!isHansardError(error) || error.code !== 'not-found') throw error
    }
    return shelf.open(path, version)
  }

  return {
    agent,
    root,
    folder,
    async keep(path, from) {
      makePlace()
      if (redact !== undefined) return redacted.keep(path, from)
      redacted.forget(path)
      return keepBytes(keeping, path, from)
    },
    async keepRows(path, database, wanted, memory) {
      makePlace()
      if (redact === undefined) return rows.keep(path, database, wanted, memory)
      return rows.keep(path, redactDatabase(database, redact), wanted)
    },
    hasRows: (path, looked, signal) => rows.isKept(path, looked, signal),
    holdRows: (path) => rows.hold(path),
    async *paths() {
      yield* mergePaths(shelf.walk(), rows.walk())
    },
    file(path, version, damaged) {
      const database = version === undefined ? rows.file(path, damaged) : undefined
      if (database !== undefined) return database
      const stored = shelf.locate(path, version)
      const identity = stored && files.identityAt(stored.at)
      return identity && toKeptFile(path, identity, () => openAgain(stored, path, version))
    },
    async readAt(path, version, offset, length) {
      const content = shelf.open(path, version)
      try {
        return content.read(offset, length)
      } finally {
        content.close()
      }
    },
    async pack(path) {
      // Whether a file that was cut off while it grew is whole is known after the next look at its source.
      if (keeping.growing.has(path) || !shelf.settle(path)) return false
      let isSmaller = await packFile(files, shelf, path)
      for (const version of shelf.versions(path)) {
        if (await packFile(files, shelf, path, version)) isSmaller = true
      }
      return isSmaller
    },
    look(path) {
      const database = rows.file(path)
      if (database !== undefined) return { bytes: database.sizeBytes }
      const stored = shelf.locate(path)
      const identity = stored && files.identityAt(stored.at)
      if (identity === undefined) return undefined
      return stored?.isPacked === true || redacted.has(path) ? {} : { bytes: identity.size }
    },
    bytesHeld(path) {
      const held = [undefined, ...shelf.versions(path)].map((version) => shelf.locate(path, version))
      const bytes = held.reduce(
        (sum, stored) => sum + ((stored && files.identityAt(stored.at)?.size) ?? 0),
        0,
      )
      return bytes + (rows.file(path)?.sizeBytes ?? 0)
    },
    versions: (path) => shelf.versions(path),
    drop: (path, version) => shelf.drop(path, version),
    remove(path) {
      shelf.remove(path)
      rows.remove(path)
      redacted.forget(path)
      named.forget(path)
    },
    namedFormat: (path) => named.of(path),
    nameFormat(paths, format) {
      makePlace()
      return named.name(paths, format)
    },
  }
}
