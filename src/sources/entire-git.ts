/**
 * Entire's checkpoints inside a git repository as a folder of sessions: `<session>/full.jsonl` is the transcript of its newest
 * checkpoint, `older/<checkpoint>/` those that say something else, `checkpoints/<checkpoint>/` what each said besides. Nothing is
 * checked out and nothing of the repository is run.
 */
import { posix } from 'node:path'
import { isHansardError } from '../errors.ts'
import type { Damage } from '../transcript/damage.ts'
import type { SourceFile } from '../transcript/source.ts'
import { findBeginnings } from './entire-prefix.ts'
import { listEntireRefs, stampOf } from './entire-refs.ts'
import { readSlots, type Slot, type Slots } from './entire-slots.ts'
import { createGitObjects, type GitObjects } from './git-objects.ts'
import { type Git, GitFailed, openGitProgram } from './git-program.ts'
import type { GitBlob } from './git-trees.ts'
import { ListedFile, type Listed, type OpenListed } from './listed-file.ts'
import type { OpenSource } from './open.ts'
import { toSourceFile } from './source-file.ts'

export type EntireSource = OpenSource & {
  /** Names the commits of all of Entire's refs: the same stamp, the same content. */
  readonly stamp: string
}

/** Undefined where there is no repository, or none of Entire's refs in it. Asks git for the refs, and for no more until it is read. */
export async function openEntireRepository(repository: string): Promise<EntireSource | undefined> {
  const git = await openProgram(repository)
  const refs = git === undefined ? [] : await listEntireRefs(git, repository)
  if (git === undefined || refs.length === 0) return undefined
  const damage = new Map<string, Damage>()
  const report: Report = (kind, file, byteOffset, reason) =>
    void damage.set(file, { kind, file, byteOffset, byteLength: 0, reason })
  let listed: Promise<readonly SourceFile[]> | undefined
  let byPath: Promise<ReadonlyMap<string, SourceFile>> | undefined
  const list = (): Promise<readonly SourceFile[]> =>
    (listed ??= readSlots(git, refs, (ref) => report('missing', ref, 0, 'a tree that cannot be read')).then(
      (slots) => toFiles(slots, createGitObjects(git), report),
    ))
  return {
    path: repository,
    kind: 'folder',
    stamp: stampOf(refs),
    list,
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

async function toFiles(
  { slots, checkpoints, beside }: Slots,
  objects: GitObjects,
  report: Report,
): Promise<readonly SourceFile[]> {
  const files = new Map<string, SourceFile>()
  const open: OpenListed<readonly string[]> = (file, ids) => toFile(file, ids, { objects, report })
  const add: Add = (path, blobs, modifiedAt) => {
    if (files.has(path)) return
    const sizeBytes = blobs.reduce((total, { sizeBytes }) => total + sizeBytes, 0)
    files.set(path, new ListedFile({ path, sizeBytes, modifiedAt }, idsOf(blobs), open))
  }
  const sessions = new Map<string, Slot[]>()
  for (const slot of slots) {
    const known = sessions.get(slot.session)
    if (known === undefined) sessions.set(slot.session, [slot])
    else known.push(slot)
  }
  const told = new Set<string>()
  for (const [session, own] of sessions) {
    for (const [path, slot] of await transcriptsOf(own, objects)) {
      add(`${session}/${path}full.jsonl`, slot.full, slot.at)
      const hash = path === '' ? slot.files.get('content_hash.txt') : undefined
      if (hash !== undefined) add(`${session}/content_hash.txt`, [hash], slot.at)
    }
    // Newest first: where two checkpoints have the same subagent's log, the later one has more.
    const firsts = firstNumbers(own)
    for (const slot of own.toReversed()) {
      const { checkpoint, number, at } = slot
      const isTwice = firsts.get(checkpoint) !== number
      const folder = `${session}/checkpoints/${checkpoint}${isTwice ? `-${number}` : ''}`
      for (const [name, blob] of slot.files) {
        if (name.startsWith('tasks/')) add(`${session}/${name}`, [blob], at)
        else if (KEPT.has(name)) add(`${folder}/${name}`, [blob], at)
        else if (!SAID.has(name)) add(`${folder}/other/${number}/${name}`, [blob], at)
      }
      if (told.has(checkpoint)) continue
      told.add(checkpoint)
      const above = checkpoints.get(checkpoint)
      if (above !== undefined) add(`${folder}/checkpoint.json`, [above], at)
      for (const [name, blob] of beside.get(checkpoint) ?? []) add(`${folder}/other/${name}`, [blob], at)
    }
    addCompact(session, own, add)
  }
  return [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

type Add = (path: string, blobs: readonly GitBlob[], modifiedAt: string) => void

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
async function transcriptsOf(own: readonly Slot[], objects: GitObjects): Promise<ReadonlyMap<string, Slot>> {
  const all = own.filter(({ full }) => full.length > 0)
  const newest = all.at(-1)
  if (newest === undefined) return new Map()
  const older = all.slice(0, -1).filter((slot) => !isSame(slot, newest))
  const apart = await notBeginningsOf(newest, older, objects)
  const kept: [string, Slot][] = [['', newest]]
  for (const [index, slot] of apart.entries()) {
    const next = apart[index + 1]
    // Before it was rewritten, it grew as well.
    if (
      next !== undefined &&
      (isSame(slot, next) || (await notBeginningsOf(next, [slot], objects)).length === 0)
    )
      continue
    kept.push([`older/${slot.checkpoint}${slot.number === '0' ? '' : `-${slot.number}`}/`, slot])
  }
  return new Map(kept)
}

async function notBeginningsOf(
  whole: Slot,
  others: readonly Slot[],
  objects: GitObjects,
): Promise<readonly Slot[]> {
  if (others.length === 0) return []
  try {
    const found = await findBeginnings(
      joined(idsOf(whole.full), objects),
      others.map(({ full }) => full),
    )
    return others.filter((_, index) => found[index] !== true)
  } catch (error) {
    // What cannot be read to its end is no proof that another is its beginning.
    if (error instanceof GitFailed) return others
    throw error
  }
}

const idsOf = (blobs: readonly GitBlob[]): readonly string[] => blobs.map(({ id }) => id)

function isSame(a: Slot, b: Slot): boolean {
  return a.full.length === b.full.length && a.full.every(({ id }, index) => id === b.full[index]?.id)
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
