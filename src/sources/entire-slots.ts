/**
 * What each of Entire's checkpoints holds of each session, out of the trees of its refs. A checkpoint may join several sessions, even
 * of different agents (`0/`, `1/`, …), and lie in two refs (v2: facts in one, raw transcripts in the other): its parts are put together.
 */
import { isSafeId, uuidFrom } from '../transcript/ids.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asString, isObject, parseJson } from '../transcript/json.ts'
import type { EntireRef } from './entire-refs.ts'
import type { Git } from './git-program.ts'
import { type GitBlob, listTrees, readSmallObjects } from './git-trees.ts'

/** One session in one checkpoint. */
export type Slot = {
  readonly session: string
  readonly checkpoint: string
  readonly number: string
  /** When the checkpoint was made. */
  readonly at: string
  /** The transcript's chunks in order; empty where there is none. */
  readonly full: readonly GitBlob[]
  /** What else there is, by name: `metadata.json`, `prompt.txt`, `tasks/<tool use>/agent-x.jsonl`. */
  readonly files: ReadonlyMap<string, GitBlob>
}

export type Slots = {
  /** By time. */
  readonly slots: readonly Slot[]
  /** The checkpoints' own metadata, which speaks of all of their sessions. */
  readonly checkpoints: ReadonlyMap<string, GitBlob>
  /** What else a checkpoint holds that is no session's, by checkpoint and name. */
  readonly beside: ReadonlyMap<string, ReadonlyMap<string, GitBlob>>
}

/** `missed` is told the name of each ref that is damaged. */
export async function readSlots(
  git: Git,
  refs: readonly EntireRef[],
  missed: (ref: string) => void,
): Promise<Slots> {
  const roots = refs.map(({ id, kind }) => (kind === 'shadow' ? `${id}:.entire/metadata` : `${id}^{tree}`))
  const trees = await listTrees(git, roots, (root) => missed(refs[root]?.name ?? ''))
  const times = await commitTimes(git, refs)
  const drafts = new Map<string, Draft>()
  const checkpoints = new Map<string, GitBlob>()
  const beside = new Map<string, Map<string, GitBlob>>()
  for (const [index, ref] of refs.entries()) {
    for (const file of trees[index] ?? []) {
      const place =
        ref.kind === 'shadow' ? inShadow(file.path, ref.label) : inCheckpoints(file.path, ref.label)
      if (place === undefined) continue
      const { checkpoint, number, name, session } = place
      if (number === undefined) {
        if (name === METADATA && !checkpoints.has(checkpoint)) checkpoints.set(checkpoint, file)
        if (name === METADATA) continue
        const others = beside.get(checkpoint) ?? new Map<string, GitBlob>()
        if (!others.has(name)) beside.set(checkpoint, others.set(name, file))
        continue
      }
      const key = JSON.stringify([checkpoint, number, session])
      const draft = drafts.get(key) ?? { checkpoint, number, session, at: times[index], files: new Map() }
      if (!draft.files.has(name)) draft.files.set(name, file)
      drafts.set(key, draft)
    }
  }
  const slots = await withFacts(git, [...drafts.values()])
  return { slots: slots.sort(byTime), checkpoints, beside }
}

type Place = {
  readonly checkpoint: string
  /** Undefined for what belongs to the whole checkpoint. */
  readonly number: string | undefined
  readonly session?: string
  readonly name: string
}

const METADATA = 'metadata.json'
/** `ab/cdef012345`, or a ULID cut in two the same way, and what lies below. */
const SHARDED = /^([0-9A-Za-z]{2}\/(?:[0-9a-f]{10}|[0-9A-Z]{20,}))\/(.+)$/
/** A session's number is short; the second half of a checkpoint's id, which may be all digits, is not. */
const NUMBERED = /^(\d{1,4})\/(.+)$/
/** Of trees that name their checkpoints in another way, what is known by its own name. */
const ELSEWHERE = /^(.*)\/(\d{1,4})\/((?:tasks\/.+\/)?[^/]+)$/
const ABOVE = /^(.*)\/metadata\.json$/

function inCheckpoints(path: string, label: string): Place {
  const [, folder, inner = path] = SHARDED.exec(path) ?? []
  const [, elsewhere, number, name] = (folder === undefined ? ELSEWHERE.exec(path) : undefined) ?? [
    undefined,
    folder,
    ...numberOf(inner),
  ]
  const checkpoint = nameOf(elsewhere, label)
  if (number !== undefined && name !== undefined)
    return { checkpoint, number, name: TODAY.get(name) ?? toChunk(name) }
  const above = folder === undefined ? ABOVE.exec(path)?.[1] : undefined
  return above === undefined
    ? { checkpoint, number: undefined, name: inner }
    : { checkpoint: nameOf(above, label), number: undefined, name: METADATA }
}

function numberOf(path: string): readonly (string | undefined)[] {
  return (NUMBERED.exec(path) ?? []).slice(1)
}

function inShadow(path: string, label: string): Place | undefined {
  const slash = path.indexOf('/')
  if (slash === -1) return undefined
  return { checkpoint: label, number: '0', session: path.slice(0, slash), name: path.slice(slash + 1) }
}

/** `ab/cdef…` is `abcdef…`. The tree of a ref for one checkpoint need not name it. */
function nameOf(folder: string | undefined, label: string): string {
  const name = folder === undefined ? label : folder.replaceAll('/', '')
  return isSafeId(name) ? name : uuidFrom('entire-checkpoint', name)
}

/** What v2 calls them. */
const TODAY: ReadonlyMap<string, string> = new Map([
  ['raw_transcript', 'full.jsonl'],
  ['raw_transcript_hash.txt', 'content_hash.txt'],
  ['full.log', 'full.jsonl'],
])

function toChunk(name: string): string {
  return name.replace(/^(?:raw_transcript|full\.log)\.(\d{1,6})$/, 'full.jsonl.$1')
}

type Draft = Pick<Slot, 'checkpoint' | 'number'> & {
  readonly session: string | undefined
  readonly at: string | undefined
  readonly files: Map<string, GitBlob>
}

/** What counts of a checkpoint's metadata: there may be any number of them, each with all that was done. */
type Facts = { readonly session: string | undefined; readonly at: string | undefined }

async function withFacts(git: Git, drafts: readonly Draft[]): Promise<Slot[]> {
  const named = drafts.filter(({ files }) => files.has('metadata.json'))
  const facts = new Map<Draft, Facts>()
  let at = 0
  const ids = named.map(({ files }) => files.get('metadata.json')?.id ?? '')
  for await (const object of readSmallObjects(git, ids)) {
    const draft = named[at++]
    const value = object?.type === 'blob' ? parseJson(object.content.toString('utf8')) : undefined
    if (draft !== undefined && isObject(value))
      facts.set(draft, { session: asString(value['session_id']), at: parseInstant(value['created_at']) })
  }
  return drafts.flatMap((draft) => {
    const { checkpoint, number, files } = draft
    const said = facts.get(draft)
    const session = toSessionName(said?.session ?? draft.session ?? '', `${checkpoint}-${number}`)
    const when = said?.at ?? draft.at ?? new Date(0).toISOString()
    const full = takeTranscript(files)
    if (full.length === 0 && !files.has('transcript.jsonl') && !files.has('metadata.json')) return []
    return [{ session, checkpoint, number, at: when, full, files }]
  })
}

/** Early builds put the day before the agent's own id: the same session. */
function toSessionName(name: string, otherwise: string): string {
  const plain = name.replace(/^\d{4}-\d{2}-\d{2}-(?=.)/, '')
  if (plain === '') return otherwise
  return isSafeId(plain) ? plain : uuidFrom('entire-session', plain)
}

const CHUNK = /^full\.jsonl\.(\d{1,6})$/

/** Takes its chunks from among the files, which are the others then. */
function takeTranscript(files: Map<string, GitBlob>): readonly GitBlob[] {
  const chunks: { readonly number: number; readonly blob: GitBlob }[] = []
  for (const [name, blob] of files) {
    const number = name === 'full.jsonl' ? 0 : Number(CHUNK.exec(name)?.[1] ?? -1)
    if (number < 0) continue
    chunks.push({ number, blob })
    files.delete(name)
  }
  return chunks.sort((a, b) => a.number - b.number).map(({ blob }) => blob)
}

/** The committers' times; undefined for a commit that cannot be read. */
async function commitTimes(git: Git, refs: readonly EntireRef[]): Promise<readonly (string | undefined)[]> {
  const times: (string | undefined)[] = []
  for await (const object of readSmallObjects(
    git,
    refs.map(({ id }) => id),
  )) {
    const text = object?.type === 'commit' ? object.content.toString('utf8') : ''
    const seconds = Number(/^committer .* (\d{1,11}) [+-]\d{4}$/m.exec(text)?.[1] ?? Number.NaN)
    times.push(Number.isSafeInteger(seconds) ? new Date(seconds * 1000).toISOString() : undefined)
  }
  return times
}

function byTime(a: Slot, b: Slot): number {
  return compare(a.at, b.at) || compare(a.checkpoint, b.checkpoint) || compare(a.number, b.number)
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
