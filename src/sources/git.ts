/**
 * A git repository's refs, and the tree at one of them as a folder: files are read from the object store when they are
 * asked for, without a checkout. Links and submodules are not followed.
 */
import { posix } from 'node:path'
import { HansardError } from '../errors.ts'
import type { Damage } from '../transcript/damage.ts'
import type { SourceFile } from '../transcript/source.ts'
import { createGitObjects, type GitObjects } from './git-objects.ts'
import { type Git, GitFailed, openGitProgram } from './git-program.ts'
import type { OpenSource } from './open.ts'
import { toSourceFile } from './source-file.ts'

const MAX_REFS = 100_000
const MAX_FILES = 100_000
const MAX_REF_BYTES = 1024
const MAX_COMMIT_BYTES = 1024 * 1024

/** Full names of the refs that begin so (`refs/entire/checkpoints/`), sorted. */
export async function gitRefs(repository: string, prefix: string): Promise<string[]> {
  const git = await openGitProgram(repository)
  const refs: string[] = []
  try {
    for await (const line of splitAt(git.run('for-each-ref', '--format=%(refname)'), 0x0a)) {
      const ref = line.toString('utf8')
      if (!ref.startsWith(prefix)) continue
      if (refs.length >= MAX_REFS)
        throw new HansardError('too-large', `more than ${MAX_REFS} refs under ${prefix}`)
      refs.push(ref)
    }
  } catch (error) {
    throw toError(error, repository)
  }
  return refs.sort()
}

/** The tree at a ref (a branch, a tag, a full name or a commit). Throws `not-found` when there is none. */
export async function gitSource(repository: string, ref: string): Promise<OpenSource> {
  const git = await openGitProgram(repository)
  const tree = await resolveRef(git, repository, ref, 'tree')
  const modifiedAt = await commitTime(git, repository, ref)
  const objects = createGitObjects(git)
  const damage = new Map<string, Damage>()
  const damaged = (found: Damage): void => void damage.set(found.file, found)
  let listed: Promise<readonly SourceFile[]> | undefined
  let byPath: Promise<ReadonlyMap<string, SourceFile>> | undefined
  const list = (): Promise<readonly SourceFile[]> =>
    (listed ??= listTree(git, tree, damaged).then((blobs) =>
      blobs.map((blob) => toFile(objects, blob, modifiedAt, damaged)),
    ))
  return {
    path: `${repository}@${ref}`,
    kind: 'folder',
    list,
    async find(wanted) {
      byPath ??= list().then((files) => new Map(files.map((file) => [file.path, file])))
      return (await byPath).get(posix.normalize(wanted))
    },
    damage: () => [...damage.values()],
  }
}

async function resolveRef(git: Git, repository: string, ref: string, to: 'tree' | 'commit'): Promise<string> {
  // What git would take for an option, a range or a search of messages is no ref.
  if (!/^[\w][\w./@+-]*$/.test(ref) || ref.includes('..') || ref.includes('@{')) {
    throw new HansardError('invalid-argument', `not the name of a ref: ${ref.slice(0, 200)}`)
  }
  try {
    const said = await git.text(MAX_REF_BYTES, 'rev-parse', '--verify', '--quiet', `${ref}^{${to}}`)
    const id = said.trim()
    if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id)) return id
    throw new GitFailed('no object id')
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    throw new HansardError('not-found', `${repository} has no ref ${ref}, or it is damaged`, {
      hint: 'list the refs with: git for-each-ref',
      cause: error,
    })
  }
}

/** When the commit was made; the files of a tree without one are as old as time. */
async function commitTime(git: Git, repository: string, ref: string): Promise<string> {
  try {
    const id = await resolveRef(git, repository, ref, 'commit')
    const commit = await git.text(MAX_COMMIT_BYTES, 'cat-file', 'commit', id)
    const seconds = Number(/^committer .* (\d{1,12}) [+-]\d{4}$/m.exec(commit)?.[1])
    return new Date(Number.isSafeInteger(seconds) ? seconds * 1000 : 0).toISOString()
  } catch (error) {
    if (error instanceof GitFailed || error instanceof HansardError) return new Date(0).toISOString()
    throw error
  }
}

type Blob = { readonly path: string; readonly id: string; readonly sizeBytes: number }

async function listTree(git: Git, tree: string, damaged: (damage: Damage) => void): Promise<readonly Blob[]> {
  const blobs: Blob[] = []
  try {
    for await (const record of splitAt(git.run('ls-tree', '-r', '-l', '-z', '--full-tree', tree), 0)) {
      // A tree of trees that are all the same one has no end worth waiting for.
      if (blobs.length >= MAX_FILES) {
        throw new HansardError('too-large', `a tree of more than ${MAX_FILES} files`)
      }
      const [, mode, id, size, path] =
        /^(\d+) \w+ ([0-9a-f]+) +(\S+)\t(.+)$/s.exec(record.toString('utf8')) ?? []
      if (path === undefined || id === undefined || !isPlain(mode)) continue
      if (isUnsafe(path)) {
        damaged({
          kind: 'missing',
          file: '',
          byteOffset: 0,
          byteLength: 0,
          reason: 'a name that leads out of the tree',
        })
        continue
      }
      blobs.push({ path, id, sizeBytes: Number.isSafeInteger(Number(size)) ? Number(size) : 0 })
    }
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    damaged({
      kind: 'missing',
      file: '',
      byteOffset: 0,
      byteLength: 0,
      reason: `files of the tree: ${error.message}`,
    })
  }
  return blobs.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** A file, executable or not; no link, no submodule. */
function isPlain(mode: string | undefined): boolean {
  return mode === '100644' || mode === '100755' || mode === '100664'
}

function isUnsafe(path: string): boolean {
  return path.startsWith('/') || path.split('/').some((part) => part === '..' || part === '' || part === '.')
}

function toFile(
  objects: GitObjects,
  { path, id, sizeBytes }: Blob,
  modifiedAt: string,
  damaged: (damage: Damage) => void,
): SourceFile {
  return toSourceFile({
    path,
    sizeBytes,
    modifiedAt,
    damaged,
    async *raw() {
      let given = 0
      try {
        for await (const piece of objects.read(id)) {
          given += piece.length
          yield piece
        }
      } catch (error) {
        if (!(error instanceof GitFailed)) throw error
        damaged({ kind: 'missing', file: path, byteOffset: given, byteLength: 0, reason: error.message })
      }
    },
  })
}

/** Pieces of bytes as the records between a byte. A name has a bound, so a record has: past it nothing is a name. */
async function* splitAt(pieces: AsyncIterable<Buffer>, byte: number): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0)
  for await (const piece of pieces) {
    held = held.length === 0 ? piece : Buffer.concat([held, piece])
    let from = 0
    for (let at = held.indexOf(byte); at !== -1; at = held.indexOf(byte, from)) {
      yield held.subarray(from, at)
      from = at + 1
    }
    held = held.subarray(from)
    if (held.length > 1024 * 1024)
      throw new HansardError('too-large', 'git names something of more than a megabyte')
  }
  if (held.length > 0) yield held
}

function toError(error: unknown, repository: string): unknown {
  if (!(error instanceof GitFailed)) return error
  return new HansardError('io', `the refs of ${repository} cannot be read (${error.message})`, {
    cause: error,
  })
}
