/**
 * Files, folders and zip files as a `Source`. Opening never hangs and never leaves the place that was named: pipes and devices are
 * refused, links inside a folder are not followed, and what cannot be read to its end is reported, not passed over.
 */
import fs, { readSync, type Stats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { chunksOf, openContent } from '../archive/kept-content.ts'
import { fromSystemError, HansardError } from '../errors.ts'
import type { Damage } from '../transcript/damage.ts'
import { nodeFiles } from '../journal/files.ts'
import type { ChunkOptions, Source, SourceFile } from '../transcript/source.ts'
import { HEAD_BYTES } from '../formats/head-records.ts'
import { notRegular, readAt, readOnly, useAtOnce } from './at-once.ts'
import { pathBelow } from './below.ts'
import { openShort } from './chunks-at-once.ts'
import { listFolder } from './list.ts'
import { ListedFile, type Listed, type OpenListed } from './listed-file.ts'
import { firstOf, isPlainDatabase, toSourceFile } from './source-file.ts'
import { openZip } from './zip.ts'
import { isZip } from './zip-directory.ts'

export type OpenSource = Source & {
  /** What stopped short while reading so far: a gzip file cut off, folders too deep to look into. Complete once all is read. */
  damage(): readonly Damage[]
  /** A file that was found before, by what was noted of it. Absent where that is not enough to open it. */
  readonly again?: ((file: Listed) => SourceFile) | undefined
}

/** Chunks this size keep the number of awaits low and a line's copy rare. */
const CHUNK_BYTES = 512 * 1024
/** The first is as long as what is looked at to tell a file's format, which is all that is ever read of most files. */
const FIRST_CHUNK_BYTES = HEAD_BYTES

/** How far above its own folder a file may look for what belongs to it: `../receipts/x.json`, and one more. */
const LEVELS_ABOVE = 2

/** A file or folder to read transcripts from. Throws `not-found`, `not-permitted`, or `unsafe-path` for a pipe or device. */
export async function openSource(path: string): Promise<OpenSource> {
  const stat = await statNamed(path)
  const report = createReport()
  if (stat.isDirectory()) return openFolder(path, report)
  const begun = firstBytes(path)
  if (isZip(begun)) {
    return { ...openZip(path, (damage) => report.add(damage)), damage: () => [...report.damage.values()] }
  }
  return openSingle(path, stat, report, begun)
}

/** None of a file that cannot be read: whoever reads it is told why. */
function firstBytes(path: string): Buffer {
  try {
    return useAtOnce(path, { follow: true }, (fd) => {
      const bytes = Buffer.allocUnsafeSlow(FIRST_CHUNK_BYTES)
      const magic = readSync(fd, bytes, 0, 4, 0)
      // A zip is read from its end.
      if (magic < 4 || isZip(bytes.subarray(0, 4))) return bytes.subarray(0, magic)
      return bytes.subarray(0, 4 + readSync(fd, bytes, 4, FIRST_CHUNK_BYTES - 4, 4))
    })
  } catch {
    return Buffer.alloc(0)
  }
}

async function statNamed(path: string): Promise<Stats> {
  if (path.includes('\0')) throw new HansardError('invalid-argument', `a path holds a NUL: ${path}`)
  let stat: Stats
  try {
    // The path that was named may be a link: whoever named it chose where it leads.
    stat = fs.statSync(path)
  } catch (error) {
    throw fromSystemError(error, path)
  }
  if (stat.isFile() || stat.isDirectory()) return stat
  throw new HansardError('unsafe-path', `${path} is ${kindOf(stat)}, neither a file nor a folder`, {
    hint: 'write what it gives to a file, and name that',
  })
}

function kindOf(stat: Stats): string {
  if (stat.isFIFO()) return 'a pipe'
  return stat.isSocket() ? 'a socket' : 'a device'
}

function openSingle(path: string, stat: Stats, report: Report, begun: Buffer): OpenSource {
  const file = toFile(path, listedAs(basename(path), stat), { follow: true, report, begun })
  const folder = dirname(resolve(path))
  const open = openerBelow(folder, report)
  const ceiling = resolve(folder, ...Array.from({ length: LEVELS_ABOVE }, () => '..'))
  return {
    path,
    kind: 'file',
    list: async () => [file],
    find: (wanted) => findBelow(folder, wanted, ceiling, open),
    damage: () => [...report.damage.values()],
  }
}

function openFolder(path: string, report: Report): OpenSource {
  const root = resolve(path)
  const open = openerBelow(root, report)
  let listed: Promise<readonly SourceFile[]> | undefined
  const list = async (): Promise<readonly SourceFile[]> => {
    const files = await listFolder(root, (below, reason) =>
      report.add({ kind: 'missing', file: below, byteOffset: 0, byteLength: 0, reason }),
    )
    return files.map(({ below, stat }) => toListed(below, stat, open))
  }
  return {
    path,
    kind: 'folder',
    list: () => (listed ??= list()),
    find: (wanted) => findBelow(root, wanted, root, open),
    again: (file) => new ListedFile(file, undefined, open),
    damage: () => [...report.damage.values()],
  }
}

/** The regular file at a relative path, unless it or a link on the way to it lies outside the ceiling. */
async function findBelow(
  folder: string,
  wanted: string,
  ceiling: string,
  open: Opener,
): Promise<SourceFile | undefined> {
  try {
    const path = pathBelow(folder, wanted, ceiling)
    if (path === undefined) return undefined
    const stat = fs.lstatSync(path)
    if (!stat.isFile()) return undefined
    return toListed(relative(folder, path).split(sep).join('/'), stat, open)
  } catch {
    return undefined
  }
}

type Report = { readonly damage: Map<string, Damage>; add(damage: Damage): void }

/** One damage a file: it may be read more than once, by each format that looks at it. */
function createReport(): Report {
  const damage = new Map<string, Damage>()
  return { damage, add: (found) => void damage.set(found.file, found) }
}

type Opener = OpenListed<undefined>

/** Opens what was listed or found below a folder. */
function openerBelow(folder: string, report: Report): Opener {
  return (file) => toFile(join(folder, file.path), file, { follow: false, report })
}

function toListed(path: string, stat: Stats, open: Opener): SourceFile {
  return new ListedFile(listedAs(path, stat), undefined, open)
}

function listedAs(path: string, { size, mtime }: Stats): Listed {
  return { path, sizeBytes: size, modifiedAt: mtime.toISOString() }
}

function toFile(
  path: string,
  { path: name, sizeBytes, modifiedAt }: Listed,
  { follow, report, begun }: { readonly follow: boolean; readonly report: Report; readonly begun?: Buffer },
): SourceFile {
  const raw = (options?: ChunkOptions): AsyncGenerator<Buffer> =>
    options?.isPassing === true && !follow ? passingChunks(path) : readChunks(path, follow)
  // What was read to open it is the head, once: by the next time it may have grown.
  let held = begun
  return toSourceFile({
    path: name,
    sizeBytes,
    modifiedAt,
    raw,
    // A link may be put in the file's place by those who write there: it is followed where it was named, and nowhere else.
    ...(!follow && {
      atOnce: (mostBytes: number) => openShort(nodeFiles, { at: path, isPacked: false }, mostBytes),
    }),
    async begin(bytes) {
      const first = held
      held = undefined
      if (first !== undefined && bytes <= FIRST_CHUNK_BYTES) return first.subarray(0, bytes)
      return bytes <= CHUNK_BYTES
        ? useAtOnce(path, { follow }, (fd) => readAt(fd, 0, bytes))
        : firstOf(raw(), bytes)
    },
    end: async (bytes) =>
      useAtOnce(path, { follow }, (fd, size) => {
        const from = Math.max(0, size - bytes)
        return readAt(fd, from, size - from)
      }),
    damaged: (damage) => report.add(damage),
    async database(unpacked) {
      if (!(await isPlainDatabase(raw()))) return unpacked()
      const { openSourceDatabase } = await import('./database.ts')
      return openSourceDatabase(path, (kind, reason) =>
        report.add({ kind, file: name, byteOffset: 0, byteLength: 0, reason }),
      )
    },
  })
}

/** As a kept file's: into memory that is used again. */
async function* passingChunks(path: string): AsyncGenerator<Buffer> {
  try {
    yield* chunksOf(openContent(nodeFiles, { at: path, isPacked: false }), { isPassing: true })
  } catch (error) {
    throw fromSystemError(error, path)
  }
}

async function* readChunks(path: string, follow: boolean): AsyncGenerator<Buffer> {
  const handle = await openRegular(path, follow)
  try {
    yield* readHandle(handle, path)
  } finally {
    await handle.close()
  }
}

async function openRegular(path: string, follow: boolean): Promise<FileHandle> {
  let handle: FileHandle
  try {
    handle = await open(path, readOnly(follow))
  } catch (error) {
    throw fromSystemError(error, path)
  }
  if ((await handle.stat()).isFile()) return handle
  await handle.close()
  throw notRegular(path)
}

async function* readHandle(handle: FileHandle, path: string): AsyncGenerator<Buffer> {
  try {
    for (let length = FIRST_CHUNK_BYTES; ; length = CHUNK_BYTES) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(length), 0, length)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } catch (error) {
    throw fromSystemError(error, path)
  }
}
