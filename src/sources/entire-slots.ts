/**
 * What each of Entire's checkpoints holds of each session, out of the trees of its refs. A checkpoint may join several sessions, even
 * of different agents (`0/`, `1/`, …), and lie in two refs (v2: facts in one, raw transcripts in the other): its parts are put together.
 */
import { isSafeId, uuidFrom } from '../transcript/ids.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asString, isObject, parseJson } from '../transcript/json.ts'
import type { EntireRef } from './entire-refs.ts'
import type { Git } from './git-program.ts'
import { createGitBlobs, type GitBlobs } from './git-blobs.ts'
import { listTrees, readSmallObjects } from './git-trees.ts'

/** One session in one checkpoint. */
export type Slot = {
  readonly session: string
  readonly checkpoint: string
  readonly number: string
  /** When the checkpoint was made. */
  readonly at: string
  /** The transcript's chunks in order, by number; empty where there is none. */
  readonly full: readonly number[]
  /** What else there is, by name: `metadata.json`, `prompt.txt`, `tasks/<tool use>/agent-x.jsonl`. */
  readonly files: ReadonlyMap<string, number>
}

export type Slots = {
  /** What is meant by a number. */
  readonly blobs: GitBlobs
  /** By time. */
  readonly slots: readonly Slot[]
  /** The checkpoints' own metadata, which speaks of all of their sessions. */
  readonly checkpoints: ReadonlyMap<string, number>
  /** What else a checkpoint holds that is no session's, by checkpoint and name. */
  readonly beside: ReadonlyMap<string, ReadonlyMap<string, number>>
}

/** `missed` is told the name of each ref that is damaged. */
export async function readSlots(
  git: Git,
  refs: readonly EntireRef[],
  missed: (ref: string) => void,
): Promise<Slots> {
  const blobs = createGitBlobs()
  const drafts = new Map<string, Draft>()
  const checkpoints = new Map<string, number>()
  const beside = new Map<string, Map<string, number>>()
  const only = createOnly()
  const times = await commitTimes(git, refs)
  const trees = listTrees(git, rootsOf(refs), { blobs, missed: (root) => missed(refs[root]?.name ?? '') })
  for await (const found of trees) {
    for (const { root, path, blob } of found) {
      const ref = refs[root]
      if (ref === undefined) continue
      const place = ref.kind === 'shadow' ? inShadow(path, ref.label) : inCheckpoints(path, ref.label)
      if (place === undefined) continue
      const { checkpoint, number, session } = place
      const name = only(place.name)
      if (number === undefined) {
        if (name === METADATA && !checkpoints.has(checkpoint)) checkpoints.set(checkpoint, blob)
        if (name === METADATA) continue
        const others = beside.get(checkpoint) ?? new Map<string, number>()
        if (!others.has(name)) beside.set(checkpoint, others.set(name, blob))
        continue
      }
      const key = JSON.stringify([checkpoint, number, session])
      const known = drafts.get(key)
      const draft = known ?? { checkpoint, number: only(number), session, at: times[root], files: new Map() }
      if (known === undefined) drafts.set(key, draft)
      if (!draft.files.has(name)) draft.files.set(name, blob)
    }
  }
  const slots = await withFacts(git, [...drafts.values()], blobs)
  return { blobs, slots: slots.sort(byTime), checkpoints, beside }
}

function* rootsOf(refs: readonly EntireRef[]): Generator<string> {
  for (const { id, kind } of refs) yield kind === 'shadow' ? `${id}:.entire/metadata` : `${id}^{tree}`
}

/** The same string for the same text: nearly all files have the same few names, and each would hold on to the path it was cut from. */
function createOnly(): (text: string) => string {
  const all = new Map<string, string>()
  return (text) => {
    const known = all.get(text)
    if (known !== undefined) return known
    all.set(text, text)
    return text
  }
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
  readonly files: Map<string, number>
}

/** What counts of a checkpoint's metadata: there may be any number of them, each with all that was done. */
type Facts = { readonly session: string | undefined; readonly at: string | undefined }

async function withFacts(git: Git, drafts: readonly Draft[], blobs: GitBlobs): Promise<Slot[]> {
  function* named(): Generator<Draft> {
    for (const draft of drafts) if (draft.files.has(METADATA)) yield draft
  }
  function* ids(): Generator<string> {
    for (const { files } of named()) yield blobs.id(files.get(METADATA) ?? 0)
  }
  const only = createOnly()
  const facts = new Map<Draft, Facts>()
  const asked = named()
  for await (const object of readSmallObjects(git, ids())) {
    const draft = asked.next().value
    const value = object?.type === 'blob' ? parseJson(object.content.toString('utf8')) : undefined
    if (draft === undefined || !isObject(value)) continue
    const session = asString(value['session_id'])
    facts.set(draft, { session: session && only(session), at: parseInstant(value['created_at']) })
  }
  return drafts.flatMap((draft) => {
    const { checkpoint, number, files } = draft
    const said = facts.get(draft)
    const session = toSessionName(said?.session ?? draft.session ?? '', `${checkpoint}-${number}`)
    const when = said?.at ?? draft.at ?? new Date(0).toISOString()
    const full = takeTranscript(files)
    if (full.length === 0 && !files.has('transcript.jsonl') && !files.has(METADATA)) return []
    return [{ session: only(session), checkpoint, number, at: when, full, files }]
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
function takeTranscript(files: Map<string, number>): readonly number[] {
  const chunks: { readonly number: number; readonly blob: number }[] = []
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
  function* ids(): Generator<string> {
    for (const { id } of refs) yield id
  }
  for await (const object of readSmallObjects(git, ids())) {
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
