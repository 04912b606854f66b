/**
 * One file of many: what reads it is made each time it is read, and not held. A session may lie in a hundred thousand files, of which a
 * list that held all it takes to read them would take more memory than any of them.
 */
import type { ChunkOptions, SourceFile } from '../transcript/source.ts'

export type Listed = Pick<SourceFile, 'path' | 'sizeBytes' | 'modifiedAt'>

/** Makes what reads a file of a list: one function for all of them. `from`: what each has of its own. */
export type OpenListed<T> = (file: Listed, from: T) => SourceFile

export class ListedFile<T> implements SourceFile {
  readonly path: string
  readonly sizeBytes: number
  readonly modifiedAt: string
  readonly #from: T
  readonly #open: OpenListed<T>

  constructor({ path, sizeBytes, modifiedAt }: Listed, from: T, open: OpenListed<T>) {
    this.path = path
    this.sizeBytes = sizeBytes
    this.modifiedAt = modifiedAt
    this.#from = from
    this.#open = open
  }

  get #file(): SourceFile {
    return this.#open(this, this.#from)
  }

  // What may be absent is asked for before it is called.
  get tail(): SourceFile['tail'] {
    return this.#file.tail
  }

  get atOnce(): SourceFile['atOnce'] {
    return this.#file.atOnce
  }

  get database(): SourceFile['database'] {
    return this.#file.database
  }

  // A file that is gone by now is told as what reads it would tell.
  async head(bytes: number): Promise<Buffer> {
    return this.#file.head(bytes)
  }

  chunks(options?: ChunkOptions): AsyncIterable<Buffer> {
    return this.#file.chunks(options)
  }

  async bytes(limit: number): Promise<Buffer> {
    return this.#file.bytes(limit)
  }
}

/** What reads a file, but for some of it. Nothing is asked of the file before it is asked of this: each time, it may be made for that. */
export function withOwn(file: SourceFile, own: Partial<SourceFile>): SourceFile {
  const { path, sizeBytes, modifiedAt } = file
  return {
    path,
    sizeBytes,
    modifiedAt,
    get tail() {
      return file.tail
    },
    get atOnce() {
      return file.atOnce
    },
    get database() {
      return file.database
    },
    head: (bytes) => file.head(bytes),
    chunks: (options) => file.chunks(options),
    bytes: (limit) => file.bytes(limit),
    ...own,
  }
}

/** The same file under another name. */
export function renamed(file: SourceFile, path: string): SourceFile {
  const { sizeBytes, modifiedAt } = file
  return new ListedFile({ path, sizeBytes, modifiedAt }, file, itself)
}

const itself: OpenListed<SourceFile> = (_, file) => file
