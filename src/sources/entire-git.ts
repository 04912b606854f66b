/**
 * Entire's checkpoints inside a git repository as a folder of sessions (`entire-layout.ts`: where their files lie in it). Nothing is
 * checked out and nothing of the repository is run.
 */
import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { isHansardError } from '../errors.ts'
import type { Damage } from '../transcript/damage.ts'
import type { SourceFile } from '../transcript/source.ts'
import { layOut, type EntireFile } from './entire-layout.ts'
import { listEntireRefs, stampOf } from './entire-refs.ts'
import { readSlots } from './entire-slots.ts'
import type { GitBlobs } from './git-blobs.ts'
import { createGitObjects, type GitObjects } from './git-objects.ts'
import { type Git, GitFailed, openGitProgram } from './git-program.ts'
import { ListedFile, type Listed, type OpenListed } from './listed-file.ts'
import type { OpenSource } from './open.ts'
import { toSourceFile } from './source-file.ts'

export type EntireSource = OpenSource & {
  /** Names the commits of all of Entire's refs: the same stamp, the same content. */
  readonly stamp: string
  /** The same files as in the list, session by session; without reading what the content of a session is. */
  sessions(): AsyncIterable<StampedSession>
  /** Whether all of the file that was read could be. */
  isWhole(path: string): boolean
}

export type StampedSession = {
  readonly name: string
  /** The same stamp, the same files. */
  readonly stamp: string
  /** Each is made when it is asked for: there may be a hundred thousand. */
  files(): Promise<Iterable<StampedFile>>
}

/** `stamp`: the same, the same bytes. */
export type StampedFile = {
  readonly path: string
  readonly sizeBytes: number
  readonly stamp: string
  open(): SourceFile
}

/** Undefined where there is no repository, or none of Entire's refs in it. Asks git for the refs, and for no more until it is read. */
export async function openEntireRepository(repository: string): Promise<EntireSource | undefined> {
  const git = await openProgram(repository)
  const refs = git === undefined ? [] : await listEntireRefs(git, repository)
  if (git === undefined || refs.length === 0) return undefined
  const damage = new Map<string, Damage>()
  const report: Report = (kind, file, byteOffset, reason) => {
    // What is packed is torn where something of it is missing: that it may be fetched later is what counts.
    if (damage.get(file)?.kind !== 'missing')
      damage.set(file, { kind, file, byteOffset, byteLength: 0, reason })
  }
  const objects = createGitObjects(git)
  const readAll = async () => {
    const slots = await readSlots(git, refs, (ref) => report('missing', ref, 0, 'a tree that cannot be read'))
    const { blobs } = slots
    const read = (chunks: readonly number[]) => joined(idsOf(chunks, blobs), objects)
    return { blobs, all: layOut(slots, read) }
  }
  const open: OpenListed<readonly string[]> = (file, ids) => toFile(file, ids, { objects, report })
  const toListed = ({ path, blobs: chunks, modifiedAt }: EntireFile, blobs: GitBlobs): SourceFile =>
    new ListedFile({ path, sizeBytes: sizeOf(chunks, blobs), modifiedAt }, idsOf(chunks, blobs), open)
  const listAll = async (): Promise<readonly SourceFile[]> => {
    const { blobs, all } = await readAll()
    const files: SourceFile[] = []
    for (const session of all) for (const file of await session.files()) files.push(toListed(file, blobs))
    return files.sort((a, b) => (a.path < b.path ? -1 : 1))
  }
  let listed: Promise<readonly SourceFile[]> | undefined
  let byPath: Promise<ReadonlyMap<string, SourceFile>> | undefined
  const list = (): Promise<readonly SourceFile[]> =>
    (listed ??= listAll().catch((error: unknown) => {
      // Many units share it: the next one asks again.
      listed = undefined
      byPath = undefined
      throw error
    }))
  return {
    path: repository,
    kind: 'folder',
    stamp: stampOf(refs),
    list,
    async *sessions() {
      const { blobs, all } = await readAll()
      function* stamped(files: readonly EntireFile[]): Generator<StampedFile> {
        for (const file of files) {
          const sizeBytes = sizeOf(file.blobs, blobs)
          const stamp = blobsStamp(file.blobs, blobs)
          yield { path: file.path, sizeBytes, stamp, open: () => toListed(file, blobs) }
        }
      }
      for (const session of all) {
        const { name, digest: stamp } = session
        yield { name, stamp, files: async () => stamped(await session.files()) }
      }
    },
    isWhole: (path) => damage.get(path)?.kind !== 'missing',
    async find(wanted) {
      byPath ??= list().then((files) => new Map(files.map((file) => [file.path, file])))
      return (await byPath).get(posix.normalize(wanted))
    },
    damage: () => [...damage.values()],
  }
}

async function openProgram(repository: string): Promise<Git | undefined> {
  try {
    return await openGitProgram(repository)
  } catch (error) {
    if (isHansardError(error) && error.code === 'not-found') return undefined
    throw error
  }
}

type Report = (kind: Damage['kind'], file: string, byteOffset: number, reason: string) => void

const idsOf = (chunks: readonly number[], blobs: GitBlobs): readonly string[] =>
  chunks.map((blob) => blobs.id(blob))

const sizeOf = (chunks: readonly number[], blobs: GitBlobs): number =>
  chunks.reduce((total, blob) => total + blobs.size(blob), 0)

/** Ids are hashes of content. */
function blobsStamp(chunks: readonly number[], blobs: GitBlobs): string {
  const [only, ...more] = chunks
  if (only !== undefined && more.length === 0) return blobs.id(only)
  const hash = createHash('sha256')
  for (const blob of chunks) hash.update(blobs.id(blob))
  return hash.digest('hex')
}

/** Chunks are cut at line ends: the newline between two, where neither has it, is put back. */
async function* joined(ids: readonly string[], objects: GitObjects): AsyncGenerator<Buffer> {
  for (const [index, id] of ids.entries()) {
    let last: number | undefined
    for await (const piece of objects.read(id)) {
      last = piece.at(-1)
      yield piece
    }
    if (index < ids.length - 1 && last !== undefined && last !== NEWLINE) yield Buffer.from('\n')
  }
}

const NEWLINE = 0x0a

type FileOptions = { readonly objects: GitObjects; readonly report: Report }

function toFile(file: Listed, ids: readonly string[], { objects, report }: FileOptions): SourceFile {
  const { path, sizeBytes, modifiedAt } = file
  return toSourceFile({
    path,
    sizeBytes,
    modifiedAt,
    damaged: ({ kind, byteOffset, reason }) => report(kind, path, byteOffset, reason),
    async *raw() {
      let given = 0
      try {
        for await (const piece of joined(ids, objects)) {
          given += piece.length
          yield piece
        }
      } catch (error) {
        if (!(error instanceof GitFailed)) throw error
        report('missing', path, given, error.message)
      }
    },
  })
}
