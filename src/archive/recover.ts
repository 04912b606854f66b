/**
 * Finishes what a crash left. Segments with damage are repaired, their damaged bytes kept; a session whose writer is gone is given
 * its last line; and the formats that were being written live are made whole by the same fold over the journal.
 */
import { HansardError, messageOf } from '../errors.ts'
import { formats } from '../formats/index.ts'
import type { WriteContext } from '../formats/format.ts'
import { readJournal } from '../journal/reader.ts'
import type { JournalRecord, LiveFormat } from '../journal/record.ts'
import { repairJournal, type Repair } from '../journal/repair.ts'
import { isWriterAlive } from '../journal/writer-id.ts'
import { openJournal } from '../journal/writer.ts'
import type { Session } from '../transcript/session.ts'
import { VERSION } from '../version.ts'
import type { Archive } from './archive.ts'
import { readChunks } from './bytes.ts'
import { createCarryOut } from './carry-out.ts'
import { readThrough } from './facts.ts'
import { readSession } from './read-session.ts'

export type Recovered = {
  readonly id: string
  /** `running`: its writer lives, and nothing was done. `whole`: there was nothing to do. */
  readonly outcome: 'running' | 'whole' | 'recovered'
  readonly session: Session
  readonly entries: number
  readonly repairs: readonly Repair[]
  readonly formats: readonly RebuiltFormat[]
}

export type RebuiltFormat = {
  readonly format: string
  readonly written: readonly string[]
  readonly error?: string
}

export async function recoverSession(archive: Archive, id: string): Promise<Recovered> {
  const before = await scan(archive, id)
  const { session, entries } = await readThrough(archive, id)
  const untouched = { id, session, entries, repairs: [], formats: [] }
  if (before.alive) return { ...untouched, outcome: 'running' }
  // Lines that are missing leave nothing to repair: the chain goes on showing that they were there.
  const repairs = before.damaged
    .map((path) => repairJournal(archive.files, path))
    .filter(({ changed }) => changed)
  if (before.ended && repairs.length === 0 && before.behind.length === 0)
    return { ...untouched, outcome: 'whole' }
  if (!before.ended) await writeEnd(archive, id, toInterrupted(session))
  const onlyBehind = before.ended && repairs.length === 0
  const rebuilt = await rebuildFormats(archive, id, onlyBehind ? { only: before.behind } : {})
  // The end is said again without what was behind, so that the next recovery finds nothing to do.
  const failed = rebuilt.flatMap(({ format, error }) => (error === undefined ? [] : [format]))
  if (before.behind.length > 0 || failed.length > 0) await writeEnd(archive, id, {}, failed)
  const after = await readThrough(archive, id)
  return {
    id,
    outcome: 'recovered',
    session: after.session,
    entries: after.entries,
    repairs,
    formats: rebuilt,
  }
}

/** The formats' files from the journal, whatever state they are in. One that fails does not keep the others. */
async function rebuildFormats(
  archive: Archive,
  id: string,
  { only }: { readonly only?: readonly string[] } = {},
): Promise<readonly RebuiltFormat[]> {
  const { live, claims } = await scan(archive, id)
  const rebuilt: RebuiltFormat[] = []
  for (const one of live) {
    if (only !== undefined && !only.includes(one.id)) continue
    try {
      rebuilt.push({
        format: one.id,
        written: await rebuild(archive, id, one, claims.get(one.id) ?? new Set()),
      })
    } catch (error) {
      rebuilt.push({
        format: one.id,
        written: [],
        error: messageOf(error),
      })
    }
  }
  return rebuilt
}

async function rebuild(
  archive: Archive,
  id: string,
  live: LiveFormat,
  ours: ReadonlySet<string>,
): Promise<readonly string[]> {
  const write = formats.find((format) => format.id === live.id)?.write
  if (write === undefined) throw new HansardError('unknown-format', `no such format: ${live.id}`)
  const { session } = await readThrough(archive, id)
  const { endedAt: _, totals: __, error: ___, ...begun } = session
  const out = createCarryOut({
    files: archive.files,
    root: live.root,
    way: 'staged',
    ours,
    ignored: write.ignored(session),
  })
  const context: WriteContext = {
    taken: (path) => out.taken(path),
    lost: () => {},
    filled: () => {},
    version: VERSION,
  }
  try {
    const writing = write.begin({ ...begun, status: 'running' }, context)
    out.run(writing.start())
    for await (const items of readSession(archive, id)) {
      for (const item of items) if (item.type === 'entry') out.run(writing.entry(item.entry))
    }
    out.run(writing.end(session))
    return out.finish()
  } catch (error) {
    out.abandon()
    throw error
  }
}

/** What the raw records say that the model does not: which formats were live, which files are theirs, who wrote, and how it ended. */
async function scan(archive: Archive, id: string): Promise<Scan> {
  const live = new Map<string, LiveFormat>()
  const claims = new Map<string, Set<string>>()
  const damaged: string[] = []
  let last: Extract<JournalRecord, { t: 'end' }> | undefined
  let alive = false
  for (const path of archive.segments(id)) {
    let isDamaged = false
    for await (const items of readJournal(readChunks(archive.files, path), path)) {
      for (const item of items) {
        if (!item.ok) {
          isDamaged = true
          continue
        }
        // Records of types we do not know are kept in the file and say nothing here.
        const record = item.record as JournalRecord
        if (record.t === 'end' && record.at >= (last?.at ?? '')) last = record
        if (record.t === 'files')
          claims.set(record.format, (claims.get(record.format) ?? new Set()).add(record.path))
        if (record.t !== 'session') continue
        alive ||= isWriterAlive(record.writer, record.boot)
        for (const one of record.formats ?? []) live.set(one.id, one)
      }
    }
    if (isDamaged) damaged.push(path)
  }
  const ended = last !== undefined
  const behind = last?.behind ?? []
  return { live: [...live.values()], claims, damaged, ended, behind, alive: alive && !ended }
}

type Scan = {
  readonly live: readonly LiveFormat[]
  readonly claims: ReadonlyMap<string, ReadonlySet<string>>
  readonly damaged: readonly string[]
  readonly ended: boolean
  readonly behind: readonly string[]
  readonly alive: boolean
}

/** What the dead writer would have said. */
function toInterrupted(session: Session): Partial<Session> {
  return { status: 'interrupted', error: session.error ?? 'the process ended before the session did' }
}

/** A last line in a segment of its own: a writer's file is only ever its own. */
async function writeEnd(
  archive: Archive,
  id: string,
  facts: Partial<Session>,
  behind: readonly string[] = [],
): Promise<void> {
  const { session, entries, lastAt } = await readThrough(archive, id)
  const { totals, status, error, endedAt = lastAt ?? session.startedAt, stopReason, ...begun } = session
  const ending: Partial<Session> = {
    status,
    ...(error !== undefined && { error }),
    ...(stopReason !== undefined && { stopReason }),
    ...(endedAt !== undefined && { endedAt }),
    ...(totals && { totals }),
    ...facts,
  }
  const journal = openJournal({
    files: archive.files,
    folder: archive.sessionFolder(id),
    first: { session: { ...begun, status: 'running' }, by: `hansard/${VERSION} recover` },
  })
  const counts = { entries, lines: 1 }
  journal.append({
    t: 'end',
    session: ending,
    counts,
    ...(behind.length > 0 && { behind }),
    at: new Date().toISOString(),
  })
  if (!(await journal.close())) throw new HansardError('io', `the end of session ${id} could not be written`)
}
