/**
 * Many trees of a repository listed at once, level by level: a handful of processes whatever the number of trees. What cannot be
 * read of them is told and passed over; a tree without an end is refused.
 */
import { HansardError } from '../errors.ts'
import { type Git, GitFailed } from './git-program.ts'

export type GitObject = { readonly type: string; readonly content: Buffer }
export type GitBlob = { readonly id: string; readonly sizeBytes: number }
export type TreeFile = GitBlob & { readonly path: string }

const MAX_FILES = 500_000
const MAX_DEPTH = 8
/** A tree of a hundred thousand names. */
const MAX_OBJECT_BYTES = 16 * 1024 * 1024
/** A repository with more damage than this is not worth a process for each. */
const MAX_FAILURES = 100

/**
 * The objects asked for, in that order: undefined for one that is missing, damaged, or too large. Small ones only: each is held.
 * `lines` are ids, or what git takes for them: `<commit>^{tree}`, `<commit>:folder`.
 */
export async function* readSmallObjects(
  git: Git,
  lines: readonly string[],
): AsyncGenerator<GitObject | undefined> {
  let at = 0
  for (let failures = 0; at < lines.length && failures < MAX_FAILURES;) {
    try {
      for await (const object of parseObjects(git.feed(lines.slice(at), 'cat-file', '--batch'))) {
        at += 1
        yield object
      }
      if (at < lines.length) throw new GitFailed('fewer objects than were asked for')
    } catch (error) {
      if (!(error instanceof GitFailed)) throw error
      // It ends at a damaged object: the next begins behind it.
      failures += 1
      at += 1
      yield undefined
    }
  }
  for (; at < lines.length; at += 1) yield undefined
}

/** The plain files of each tree, sorted by path; `missed` is told how many trees could not be read. No links, no submodules. */
export async function listTrees(
  git: Git,
  roots: readonly string[],
  missed: (root: number) => void,
): Promise<readonly (readonly TreeFile[])[]> {
  const found: { root: number; path: string; id: string }[] = []
  let level = roots.map((line, root) => ({ root, path: '', line }))
  for (let depth = 0; level.length > 0 && depth <= MAX_DEPTH; depth += 1) {
    const next: typeof level = []
    let at = 0
    const lines = level.map(({ line }) => line)
    for await (const object of readSmallObjects(git, lines)) {
      const tree = level[at++]
      if (tree === undefined) break
      if (object?.type !== 'tree') {
        missed(tree.root)
        continue
      }
      for (const { mode, name, id } of parseTree(object.content, idBytes(tree.line))) {
        const path = tree.path === '' ? name : `${tree.path}/${name}`
        if (mode === '40000') next.push({ root: tree.root, path, line: id })
        else if (isPlain(mode)) found.push({ root: tree.root, path, id })
        if (found.length + next.length > MAX_FILES)
          throw new HansardError('too-large', `trees of more than ${MAX_FILES} files`)
      }
    }
    level = next
  }
  for (const { root } of level) missed(root)
  const sizes = await sizesOf(git, new Set(found.map(({ id }) => id)))
  const lists: TreeFile[][] = roots.map(() => [])
  for (const { root, path, id } of found) lists[root]?.push({ path, id, sizeBytes: sizes.get(id) ?? 0 })
  for (const list of lists) list.sort((a, b) => (a.path < b.path ? -1 : 1))
  return lists
}

async function sizesOf(git: Git, ids: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>()
  let held = ''
  try {
    for await (const piece of git.feed(ids, 'cat-file', '--batch-check=%(objectname) %(objectsize)')) {
      const lines = (held + piece.toString('latin1')).split('\n')
      held = lines.pop() ?? ''
      for (const line of lines) {
        const [, id, size] = /^([0-9a-f]+) (\d+)$/.exec(line) ?? []
        if (id !== undefined) sizes.set(id, Number(size))
      }
    }
  } catch (error) {
    // Whoever reads the damaged object is told; here only its size is missing.
    if (!(error instanceof GitFailed)) throw error
  }
  return sizes
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

type TreeEntry = { readonly mode: string; readonly name: string; readonly id: string }

function* parseTree(content: Buffer, width: number): Generator<TreeEntry> {
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(0x20, at)
    const nul = content.indexOf(0, at)
    if (space === -1 || nul < space || nul + 1 + width > content.length) return
    const name = content.toString('utf8', space + 1, nul)
    const mode = content.toString('latin1', at, space)
    const id = content.toString('hex', nul + 1, nul + 1 + width)
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
