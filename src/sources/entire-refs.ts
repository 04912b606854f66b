/**
 * Where Entire keeps checkpoints in a repository: one branch (v1), two refs (v2) with generations of raw transcripts, a ref for each
 * checkpoint (the newest), and shadow branches with what is not yet committed. Named by refs alone: no object is read here.
 */
import { createHash } from 'node:crypto'
import { HansardError } from '../errors.ts'
import { type Git, GitFailed } from './git-program.ts'

export type EntireRef = {
  /** The commit's id. */
  readonly id: string
  readonly name: string
  readonly kind: 'checkpoints' | 'shadow'
  /** What a checkpoint is called whose tree does not say: the ref's own last name. */
  readonly label: string
}

/** Each has a tree of several files, of which there may be `MAX_FILES`. */
const MAX_REFS = 200_000
/** No name of git's is so long. */
const MAX_LINE_BYTES = 64 * 1024
const SHADOW = /^refs\/heads\/entire\/([0-9a-f]{7,40}(?:-[0-9A-Za-z]+)?)$/
const CHECKPOINTS =
  /^refs\/(?:heads\/|remotes\/[^/]+\/)?entire\/checkpoints\/(?:v1|v2\/main|v2\/full\/[\w-]+|[0-9A-Za-z]{2}\/[0-9A-Za-z]+)$/

/** In the order of trust: where two say different things of one checkpoint, the first is believed. Empty where there are none. */
export async function listEntireRefs(git: Git, repository: string): Promise<readonly EntireRef[]> {
  const patterns = ['refs/entire/', 'refs/heads/entire/', 'refs/remotes/*/entire/checkpoints/v1']
  const refs: EntireRef[] = []
  try {
    const said = git.run('for-each-ref', '--format=%(objectname) %(refname)', ...patterns)
    for await (const line of linesOf(said)) {
      const ref = toRef(line)
      if (ref !== undefined) refs.push(ref)
      if (refs.length > MAX_REFS)
        throw new HansardError('too-large', `${repository} has more than ${MAX_REFS} refs of Entire's`)
    }
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    throw new HansardError('io', `the refs of ${repository} cannot be read (${error.message})`, {
      cause: error,
    })
  }
  return refs.sort((a, b) => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1))
}

/** Without holding all of them: a repository may have a ref for each checkpoint. */
async function* linesOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let held: Buffer = Buffer.alloc(0)
  for await (const piece of pieces) {
    const bytes = held.length === 0 ? piece : Buffer.concat([held, piece])
    let from = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      yield bytes.toString('utf8', from, end)
      from = end + 1
    }
    held = bytes.subarray(from)
    if (held.length > MAX_LINE_BYTES) throw new GitFailed('a name without an end')
  }
}

const NEWLINE = 0x0a

function toRef(line: string): EntireRef | undefined {
  const [, id, name] = /^([0-9a-f]{40,64}) (\S+)$/.exec(line) ?? []
  if (id === undefined || name === undefined) return undefined
  const shadow = SHADOW.exec(name)?.[1]
  if (shadow !== undefined) return { id, name, kind: 'shadow', label: shadow }
  if (!CHECKPOINTS.test(name)) return undefined
  return { id, name, kind: 'checkpoints', label: name.slice(name.lastIndexOf('/') + 1) }
}

/** The same as long as no ref moved. */
export function stampOf(refs: readonly EntireRef[]): string {
  const hash = createHash('sha256')
  for (const { id, name } of [...refs].sort((a, b) => (a.name < b.name ? -1 : 1)))
    hash.update(`${id} ${name}\n`)
  return `entire:${hash.digest('hex')}`
}

function rank(name: string): number {
  if (name.startsWith('refs/heads/entire/checkpoints/')) return 0
  if (name.startsWith('refs/entire/checkpoints/v2/main')) return 2
  if (name.startsWith('refs/entire/checkpoints/v2/full/current')) return 3
  if (name.startsWith('refs/entire/checkpoints/v2/')) return 4
  if (name.startsWith('refs/entire/')) return 1
  return name.startsWith('refs/remotes/') ? 5 : 6
}
