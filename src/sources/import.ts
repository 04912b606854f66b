/**
 * Import: files, folders, zip and tar files, or standard input, taken into the archive once. What they hold is kept like what sync
 * finds, and read the same way; where it came from is not looked at again.
 */
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { basename, resolve } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import { readTar } from '../archive/tar.ts'
import { fromSystemError, HansardError } from '../errors.ts'
import { raw } from '../formats/raw.ts'
import type { SourceFile } from '../transcript/source.ts'
import { openSource } from './open.ts'
import { IMPORT } from './place-of.ts'
import { createProblems, joinProblems, type Problems } from './problems.ts'
import { unitOf, type Shared } from './sync-take.ts'
import { sync, withState, type SyncOptions, type SyncReport } from './sync.ts'
import { readDirty } from './sync-read.ts'
import { isZip } from './zip-directory.ts'

export type ImportInput =
  | { readonly path: string }
  /** Standard input: what it is comes from its content. */
  | { readonly chunks: () => AsyncIterable<Buffer> }

export async function importInputs(
  archive: Archive,
  inputs: readonly ImportInput[],
  options: Omit<SyncOptions, 'paths' | 'keep'> = {},
): Promise<SyncReport> {
  const paths: string[] = []
  const packed: Packed[] = []
  const missed = createProblems()
  let failed = 0
  for (const input of inputs) {
    if ('chunks' in input) packed.push({ root: 'stdin', files: () => fromStandardInput(input.chunks()) })
    else {
      try {
        const unpacked = await unpack(input.path)
        if (unpacked === undefined) paths.push(input.path)
        else packed.push(unpacked)
      } catch (error) {
        failed += 1
        missed.caught(error, input.path)
      }
    }
  }
  const reports: SyncReport[] = [nothingBut(failed, missed)]
  if (paths.length > 0) reports.push(await sync(archive, { ...options, paths, isOnce: true }))
  if (packed.length > 0)
    reports.push(await withState(archive, options, (shared) => takePacked(packed, shared)))
  return reports.reduce(addReports)
}

function nothingBut(failed: number, problems: Problems): SyncReport {
  const files = { seen: failed, new: 0, grown: 0, rewritten: 0, unchanged: 0, failed }
  return { files, sessions: 0, entries: 0, damage: 0, bytesRead: 0, problems: problems.list() }
}

/** Files that are not there to be looked at: they are given once, in order. */
type Packed = {
  readonly root: string
  /** `passedOver` is told of what is no regular file. */
  readonly files: (passedOver: (path: string) => void) => AsyncIterable<PackedFile>
}
type PackedFile = { readonly path: string; readonly chunks: () => AsyncIterable<Buffer> }

async function unpack(path: string): Promise<Packed | undefined> {
  const root = resolve(path)
  if (isFolder(root)) return undefined
  const source = await openSource(root)
  if (source.kind === 'folder') return { root, files: () => filesIn(source.list()) }
  const [file] = await source.list()
  // A zip file inside gzip is nobody's; a tar file inside it is the common case.
  if (file === undefined || isZip(await file.head(4)) || !isTar(await file.head(512))) return undefined
  return { root, files: (passedOver) => filesOfTar(file, passedOver) }
}

function isFolder(path: string): boolean {
  try {
    return fs.statSync(path).isDirectory()
  } catch (error) {
    throw fromSystemError(error, path)
  }
}

async function* filesIn(list: Promise<readonly SourceFile[]>): AsyncGenerator<PackedFile> {
  for (const file of await list) yield { path: file.path, chunks: () => file.chunks() }
}

/** POSIX and GNU both write it. */
function isTar(head: Buffer): boolean {
  return head.subarray(257, 262).toString('latin1') === 'ustar'
}

const TAR_LIMITS = { maxBytes: 1e12, maxFiles: 1_000_000 }

async function* filesOfTar(file: SourceFile, passedOver: (path: string) => void): AsyncGenerator<PackedFile> {
  const items = readTar(file.chunks(), { ...TAR_LIMITS, passedOver })
  let next = await items.next()
  while (next.done !== true) {
    if (next.value.type !== 'file') throw new HansardError('not-a-transcript', `${file.path} is no tar file`)
    const { path } = next.value.entry
    let left = true
    const chunks = async function* (): AsyncGenerator<Buffer> {
      for (
        next = await items.next();
        next.done !== true && next.value.type === 'bytes';
        next = await items.next()
      )
        yield next.value.bytes
      left = false
    }
    yield { path, chunks }
    // Nobody wanted it: the next file stands behind its bytes.
    if (left) for await (const _ of chunks());
  }
}

/** Called by its content: the same input twice is the same file. */
async function* fromStandardInput(chunks: AsyncIterable<Buffer>): AsyncGenerator<PackedFile> {
  const pieces: Buffer[] = []
  const hash = createHash('sha256')
  let held = 0
  for await (const chunk of chunks) {
    hash.update(chunk)
    held += chunk.length
    if (held > STDIN_LIMIT) {
      throw new HansardError('too-large', `standard input is over ${STDIN_LIMIT} bytes`, {
        hint: 'write it to a file, and name that',
      })
    }
    pieces.push(chunk)
  }
  if (held === 0) throw new HansardError('not-a-transcript', 'standard input is empty')
  const path = `${hash.digest('hex').slice(0, 16)}.jsonl`
  yield {
    path,
    chunks: async function* () {
      yield* pieces
    },
  }
}

/** Held in memory, because its name comes from all of it. */
const STDIN_LIMIT = 128 * 1024 * 1024

async function takePacked(packed: readonly Packed[], shared: Shared): Promise<SyncReport> {
  const { files, kept, database, problems } = shared
  const counts = { seen: 0, new: 0, grown: 0, rewritten: 0, unchanged: 0, failed: 0 }
  let bytesRead = 0
  for (const { root, files: open } of packed) {
    const id = files.place(IMPORT, root)
    const target = kept.place(IMPORT, root)
    const name = root === 'stdin' ? 'standard input' : basename(root)
    try {
      for await (const { path, chunks } of open((path) =>
        problems.add('link', `${name}: ${path}: a link, not followed`),
      )) {
        counts.seen += 1
        try {
          const result = await target.keep(path, { chunks })
          counts[result.change === 'none' ? 'unchanged' : result.change] += 1
          bytesRead += result.bytesRead
          const copy = target.file(path)
          const unit = copy === undefined ? path : await unitOf(raw, copy)
          database.transaction(() => files.copied(id, path, unit, result))
        } catch (error) {
          counts.failed += 1
          problems.caught(error, `${name}: ${path}`)
        }
      }
    } catch (error) {
      counts.failed += 1
      problems.caught(error, name)
    }
  }
  const read = await readDirty(shared)
  return { files: counts, ...read, bytesRead, problems: problems.list() }
}

function addReports(a: SyncReport, b: SyncReport): SyncReport {
  return {
    files: {
      seen: a.files.seen + b.files.seen,
      new: a.files.new + b.files.new,
      grown: a.files.grown + b.files.grown,
      rewritten: a.files.rewritten + b.files.rewritten,
      unchanged: a.files.unchanged + b.files.unchanged,
      failed: a.files.failed + b.files.failed,
    },
    sessions: a.sessions + b.sessions,
    entries: a.entries + b.entries,
    damage: a.damage + b.damage,
    bytesRead: a.bytesRead + b.bytesRead,
    problems: joinProblems(a.problems, b.problems),
  }
}
