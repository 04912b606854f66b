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

const MAX_BYTES = 64 * 1024 * 1024
const SHADOW = /^refs\/heads\/entire\/([0-9a-f]{7,40}(?:-[0-9A-Za-z]+)?)$/
const CHECKPOINTS =
  /^refs\/(?:heads\/|remotes\/[^/]+\/)?entire\/checkpoints\/(?:v1|v2\/main|v2\/full\/[\w-]+|[0-9A-Za-z]{2}\/[0-9A-Za-z]+)$/

/** In the order of trust: where two say different things of one checkpoint, the first is believed. Empty where there are none. */
export async function listEntireRefs(git: Git, repository: string): Promise<readonly EntireRef[]> {
  const patterns = ['refs/entire/', 'refs/heads/entire/', 'refs/remotes/*/entire/checkpoints/v1']
  let said: string
  try {
    said = await git.text(MAX_BYTES, 'for-each-ref', '--format=%(objectname) %(refname)', ...patterns)
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    throw new HansardError('io', `the refs of ${repository} cannot be read (${error.message})`, {
      cause: error,
    })
  }
  const refs = said.split('\n').flatMap((line): EntireRef[] => {
    const [, id, name] = /^([0-9a-f]{40,64}) (\S+)$/.exec(line) ?? []
    if (id === undefined || name === undefined) return []
    const shadow = SHADOW.exec(name)?.[1]
    if (shadow !== undefined) return [{ id, name, kind: 'shadow', label: shadow }]
    if (!CHECKPOINTS.test(name)) return []
    return [{ id, name, kind: 'checkpoints', label: name.slice(name.lastIndexOf('/') + 1) }]
  })
  return refs.sort((a, b) => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1))
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
