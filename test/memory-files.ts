/**
 * Formats without a disk: a map of paths to bytes stands in for a folder. Gives what a real Source would give (sorted, gzip
 * uncompressed) and does what a real carrier-out of file operations would do.
 */
import { constants, gunzipSync } from 'node:zlib'
import { HansardError } from '../src/errors.ts'
import type { FileOperation, Format } from '../src/formats/format.ts'
import type { Damage } from '../src/transcript/damage.ts'
import type { Entry } from '../src/transcript/entry.ts'
import type { Session } from '../src/transcript/session.ts'
import type { Source, SourceFile } from '../src/transcript/source.ts'
import type { Transcript } from '../src/transcript/transcript.ts'

export type MemoryFiles = Map<string, Buffer>

/** `entry` is the entry's id, or undefined for what is said of the session. */
export type Note = { readonly entry: string | undefined; readonly what: string }

export type Written = {
  readonly files: MemoryFiles
  readonly lost: readonly Note[]
  readonly filled: readonly Note[]
}

type SourceOptions = {
  readonly path?: string
  /** When files were last modified, by path. Those not named: 2025-01-01. */
  readonly modifiedAt?: ReadonlyMap<string, string>
  /** Small, so that records fall across chunks. */
  readonly chunkBytes?: number
}

type WriteOptions = {
  /** What is in the target before. Written to in place. */
  readonly files?: MemoryFiles
  /** Begin as a recorder does, knowing neither end nor status; the whole session comes only with `end`. */
  readonly live?: boolean
  readonly timeZone?: string
}

/** Bytes from texts: `files({ 'a/b.json': '{}' })`. */
export function files(content: Readonly<Record<string, string | Buffer>>): MemoryFiles {
  return new Map(Object.entries(content).map(([path, bytes]) => [path, Buffer.from(bytes)]))
}

export function memorySource(files: ReadonlyMap<string, Buffer>, options: SourceOptions = {}): Source {
  const open = (path: string): SourceFile | undefined => {
    const bytes = files.get(path)
    return bytes === undefined ? undefined : memoryFile(path, bytes, options)
  }
  return {
    path: options.path ?? 'memory',
    kind: 'folder',
    list: async () => [...files.keys()].sort().map((path) => open(path) as SourceFile),
    find: async (path) => open(path),
  }
}

/** One file on its own. */
export function memoryFileSource(
  name: string,
  content: string | Buffer,
  options: SourceOptions = {},
): Source {
  const files = new Map([[name, Buffer.from(content)]])
  return { ...memorySource(files, options), path: options.path ?? name, kind: 'file' }
}

/** Carries out file operations on a map, in order. */
export function carryOut(operations: readonly FileOperation[], files: MemoryFiles): void {
  for (const operation of operations) {
    if (operation.op === 'prune') {
      for (const path of toPrune(operation, [...files.keys()])) files.delete(path)
      continue
    }
    const { path } = operation
    const current = files.get(path)
    if (operation.op === 'remove') files.delete(path)
    else if (operation.op === 'set-aside') setAside([path, ...(operation.with ?? [])], files)
    else if (operation.op === 'append')
      files.set(path, Buffer.concat([current ?? Buffer.alloc(0), Buffer.from(operation.text)]))
    else if (operation.op === 'update')
      files.set(path, Buffer.from(operation.change(current?.toString('utf8'))))
    else if (operation.op === 'write' || current === undefined)
      files.set(path, Buffer.from(operation.content))
  }
}

/** One whole session through a format's writer. */
export function writeTranscript(
  format: Format,
  { session, entries }: Pick<Transcript, 'session' | 'entries'>,
  { files = new Map(), live = false, timeZone }: WriteOptions = {},
): Written {
  if (format.write === undefined) throw new HansardError('format-read-only', `${format.id} is only read`)
  const before = new Set(files.keys())
  const lost: Note[] = []
  const filled: Note[] = []
  const writing = format.write.begin(live ? atStart(session) : session, {
    taken: (path) => before.has(path),
    lost: (entry, what) => void lost.push({ entry: entry?.id, what }),
    filled: (entry, what) => void filled.push({ entry: entry?.id, what }),
    version: 'hansard/test',
    ...(timeZone !== undefined && { timeZone }),
  })
  carryOut(writing.start(), files)
  for (const entry of entries) carryOut(writing.entry(entry), files)
  carryOut(writing.end(session), files)
  return { files, lost, filled }
}

/** Every session a format finds, with its last facts. */
export async function readAll(format: Format, source: Source): Promise<Transcript[]> {
  const found = new Map<string, { session: Session; entries: Entry[]; damage: Damage[] }>()
  /** Damage that comes before any session, which a reader of a wholly damaged file gives. */
  const stray: Damage[] = []
  let open: { session: Session; entries: Entry[]; damage: Damage[] } | undefined
  for await (const items of format.read(source)) {
    for (const item of items) {
      if (item.type === 'damage') (open?.damage ?? stray).push(item.damage)
      else if (item.type === 'entry') {
        if (open === undefined) throw new Error(`entry ${item.entry.id} before any session`)
        open.entries.push(item.entry)
      } else {
        const known = found.get(item.session.id)
        if (known !== undefined) known.session = item.session
        open = known ?? { session: item.session, entries: [], damage: [] }
        found.set(item.session.id, open)
      }
    }
  }
  const transcripts = [...found.values()]
  if (stray.length > 0) transcripts[0]?.damage.unshift(...stray)
  return transcripts
}

function memoryFile(path: string, raw: Buffer, options: SourceOptions): SourceFile {
  const size = options.chunkBytes ?? 1000
  return {
    path,
    sizeBytes: raw.length,
    modifiedAt: options.modifiedAt?.get(path) ?? '2025-01-01T00:00:00.000Z',
    head: async (bytes) => unpack(raw).bytes.subarray(0, bytes),
    tail: async (bytes) => (unpack(raw).bytes === raw ? raw.subarray(-bytes) : Buffer.alloc(0)),
    async *chunks() {
      const { bytes, error } = unpack(raw)
      for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
      if (error !== undefined) throw error
    },
    async bytes(limit) {
      const { bytes, error } = unpack(raw)
      if (bytes.length > limit) throw new HansardError('too-large', `${path} is over ${limit} bytes`)
      if (error !== undefined) throw error
      return bytes
    },
  }
}

/** What gzip holds, or as much of it as can be had, with the error that ends it. */
function unpack(raw: Buffer): { readonly bytes: Buffer; readonly error?: unknown } {
  if (raw[0] !== 0x1f || raw[1] !== 0x8b) return { bytes: raw }
  try {
    return { bytes: gunzipSync(raw) }
  } catch (error) {
    try {
      return { bytes: gunzipSync(raw, { finishFlush: constants.Z_SYNC_FLUSH }), error }
    } catch {
      return { bytes: Buffer.alloc(0), error }
    }
  }
}

function toPrune(
  { folder, suffix, keep, order }: Extract<FileOperation, { readonly op: 'prune' }>,
  paths: readonly string[],
): string[] {
  const prefix = folder === '' || folder === '.' ? '' : `${folder}/`
  const own = paths.filter(
    (path) => path.startsWith(prefix) && path.endsWith(suffix) && !path.slice(prefix.length).includes('/'),
  )
  const names = own.map((path) => path.slice(prefix.length)).sort(order)
  return names.slice(0, Math.max(0, names.length - keep)).map((name) => `${prefix}${name}`)
}

function setAside(paths: readonly string[], files: MemoryFiles): void {
  const there = paths.filter((path) => files.has(path))
  const aside = (path: string, n: number): string => {
    const dot = path.lastIndexOf('.')
    return `${path.slice(0, dot)}.${n}${path.slice(dot)}`
  }
  let n = 1
  while (there.some((path) => files.has(aside(path, n)))) n += 1
  for (const path of there) {
    files.set(aside(path, n), files.get(path) as Buffer)
    files.delete(path)
  }
}

function atStart(session: Session): Session {
  const { endedAt: _1, error: _2, stopReason: _3, totals: _4, reportedUsage: _5, ...facts } = session
  const { reportedCost: _6, ...known } = facts
  return { ...known, status: 'running' }
}
