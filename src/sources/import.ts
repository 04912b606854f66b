/**
 * Import: files, folders, zip and tar files, or standard input, taken into the archive once. What they hold is kept like what sync
 * finds, and read the same way; where it came from is not looked at again. A zip or tar file in a folder is taken as one that is named.
 */
import fs from 'node:fs'
import os from 'node:os'
import { basename, join, resolve } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import type { KeptPlace } from '../archive/kept.ts'
import type { PassedOver } from '../archive/tar.ts'
import { fromSystemError, HansardError } from '../errors.ts'
import { createIdSet, type IdSet } from '../formats/id-set.ts'
import { PLACED } from '../formats/places.ts'
import { JOURNAL } from '../journal/format-id.ts'
import { diskFullMessage, wouldFill } from './disk.ts'
import { parseExclude } from './exclude.ts'
import { escapeGlob, parseGlobs } from './globs.ts'
import { loadFormat } from './load-format.ts'
import { openPacked, type Packed, type PackedFile } from './packed.ts'
import { packagesIn, type FoundPackage } from './packages-in.ts'
import { isFolderOfAny, namesOf } from './place-of.ts'
import { createProblems, joinProblems, type Problems } from './problems.ts'
import { spool, STDIN_ROOT, type Spooled } from './spool.ts'
import type { Shared } from './sync-take.ts'
import { unitOf } from './unit-of.ts'
import { IMPORT } from './unit-place.ts'
import { sync, withState, type SyncOptions, type SyncReport } from './sync.ts'
import { createCounts, readDirty } from './sync-read.ts'

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
  if (options.format === JOURNAL)
    throw new HansardError('invalid-argument', 'a journal is of the archive that it was recorded in', {
      hint: 'hansard show reads it where it is, and hansard convert makes a log of it that can be taken in',
    })
  const paths: string[] = []
  const packages: Package[] = []
  const passOver = new Set<string>()
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
          const path = resolve(input.path)
          if ((await openPacked(path)) !== undefined) packages.push(packageAt(path, basename(path)))
          else paths.push(input.path)
          for (const found of await packagesBelow(archive, path, options)) {
            passOver.add(found.absolute)
            packages.push(packageAt(found.absolute, join(basename(path), found.path)))
          }
        }
      } catch (error) {
        failed += 1
        problems.caught(error, 'chunks' in input ? STDIN : input.path)
      }
    }
    const reports: SyncReport[] = [nothingBut(failed, problems)]
    // One may lie there as a file, and in a package.
    const told = createIdSet()
    if (paths.length > 0)
      reports.push(await sync(archive, { ...options, paths, isOnce: true, passOver, told }))
    if (packages.length > 0)
      reports.push(await withState(archive, options, (shared) => takePackages(packages, told, shared)))
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

type Package = {
  /** Not before it is taken in: there may be thousands in a folder. */
  readonly open: () => Promise<Packed>
  /** What its files are kept under. */
  readonly root: string
  /** For people. */
  readonly name: string
}

function packageAt(path: string, name: string): Package {
  const open = async (): Promise<Packed> => {
    const packed = await openPacked(path)
    if (packed !== undefined) return packed
    throw new HansardError('not-a-transcript', `${path} is no tar or zip file any more`)
  }
  return { root: path, name, open }
}

/** Of a folder that is not known to be an agent's: in those, only what the agent writes is looked at. */
async function packagesBelow(
  archive: Archive,
  path: string,
  { exclude = [], env = process.env, userHome = os.homedir(), platform = process.platform }: ImportOptions,
): Promise<readonly FoundPackage[]> {
  if (!isFolderOfAny(path, PLACED, { env, home: userHome, platform })) return []
  const real = fs.realpathSync(path)
  const own = escapeGlob(fs.realpathSync(archive.home))
  return packagesIn(real, parseExclude([...exclude, own], { home: userHome, platform }))
}

/** Each package has a place of its own, by its content: two of them may hold different files of one name. */
async function ofStandardInput({ path, name }: Spooled): Promise<Package> {
  const packed = await openPacked(path)
  if (packed !== undefined) return { root: `${STDIN_ROOT}/${name}`, name: STDIN, open: async () => packed }
  const only: PackedFile = {
    path: `${name}.jsonl`,
    sizeBytes: fs.statSync(path).size,
    chunks: () => fs.createReadStream(path),
  }
  const files = async function* (): AsyncGenerator<PackedFile> {
    yield only
  }
  return { root: STDIN_ROOT, name: STDIN, open: async () => ({ files, damage: () => [] }) }
}

type Counts = { -readonly [K in keyof SyncReport['files']]: number }

async function takePackages(packages: readonly Package[], told: IdSet, shared: Shared): Promise<SyncReport> {
  const counts: Counts = { seen: 0, new: 0, grown: 0, rewritten: 0, unchanged: 0, failed: 0 }
  let bytesRead = 0
  for (const one of packages) bytesRead += await takePackage(one, counts, shared)
  const read = await readDirty(shared, createCounts(undefined, told))
  return { files: counts, ...read, bytesRead, problems: shared.problems.list() }
}

/** Gives the bytes that were read of it. */
async function takePackage(
  { root, name, open }: Package,
  counts: Counts,
  { archive, files, kept, database, problems, options }: Shared,
): Promise<number> {
  const id = files.place(IMPORT, root)
  const target = kept.place(IMPORT, root)
  const exclude = parseExclude(options.exclude ?? [], { home: options.userHome ?? os.homedir() })
  const taken: string[] = []
  let packed: Packed | undefined
  let bytesRead = 0
  const failed = (): void => {
    counts.seen += 1
    counts.failed += 1
  }
  // Of several in a folder, it says which.
  const caught = (error: unknown, what: string): void => {
    const { code, message } = fromSystemError(error, what)
    // What was opened is a tar or zip file: it can only be cut off or damaged.
    const cause = packed !== undefined && code === 'not-a-transcript' ? 'damage' : code
    problems.add(cause, message.includes(what) ? message : `${what}: ${message}`)
  }
  const passedOver = (path: string, why: PassedOver): void => {
    if (why !== 'link') failed()
    problems.add(why, `${name}: ${path}: ${PASSED_OVER[why]}`)
  }
  try {
    packed = await open()
    for await (const { path, sizeBytes, chunks } of packed.files(passedOver)) {
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
        const unit = copy === undefined ? path : await unitOf(IMPORT, copy, target.namedFormat(path))
        database.transaction(() => files.copied(id, path, unit, result))
        taken.push(path)
        counts.seen += 1
        counts[result.change === 'none' ? 'unchanged' : result.change] += 1
        bytesRead += result.bytesRead
        options.onProgress?.({ doing: 'keeping', done: counts.seen, bytes: bytesRead })
      } catch (error) {
        failed()
        caught(error, join(name, path))
      }
    }
  } catch (error) {
    failed()
    caught(error, name)
  }
  if (options.format !== undefined) await nameMembers(taken, options.format, { id, target, files, database })
  for (const { kind, file, reason } of packed?.damage() ?? []) {
    if (kind === 'missing') failed()
    problems.add('damage', `${name}: ${file}: ${reason}`)
  }
  return bytesRead
}

type Members = Pick<Shared, 'files' | 'database'> & { readonly id: number; readonly target: KeptPlace }

/** Those that are called like the format's files; all where none is. They are read when all packages are taken. */
async function nameMembers(paths: readonly string[], named: string, members: Members): Promise<void> {
  const { id, target, files, database } = members
  const globs = parseGlobs(namesOf(await loadFormat(named)))
  const own = paths.filter((path) => globs.matches(path))
  for (const path of target.nameFormat(own.length > 0 ? own : paths, named)) {
    const copy = target.file(path)
    const unit = copy === undefined ? path : await unitOf(IMPORT, copy, named)
    database.transaction(() => files.readAs(id, path, unit))
  }
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
