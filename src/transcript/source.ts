/**
 * Bytes to read transcripts from, whatever holds them: a file, a folder, something compressed, a git object store.
 * Formats see only these two interfaces and stay pure. What is compressed arrives uncompressed, so every offset in an
 * `Origin` is an uncompressed one; an implementation bounds what a small file may expand to.
 */
export interface Source {
  /** As the user named it: for messages and origins. */
  readonly path: string
  readonly kind: 'file' | 'folder'
  /** A folder that is one file, a zip: to tell what it is, no more is read than of any other file. */
  readonly isPacked?: true
  /** Every regular file below, sorted by path in code units. A file source lists itself. */
  list(): Promise<readonly SourceFile[]>
  /** The file at a path relative to the folder (for a file source: relative to the file's own folder), or undefined. */
  find(path: string): Promise<SourceFile | undefined>
}

export interface SourceFile {
  /** Relative to the source, with `/`. For a file source: the file's name. */
  readonly path: string
  /** Bytes on disk, compressed where the file is. */
  readonly sizeBytes: number
  readonly modifiedAt: string
  /** The first bytes, uncompressed: at most `bytes` of them. */
  head(bytes: number): Promise<Buffer>
  /** The last bytes, at most so many; none, or absent, where all others would have to be read for them. */
  readonly tail?: ((bytes: number) => Promise<Buffer>) | undefined
  /** All bytes in order, in chunks of some hundred KB that the receiver may keep, unless it says that it will not. */
  chunks(options?: ChunkOptions): AsyncIterable<Buffer>
  /**
   * The chunks of a file of at most so many bytes, without promises and as `isPassing` has them; undefined for one that is longer or
   * packed. Absent where bytes have to be waited for.
   */
  readonly atOnce?: ((mostBytes: number) => ShortFile | undefined) | undefined
  /** The whole file. Throws `too-large` past `limit` uncompressed bytes. */
  bytes(limit: number): Promise<Buffer>
  /** The file as an SQLite database, for one that begins with `SQLITE_MAGIC`; absent where a source cannot give it. */
  readonly database?: (() => Promise<SourceDatabase>) | undefined
}

/** A short file that is open, until it is left: see `SourceFile.atOnce`. A chunk is good until the next is asked for. */
export type ShortFile = {
  /** Empty where the file is. */
  readonly first: Buffer
  /** The chunk behind the last; an empty one at the end. */
  readonly next: () => Buffer
  readonly leave: () => void
}

export type ChunkOptions = {
  /** Whoever asks for the next chunk is done with the last: memory for each of them costs as much as reading it. */
  readonly isPassing?: boolean
}

/** The first bytes of every SQLite database. */
export const SQLITE_MAGIC = 'SQLite format 3\0'

export type SqlValue = string | number | bigint | Uint8Array | null
/** Text of more than a MB, as its UTF-8: as a string it may take twice as much, and would be there beside its bytes. */
export class TextBytes extends Uint8Array {
  override toString(): string {
    return Buffer.from(this.buffer, this.byteOffset, this.byteLength).toString('utf8')
  }
}

/** In bytes: text that is longer comes as `TextBytes`. */
export const LONG_TEXT = 1024 * 1024

/** By column; without a prototype. */
export type Row = Readonly<Record<string, SqlValue>>

/** A database of another program, only ever read. Damage in it is the source's to report: tables and rows just end. */
export interface SourceDatabase {
  /** Real tables, sorted; no views, no virtual ones, none of SQLite's own. */
  tables(): readonly string[]
  /** In the order they were declared; none for a table that is not there. */
  columns(table: string): readonly string[]
  /** The columns that tell one row from another: its primary key, or what is declared unique; none where nothing is. */
  key(table: string): readonly string[]
  /** Rows in batches of some MB, in the table's own order unless asked for another. None for a table that is not there. */
  rows(table: string, options?: RowOptions): AsyncIterable<readonly Row[]>
  /** How many rows there are now; absent where that costs as much as reading them. */
  count?(table: string): Promise<number>
  /** The highest number of a row: one that is added has a higher one. Absent where rows have none, or nobody can say. */
  last?(table: string): Promise<number | undefined>
  close(): Promise<void>
}

export type RowOptions = {
  /** Only these columns, where a whole row would be much to read; all of them when absent. */
  readonly columns?: readonly string[]
  /** Columns to sort by, ascending. Those that the table lacks are passed over. */
  readonly orderBy?: readonly string[]
  /**
   * Only rows whose column is this value, or one of these (those of the first come first), or text that begins so; of the last, only so
   * many, those with the highest numbers and the highest first, where rows have numbers.
   */
  readonly where?:
    | { readonly column: string; readonly equals: SqlValue }
    | { readonly column: string; readonly in: readonly SqlValue[] }
    | { readonly column: string; readonly prefix: string; readonly newest?: number }
  /** Only rows that were added, or written of late. Nothing else is asked of these. */
  readonly since?: Since
  /** Asked before a row of more than a MB is read, with its bytes: it may wait for who else holds one. */
  readonly large?: (bytes: number) => Promise<void>
}

/**
 * From a row's number on, and all whose integer in the column is at least so much, or is none. `begins`: only those whose text in the
 * column begins so.
 */
export type Since = {
  readonly number: number
  readonly changed?: { readonly column: string; readonly least: number }
  readonly begins?: { readonly column: string; readonly prefix: string }
}

/** Content that was kept apart, by its `sha256:` name; undefined when it is gone. */
export interface BlobReader {
  read(blob: string): Promise<Buffer | undefined>
}
