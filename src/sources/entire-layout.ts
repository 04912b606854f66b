/**
 * Where the files of a repository's checkpoints lie in the folder of sessions that is made of them: `<session>/full.jsonl` is the
 * transcript of the newest checkpoint, `older/<checkpoint>/` those that say something else, `checkpoints/<checkpoint>/` what each said
 * besides. A session that is as it was is known by one digest, without a look at any content.
 */
import { createHash } from 'node:crypto'
import { findBeginnings } from './entire-prefix.ts'
import type { Slot, Slots } from './entire-slots.ts'
import type { GitBlobs } from './git-blobs.ts'
import { GitFailed } from './git-program.ts'

export type EntireSession = {
  readonly name: string
  /** Names all that its checkpoints hold: the same digest, the same files. */
  readonly digest: string
  files(): Promise<readonly EntireFile[]>
}

/** `blobs`: its chunks in order, by number. */
export type EntireFile = {
  readonly path: string
  readonly blobs: readonly number[]
  readonly modifiedAt: string
}

/** The bytes of chunks, joined. */
export type ReadBlobs = (blobs: readonly number[]) => AsyncIterable<Buffer>

/** By their first checkpoints. */
export function* layOut(all: Slots, read: ReadBlobs): Generator<EntireSession> {
  const sessions = new Map<string, Slot[]>()
  for (const slot of all.slots) {
    const known = sessions.get(slot.session)
    if (known === undefined) sessions.set(slot.session, [slot])
    else known.push(slot)
  }
  const told = new Set<string>()
  for (const [name, own] of sessions) {
    /** Checkpoints whose own files go with this session: the first of theirs. */
    const first = new Set<string>()
    for (const { checkpoint } of own) {
      if (told.has(checkpoint)) continue
      told.add(checkpoint)
      first.add(checkpoint)
    }
    const session = { name, own, first }
    yield { name, digest: digestOf(session, all), files: () => filesOf(session, all, read) }
  }
}

type Session = {
  readonly name: string
  /** By time. */
  readonly own: readonly Slot[]
  readonly first: ReadonlySet<string>
}

function digestOf({ own, first }: Session, { blobs, checkpoints, beside }: Slots): string {
  const hash = createHash('sha256')
  for (const { checkpoint, number, at, full, files } of own) {
    const isFirst = first.has(checkpoint)
    const above = isFirst ? checkpoints.get(checkpoint) : undefined
    const named = (all: ReadonlyMap<string, number>): readonly string[] =>
      [...all].flatMap(([name, blob]) => [name, blobs.id(blob)])
    const said = [
      [checkpoint, number, at, above === undefined ? '' : blobs.id(above)],
      full.map((blob) => blobs.id(blob)),
      named(files),
      isFirst ? named(beside.get(checkpoint) ?? new Map()) : [],
    ]
    hash.update(JSON.stringify(said))
  }
  return hash.digest('hex')
}

async function filesOf(
  { name: session, own, first }: Session,
  { blobs, checkpoints, beside }: Slots,
  read: ReadBlobs,
): Promise<readonly EntireFile[]> {
  const files = new Map<string, EntireFile>()
  const add: Add = (path, blobs, modifiedAt) => {
    if (!files.has(path)) files.set(path, { path, blobs, modifiedAt })
  }
  for (const [path, slot] of await transcriptsOf(own, blobs, read)) {
    add(`${session}/${path}full.jsonl`, slot.full, slot.at)
    const hash = path === '' ? slot.files.get('content_hash.txt') : undefined
    if (hash !== undefined) add(`${session}/content_hash.txt`, [hash], slot.at)
  }
  // Newest first: where two checkpoints have the same subagent's log, the later one has more.
  const told = new Set<string>()
  const firsts = firstNumbers(own)
  for (const { checkpoint, number, at, files } of own.toReversed()) {
    const isTwice = firsts.get(checkpoint) !== number
    const folder = `${session}/checkpoints/${checkpoint}${isTwice ? `-${number}` : ''}`
    for (const [name, blob] of files) {
      if (name.startsWith('tasks/')) add(`${session}/${name}`, [blob], at)
      else if (KEPT.has(name)) add(`${folder}/${name}`, [blob], at)
      else if (!SAID.has(name)) add(`${folder}/other/${number}/${name}`, [blob], at)
    }
    if (!first.has(checkpoint) || told.has(checkpoint)) continue
    told.add(checkpoint)
    const above = checkpoints.get(checkpoint)
    if (above !== undefined) add(`${folder}/checkpoint.json`, [above], at)
    for (const [name, blob] of beside.get(checkpoint) ?? []) add(`${folder}/other/${name}`, [blob], at)
  }
  addCompact(session, own, add)
  return [...files.values()]
}

type Add = (path: string, blobs: readonly number[], modifiedAt: string) => void

/** The compact transcript was made from the full one, and counts where there is none, or none as new. */
function addCompact(session: string, own: readonly Slot[], add: Add): void {
  const compact = own.findLast(({ files }) => files.has('transcript.jsonl'))
  const blob = compact?.files.get('transcript.jsonl')
  if (compact === undefined || blob === undefined) return
  const full = own.findLast(({ full }) => full.length > 0)
  if (full === undefined) add(`${session}/transcript.jsonl`, [blob], compact.at)
  else if (own.indexOf(compact) > own.indexOf(full))
    add(`${session}/checkpoints/${compact.checkpoint}/transcript.jsonl`, [blob], compact.at)
}

const KEPT: ReadonlySet<string> = new Set(['metadata.json', 'prompt.txt', 'context.md', 'summary.txt'])
/** Laid out elsewhere, or a hash of what is. */
const SAID: ReadonlySet<string> = new Set(['content_hash.txt', 'transcript.jsonl', 'transcript_hash.txt'])

/** Of each checkpoint the least number that it has the session under. */
function firstNumbers(own: readonly Slot[]): ReadonlyMap<string, string> {
  const firsts = new Map<string, string>()
  for (const { checkpoint, number } of own) {
    const known = firsts.get(checkpoint)
    if (known === undefined || number < known) firsts.set(checkpoint, number)
  }
  return firsts
}

/** The newest transcript, under no folder, and the older ones that are not its beginning. */
async function transcriptsOf(
  own: readonly Slot[],
  blobs: GitBlobs,
  read: ReadBlobs,
): Promise<ReadonlyMap<string, Slot>> {
  const isSame = (a: Slot, b: Slot): boolean =>
    a.full.length === b.full.length && a.full.every((blob, at) => isAlike(blobs, blob, b.full[at]))
  const all = own.filter(({ full }) => full.length > 0)
  const newest = all.at(-1)
  if (newest === undefined) return new Map()
  const older = all.slice(0, -1).filter((slot) => !isSame(slot, newest))
  const apart = await notBeginningsOf(newest, older, blobs, read)
  const kept: [string, Slot][] = [['', newest]]
  for (const [index, slot] of apart.entries()) {
    const next = apart[index + 1]
    // Before it was rewritten, it grew as well.
    if (
      next !== undefined &&
      (isSame(slot, next) || (await notBeginningsOf(next, [slot], blobs, read)).length === 0)
    )
      continue
    kept.push([`older/${slot.checkpoint}${slot.number === '0' ? '' : `-${slot.number}`}/`, slot])
  }
  return new Map(kept)
}

function isAlike(blobs: GitBlobs, one: number, other: number | undefined): boolean {
  return one === other || (other !== undefined && blobs.id(one) === blobs.id(other))
}

/** Looked for in one pass over the whole one: more of them, and it is read again. Each that is under way takes some memory. */
const TRANSCRIPTS_A_PASS = 2000

async function notBeginningsOf(
  whole: Slot,
  others: readonly Slot[],
  blobs: GitBlobs,
  read: ReadBlobs,
): Promise<readonly Slot[]> {
  const toBlobs = (full: readonly number[]) =>
    full.map((blob) => ({ id: blobs.id(blob), sizeBytes: blobs.size(blob) }))
  const apart: Slot[] = []
  for (let first = 0; first < others.length; first += TRANSCRIPTS_A_PASS) {
    const some = others.slice(first, first + TRANSCRIPTS_A_PASS)
    try {
      const found = await findBeginnings(
        read(whole.full),
        some.map(({ full }) => toBlobs(full)),
      )
      apart.push(...some.filter((_, at) => found[at] !== true))
    } catch (error) {
      // What cannot be read to its end is no proof that another is its beginning.
      if (!(error instanceof GitFailed)) throw error
      apart.push(...some)
    }
  }
  return apart
}
