/**
 * The journal as a format: a segment, or a session's folder of them, read to the model. A session without a last line is
 * `running` while one of its writers lives, and `interrupted` after.
 */
import type { Format, ReadItem } from '../formats/format.ts'
import { asBlock } from '../transcript/block.ts'
import type { Damage } from '../transcript/damage.ts'
import type { Entry } from '../transcript/entry.ts'
import { isSafeId, uuidFrom } from '../transcript/ids.ts'
import type { Session } from '../transcript/session.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { JOURNAL } from './format-id.ts'
import { writeJournal } from './format-write.ts'
import { MARK } from './line.ts'
import { mergeStarts } from './merge.ts'
import type { JournalItem, JournalLine } from './reader.ts'
import { changeSession } from './record.ts'
import { TORN_TAIL } from './scan.ts'
import { readStart, type Start } from './start.ts'
import { createUnanswered, readUnfinished, UNFINISHED } from './unanswered.ts'
import { isWriterAlive } from './writer-id.ts'

const HEAD_BYTES = 64 * 1024
const NAME = /(?:^|\/)journal-[^/]+\.jsonl$/

export const journal: Format = {
  id: JOURNAL,
  title: "Hansard's own journal: append-only, checksummed, chained",
  async detect(source) {
    for (const file of await segmentsOf(source)) {
      const at = (await file.head(HEAD_BYTES)).indexOf(MARK)
      if (at === 0) return { confidence: 1, reason: 'begins as a journal line' }
      if (at > 0) return { confidence: 0.9, reason: 'a journal line after something else' }
    }
    return undefined
  },
  async *read(source) {
    const starts: Start[] = []
    for (const file of await segmentsOf(source))
      starts.push(await readStart({ file: file.path, chunks: () => file.chunks() }))
    for (const [id, segments] of bySession(starts, source)) yield* readSession(id, segments, source)
  },
  write: writeJournal,
  /** A session's segments lie together in its folder. */
  unit: ({ path }) => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : path),
}

async function segmentsOf(source: Source): Promise<readonly SourceFile[]> {
  const files = await source.list()
  return source.kind === 'file' ? files : files.filter((file) => NAME.test(file.path))
}

/** Segments that say the same session belong together. One that lost its first line goes with the others of its folder. */
function bySession(starts: readonly Start[], source: Source): ReadonlyMap<string, readonly Start[]> {
  const folders = new Map<string, string>()
  for (const { segment, record } of starts)
    if (record !== undefined) folders.set(folderOf(segment.file), record.session.id)
  const sessions = new Map<string, Start[]>()
  for (const start of starts) {
    const folder = folderOf(start.segment.file)
    const id = start.record?.session.id ?? folders.get(folder) ?? nameOf(folder, source)
    const known = sessions.get(id)
    if (known === undefined) sessions.set(id, [start])
    else known.push(start)
  }
  return sessions
}

function folderOf(file: string): string {
  return file.slice(0, Math.max(0, file.lastIndexOf('/')))
}

function join(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

/** A session whose every first line is lost is called as its folder is. */
function nameOf(folder: string, source: Source): string {
  const path = folder === '' && source.kind === 'folder' ? source.path : folder
  const name = path.slice(path.lastIndexOf('/') + 1)
  return isSafeId(name) ? name : uuidFrom('journal', source.path, folder)
}

async function* readSession(
  id: string,
  starts: readonly Start[],
  source: Source,
): AsyncGenerator<readonly ReadItem[]> {
  const alive = new Set(starts.filter(isAlive).map(({ segment }) => segment.file))
  const calls = createUnanswered()
  const fold = createSessionFold(id, alive)
  for await (const items of mergeStarts(starts)) {
    const batch: ReadItem[] = []
    for (const item of items) fold.take(item, batch)
    for (const item of batch) if (item.type === 'entry') calls.take(item.entry)
    if (batch.length > 0) yield batch
  }
  const last = fold.end()
  if (fold.status() === 'interrupted') {
    const folder = folderOf(starts[0]?.segment.file ?? '')
    const file = source.kind === 'folder' ? await source.find(join(folder, UNFINISHED)) : undefined
    yield calls.end(await readUnfinished(file)).map((entry) => ({ type: 'entry', entry }))
  }
  yield last
}

function isAlive({ record }: Start): boolean {
  return record !== undefined && isWriterAlive(record.writer, record.boot)
}

/** Records into session facts, entries and damage. */
function createSessionFold(
  id: string,
  alive: ReadonlySet<string>,
): {
  take(item: JournalItem, out: ReadItem[]): void
  end(): readonly ReadItem[]
  readonly status: () => Session['status'] | undefined
} {
  let session: Session | undefined
  let ended = false
  /** Damage before the session's first line has to wait for it. */
  let early: ReadItem[] = []

  const say = (facts: Session, out: ReadItem[]): Session => {
    session = facts
    out.push({ type: 'session', session: facts }, ...early)
    early = []
    return facts
  }
  const known = (out: ReadItem[]): Session => session ?? say({ id, status: unendedStatus() }, out)
  const unendedStatus = (): 'running' | 'interrupted' => (alive.size > 0 ? 'running' : 'interrupted')
  const damaged = (damage: Damage, out: ReadItem[]): void => {
    // The last line of a living writer may be on its way.
    if (damage.reason === TORN_TAIL && alive.has(damage.file)) return
    ;(session === undefined ? early : out).push({ type: 'damage', damage })
  }

  const line = (item: JournalLine, out: ReadItem[]): void => {
    const { record } = item
    const withheld = withheldOf(record)
    if (withheld !== undefined) damaged(toDamage('missing', item, withheld), out)
    switch (record.t) {
      case 'entry':
        if (session === undefined) known(out)
        out.push({ type: 'entry', entry: withOrigin(record.entry, item) })
        return
      case 'session':
        // A later segment repeats the facts of the start; what was learnt since stands.
        say(session === undefined ? record.session : changeSession(record.session, session), out)
        // One that begins after the end takes the session up again.
        if (ended) say(changeSession(known(out), { status: 'running', endedAt: null }), out)
        ended = false
        return
      case 'update':
        say(changeSession(known(out), record.session), out)
        return
      case 'end':
        say(changeSession(known(out), record.session), out)
        ended = true
        return
      case 'gap':
        if (record.lost > 0)
          damaged(toDamage('missing', item, `${record.lost} not recorded: ${record.reason}`), out)
        return
      case 'files':
        return
      case 'unknown':
        damaged(toDamage('not-an-entry', item, `a record of a type this version does not know`), out)
    }
  }

  return {
    take(item, out) {
      if (item.ok) line(item, out)
      else damaged(item.damage, out)
    },
    end() {
      const out: ReadItem[] = []
      const facts = known(out)
      // A writer says how the session ended before it finishes the formats' files, and then ends it: either is its word.
      const status = ended || facts.status !== 'running' ? facts.status : unendedStatus()
      if (facts.status !== status) say({ ...facts, status }, out)
      return [...out, ...early]
    },
    status: () => session?.status,
  }
}

/** The facts that its writer could not put into the line, and said so. */
function withheldOf(record: object): string | undefined {
  if (!('withheld' in record) || !Array.isArray(record.withheld) || record.withheld.length === 0)
    return undefined
  const names = record.withheld.filter((name) => typeof name === 'string').join(', ')
  return `facts of the session that no line can hold: ${names.slice(0, 200)}`
}

function withOrigin(entry: Entry, { file, line, byteOffset, byteLength }: JournalLine): Entry {
  // A checksum says that the line is as it was written, not that its writer had the types right.
  const blocks = entry.blocks.map((block) => asBlock(block))
  // The entry was parsed for this item alone; a copy of each would cost a tenth of reading.
  return Object.assign(entry, {
    blocks,
    origin: { format: 'journal', file, record: line, byteOffset, byteLength },
  })
}

function toDamage(
  kind: Damage['kind'],
  { file, line, byteOffset, byteLength }: JournalLine,
  reason: string,
): Damage {
  return { kind, file, line, byteOffset, byteLength, reason }
}
