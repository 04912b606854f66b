/**
 * Kept files: the exact bytes of what other programs wrote, under `kept/<agent>/<key>/`. A source that is purged, truncated or
 * rewritten takes nothing with it. Each folder says in `place.json` where its files came from, so that all that is known about
 * them can be built again without the source.
 */
import type { SourceDatabase, SourceFile } from '../transcript/source.ts'
import type { RowsKept } from '../formats/format.ts'

/** What one place of an agent has been kept of. Paths are relative to the place, with `/`. */
export type KeptPlace = {
  readonly agent: string
  /** The folder that the files came from, absolute; or what else they came from, as `stdin`. */
  readonly root: string
  /** `kept/<agent>/<key>`, absolute. */
  readonly folder: string
  /** Brings the kept copy up to what the source is now. Reads no byte that is kept already, but for its last 4 KB. */
  keep(path: string, from: KeepFrom): Promise<Kept>
  /** The same for a database: rows that are new or changed, of those that count. */
  keepRows(path: string, database: SourceDatabase, rows: readonly RowsKept[]): Promise<Kept>
  /** Every path that is kept, sorted. */
  paths(): AsyncIterable<string>
  /** A kept file, uncompressed, at one of its versions: the newest, or an older one. A database answers `database()`. */
  file(path: string, version?: number): SourceFile | undefined
  /** Older versions still held, oldest first; none for most files. */
  versions(path: string): readonly number[]
  /** Forgets an older version: the newer ones hold all of its records. */
  drop(path: string, version: number): void
  /** Removes all that is kept of a path. */
  remove(path: string): void
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
