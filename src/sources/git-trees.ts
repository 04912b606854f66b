/**
 * Many trees of a repository listed at once, thousands at a time: a handful of processes whatever the number of trees. What cannot be
 * read of them is told and passed over; a tree without an end is refused.
 */
import { HansardError } from '../errors.ts'
import type { GitBlobs } from './git-blobs.ts'
import { type Git, GitFailed } from './git-program.ts'

export type GitObject = { readonly type: string; readonly content: Buffer }
/** `root`: the place of its tree in the list of them. `blob`: its number. */
export type TreeFile = { readonly root: number; readonly path: string; readonly blob: number }

const MAX_FILES = 500_000
const MAX_DEPTH = 8
/** A tree of a hundred thousand names. */
const MAX_OBJECT_BYTES = 16 * 1024 * 1024
/** A repository with more damage than this is not worth a process for each. */
const MAX_FAILURES = 100
/** Asked for by one process: some MB of objects pass, and a process takes less time than they do. */
const AT_A_TIME = 4096

/**
 * The objects asked for, in that order: undefined for one that is missing, damaged, or too large. Small ones only: each is held.
 * `lines` are ids, or what git takes for them: `<commit>^{tree}`, `<commit>:folder`.
 */
export async function* readSmallObjects(
  git: Git,
  lines: Iterable<string>,
): AsyncGenerator<GitObject | undefined> {
  let failures = 0
  for (const some of inGroups(lines)) {
    let at = 0
    while (at < some.length && failures < MAX_FAILURES) {
      try {
        for await (const object of parseObjects(git.feed(some.slice(at), 'cat-file', '--batch'))) {
          at += 1
          yield object
        }
        if (at < some.length) throw new GitFailed('fewer objects than were asked for')
      } catch (error) {
        if (!(error instanceof GitFailed)) throw error
        // It ends at a damaged object: the next begins behind it.
        failures += 1
        at += 1
        yield undefined
      }
    }
    for (; at < some.length; at += 1) yield undefined
  }
}

function* inGroups(lines: Iterable<string>): Generator<readonly string[]> {
  let some: string[] = []
  for (const line of lines) {
    some.push(line)
    if (some.length < AT_A_TIME) continue
    yield some
    some = []
  }
  if (some.length > 0) yield some
}

type Listing = {
  /** They are added here, with their sizes. */
  readonly blobs: GitBlobs
  /** Told of each tree that could not be read, by the root it is below. */
  readonly missed: (root: number) => void
}

type Waiting = {
  readonly root: number
  readonly path: string
  readonly line: string
  readonly depth: number
}

/**
 * The plain files of each tree, by root and path: those of some roots after those of others. No links, no submodules. `roots`: as
 * `readSmallObjects` takes them.
 */
export async function* listTrees(
  git: Git,
  roots: Iterable<string>,
  { blobs, missed }: Listing,
): AsyncGenerator<readonly TreeFile[]> {
  let root = 0
  /** Below roots, met so far. The deepest are read first: few wait at a time, also where there is no end to them. */
  let met = 0
  for (const some of inGroups(roots)) {
    const found: TreeFile[] = []
    const first = blobs.count()
    const waiting: Waiting[] = some.map((line) => ({ root: root++, path: '', line, depth: 0 }))
    while (waiting.length > 0) {
      // The last, which are the deepest: of all others no more waits than what lies beside them.
      const trees = waiting.splice(-AT_A_TIME)
      let at = 0
      for await (const object of readSmallObjects(git, linesOf(trees))) {
        const tree = trees[at++]
        if (tree === undefined) break
        if (object?.type !== 'tree') {
          missed(tree.root)
          continue
        }
        for (const { mode, name, id } of parseTree(object.content, idBytes(tree.line))) {
          const path = tree.path === '' ? name : `${tree.path}/${name}`
          if (mode === '40000') {
            met += 1
            if (tree.depth === MAX_DEPTH) missed(tree.root)
            else waiting.push({ root: tree.root, path, line: id.toString('hex'), depth: tree.depth + 1 })
          } else if (isPlain(mode)) found.push({ root: tree.root, path, blob: blobs.add(id) })
          if (blobs.count() + waiting.length > MAX_FILES || met > MAX_FILES)
            throw new HansardError('too-large', `trees of more than ${MAX_FILES} files or folders`)
        }
      }
    }
    await takeSizes(git, blobs, first)
    yield found.sort((a, b) => a.root - b.root || (a.path < b.path ? -1 : 1))
  }
}

function* linesOf(trees: readonly Waiting[]): Generator<string> {
  for (const { line } of trees) yield line
}

/** Of all from there on. */
async function takeSizes(git: Git, blobs: GitBlobs, first: number): Promise<void> {
  function* ids(): Generator<string> {
    for (let blob = first; blob < blobs.count(); blob += 1) yield blobs.id(blob)
  }
  let blob = first
  let held = ''
  try {
    for await (const piece of git.feed(ids(), 'cat-file', '--batch-check=%(objectsize)')) {
      const lines = (held + piece.toString('latin1')).split('\n')
      held = lines.pop() ?? ''
      // What is missing is said in its place.
      for (const line of lines) blobs.setSize(blob++, /^\d+$/.test(line) ? Number(line) : 0)
    }
  } catch (error) {
    // Whoever reads the damaged object is told; here only its size is missing.
    if (!(error instanceof GitFailed)) throw error
  }
}

async function* parseObjects(pieces: AsyncIterable<Buffer>): AsyncGenerator<GitObject | undefined> {
  let held: Buffer[] = []
  let length = 0
  /** Of the object that is being read: its type, and how many bytes are to come with the newline behind them. */
  let current: { readonly type: string; readonly size: number } | undefined
  for await (const piece of pieces) {
    held.push(piece)
    length += piece.length
    for (;;) {
      if (current !== undefined && length <= current.size) break
      const bytes: Buffer = held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held)
      let from = 0
      if (current === undefined) {
        const end = bytes.indexOf(0x0a)
        held = [bytes]
        if (end === -1) break
        from = end + 1
        const [, type, size] = /^[0-9a-f]+ (\w+) (\d+)$/.exec(bytes.toString('latin1', 0, end)) ?? []
        if (type === undefined) yield undefined
        else if (Number(size) > MAX_OBJECT_BYTES) throw new GitFailed('an object larger than any tree')
        else current = { type, size: Number(size) }
      } else {
        from = current.size + 1
        // A copy: the piece that it came in is as long as a pipe's.
        yield { type: current.type, content: Buffer.from(bytes.subarray(0, current.size)) }
        current = undefined
      }
      held = [bytes.subarray(from)]
      length = bytes.length - from
    }
  }
}

type TreeEntry = { readonly mode: string; readonly name: string; readonly id: Buffer }

function* parseTree(content: Buffer, width: number): Generator<TreeEntry> {
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(0x20, at)
    const nul = content.indexOf(0, at)
    if (space === -1 || nul < space || nul + 1 + width > content.length) return
    const name = content.toString('utf8', space + 1, nul)
    const mode = content.toString('latin1', at, space)
    const id = content.subarray(nul + 1, nul + 1 + width)
    at = nul + 1 + width
    // A name that leads out of the tree is no name of git's.
    if (name !== '' && name !== '.' && name !== '..' && !name.includes('/')) yield { mode, name, id }
  }
}

/** Repositories name objects by 20 bytes or by 32: the id at the line's beginning tells. */
function idBytes(line: string): number {
  return /^[0-9a-f]{64}/.test(line) ? 32 : 20
}

function isPlain(mode: string): boolean {
  return mode === '100644' || mode === '100755' || mode === '100664'
}
