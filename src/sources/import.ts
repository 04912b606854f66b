/**
 * Import: files, folders, zip and tar files, or standard input, taken into the archive once. What they hold is kept like what sync
 * finds, and read the same way; where it came from is not looked at again.
 */
import fs from 'node:fs'
import os from 'node:os'
import { basename, join, resolve } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import type { PassedOver } from '../archive/tar.ts'
import { diskFullMessage, wouldFill } from './disk.ts'
import { parseExclude } from './exclude.ts'
import { openPacked, type Packed, type PackedFile } from './packed.ts'
import { IMPORT } from './place-of.ts'
import { createProblems, joinProblems, type Problems } from './problems.ts'
import { spool, type Spooled } from './spool.ts'
import type { Shared } from './sync-take.ts'
import { unitOf } from './unit-of.ts'
import { sync, withState, type SyncOptions, type SyncReport } from './sync.ts'
import { readDirty } from './sync-read.ts'

export type ImportInput =
  | { readonly path: string }
  /** Standard input: what it is comes from its content. */
  | { readonly chunks: () => AsyncIterable<Buffer> }

/** Always kept: where it came from is not looked at again. */
export type ImportOptions = Omit<SyncOptions, 'paths' | 'keep'> & { readonly keep?: true | 'redacted' }

export async function importInputs(
  archive: Archive,
  inputs: readonly ImportInput[],
  options: ImportOptions = {},
): Promise<SyncReport> {
  const paths: string[] = []
  const packages: Package[] = []
  const spools: Spooled[] = []
  const problems = createProblems()
  let failed = 0
  try {
    for (const input of inputs) {
      try {
        if ('chunks' in input) {
          const spooled = await spool(archive, input.chunks(), options.disk)
          spools.push(spooled)
          packages.push(await ofStandardInput(spooled))
        } else {
          const packed = await openPacked(input.path)
          if (packed === undefined) paths.push(input.path)
          else packages.push({ ...packed, root: resolve(input.path), name: basename(input.path) })
        }
      } catch (error) {
        failed += 1
        problems.caught(error, 'chunks' in input ? STDIN : input.path)
      }
    }
    const reports: SyncReport[] = [nothingBut(failed, problems)]
    if (paths.length > 0) reports.push(await sync(archive, { ...options, paths, isOnce: true }))
    if (packages.length > 0)
      reports.push(await withState(archive, options, (shared) => takePackages(packages, shared)))
    return reports.reduce(addReports)
  } finally {
    for (const spooled of spools) spooled.remove()
  }
}

const STDIN = 'standard input'

function nothingBut(failed: number, problems: Problems): SyncReport {
  const files = { seen: failed, new: 0, grown: 0, rewritten: 0, unchanged: 0, failed }
  return { files, sessions: 0, entries: 0, damage: 0, bytesRead: 0, problems: problems.list() }
}

type Package = Packed & {
  /** What its files are kept under. */
  readonly root: string
  /** For people. */
  readonly name: string
}

/** Each package has a place of its own, by its content: two of them may hold different files of one name. */
async function ofStandardInput({ path, name }: Spooled): Promise<Package> {
  const packed = await openPacked(path)
  if (packed !== undefined) return { ...packed, root: `stdin/${name}`, name: STDIN }
  const only: PackedFile = {
    path: `${name}.jsonl`,
    sizeBytes: fs.statSync(path).size,
    chunks: () => fs.createReadStream(path),
  }
  const files = async function* (): AsyncGenerator<PackedFile> {
    yield only
  }
  return { root: 'stdin', name: STDIN, files, damage: () => [] }
}

type Counts = { -readonly [K in keyof SyncReport['files']]: number }

async function takePackages(packages: readonly Package[], shared: Shared): Promise<SyncReport> {
  const counts: Counts = { seen: 0, new: 0, grown: 0, rewritten: 0, unchanged: 0, failed: 0 }
  let bytesRead = 0
  for (const one of packages) bytesRead += await takePackage(one, counts, shared)
  const read = await readDirty(shared)
  return { files: counts, ...read, bytesRead, problems: shared.problems.list() }
}

/** Gives the bytes that were read of it. */
async function takePackage(
  { root, name, files: open, damage }: Package,
  counts: Counts,
  { archive, files, kept, database, problems, options }: Shared,
): Promise<number> {
  const id = files.place(IMPORT, root)
  const target = kept.place(IMPORT, root)
  const exclude = parseExclude(options.exclude ?? [], { home: options.userHome ?? os.homedir() })
  let bytesRead = 0
  const failed = (): void => {
    counts.seen += 1
    counts.failed += 1
  }
  const passedOver = (path: string, why: PassedOver): void => {
    if (why !== 'link') failed()
    problems.add(why, `${name}: ${path}: ${PASSED_OVER[why]}`)
  }
  try {
    for await (const { path, sizeBytes, chunks } of open(passedOver)) {
      if (exclude.isExcluded(root, path)) continue
      const more = Math.max(0, sizeBytes - (target.file(path)?.sizeBytes ?? 0))
      if (wouldFill(archive.home, more, options.disk)) {
        failed()
        problems.add('disk-full', diskFullMessage(`${name}: ${path}`))
        continue
      }
      try {
        const result = await target.keep(path, { chunks })
        const copy = target.file(path)
        const unit = copy === undefined ? path : await unitOf(IMPORT, copy)
        database.transaction(() => files.copied(id, path, unit, result))
        counts.seen += 1
        counts[result.change === 'none' ? 'unchanged' : result.change] += 1
        bytesRead += result.bytesRead
        options.onProgress?.({ doing: 'keeping', done: counts.seen, bytes: bytesRead })
      } catch (error) {
        failed()
        problems.caught(error, join(name, path))
      }
    }
  } catch (error) {
    failed()
    problems.caught(error, name)
  }
  for (const { kind, file, reason } of damage()) {
    if (kind === 'missing') failed()
    problems.add('damage', `${name}: ${file}: ${reason}`)
  }
  return bytesRead
}

const PASSED_OVER: Readonly<Record<PassedOver, string>> = {
  link: 'a link, not followed',
  'unsafe-path': 'its path leaves the folder, not unpacked',
  sparse: 'a file with holes, not unpacked',
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
