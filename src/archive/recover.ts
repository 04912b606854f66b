/**
 * Finishes what a crash left. Segments with damage are repaired, their damaged bytes kept; a session whose writer is gone is given
 * its last line; and the formats that were being written live are made whole by the same fold over the journal. Killed on the way,
 * it is begun again by the next: until all of it is done, the last line says what is not.
 */
import { HansardError } from '../errors.ts'
import { readJournal } from '../journal/reader.ts'
import type { JournalRecord } from '../journal/record.ts'
import { repairJournal, type Repair } from '../journal/repair.ts'
import { isWriterAlive } from '../journal/writer-id.ts'
import { openJournal } from '../journal/writer.ts'
import type { Session } from '../transcript/session.ts'
import { VERSION } from '../version.ts'
import type { Archive } from './archive.ts'
import { readChunks } from './bytes.ts'
import { readThrough } from './facts.ts'
import { rebuildFormats, type Rebuildable, type RebuiltFormat } from './rebuild-formats.ts'

export type { RebuiltFormat }

export type Recovered = {
  readonly id: string
  /**
   * `running`: its writer lives, and nothing was done. `whole`: there was nothing to do. `incomplete`: a format's files could not be
   * written; its error says why, and the next recovery tries again.
   */
  readonly outcome: 'running' | 'whole' | 'recovered' | 'incomplete'
  readonly session: Session
  readonly entries: number
  readonly repairs: readonly Repair[]
  readonly formats: readonly RebuiltFormat[]
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
  const isEnded = before.last !== undefined
  // A format that was whole when the session ended stays as it is: its files may hold what the journal has lost since.
  const behind = before.live.filter((one) => !isEnded || before.last?.behind?.includes(one.id) === true)
  if (isEnded && behind.length === 0 && repairs.length === 0) return { ...untouched, outcome: 'whole' }
  const formats = isEnded && behind.length === 0 ? [] : await finish(archive, id, before, behind)
  const after = await readThrough(archive, id)
  const outcome = formats.every(({ error }) => error === undefined) ? 'recovered' : 'incomplete'
  return { id, outcome, session: after.session, entries: after.entries, repairs, formats }
}

/**
 * Everything in a segment of its own, for a writer's file is only ever its own: the end, naming what is behind; the files that
 * are about to be created; and the end again, without what is behind no more.
 */
async function finish(
  archive: Archive,
  id: string,
  { last }: Scan,
  behind: readonly Rebuildable[],
): Promise<readonly RebuiltFormat[]> {
  const { session, entries, lastAt } = await readThrough(archive, id)
  const { totals, status, error, endedAt = lastAt ?? session.startedAt, stopReason, ...begun } = session
  const ending: Partial<Session> = {
    status,
    ...(error !== undefined && { error }),
    ...(stopReason !== undefined && { stopReason }),
    ...(endedAt !== undefined && { endedAt }),
    ...(totals && { totals }),
    ...(last === undefined && toInterrupted(session)),
  }
  const journal = openJournal({
    files: archive.files,
    folder: archive.sessionFolder(id),
    first: { session: { ...begun, status: 'running' }, by: `hansard/${VERSION} recover` },
  })
  const end = (open: readonly string[]): void => {
    // The later end counts, also where the clock went back.
    const at = new Date(Math.max(Date.now(), (Date.parse(last?.at ?? '') || 0) + 1)).toISOString()
    const counts = { entries, lines: journal.head().seq + 1 }
    journal.append({ t: 'end', session: ending, counts, ...(open.length > 0 && { behind: open }), at })
  }
  const failed = (): HansardError => new HansardError('io', `the end of session ${id} could not be written`)
  end(behind.map((one) => one.id))
  if (!(await journal.flush())) {
    await journal.close()
    throw failed()
  }
  const rebuilt = await rebuildFormats(archive, id, behind, (format, path, taken) => {
    journal.append({ t: 'files', format, path, ...(taken && { taken }) })
  })
  if (behind.length > 0) end(rebuilt.flatMap((one) => (one.error === undefined ? [] : [one.format])))
  if (!(await journal.close())) throw failed()
  return rebuilt
}

/** What the raw records say that the model does not: which formats were live, which files are theirs, who wrote, and how it ended. */
async function scan(archive: Archive, id: string): Promise<Scan> {
  const live = new Map<string, Omit<Rebuildable, 'ours' | 'refused'> & { readonly at: string }>()
  const claims = new Map<string, Map<string, boolean>>()
  const damaged: string[] = []
  let last: End | undefined
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
        if (record.t === 'files') {
          const known = claims.get(record.format) ?? new Map<string, boolean>()
          claims.set(record.format, known.set(record.path, record.taken !== true))
        }
        if (record.t !== 'session') continue
        alive ||= isWriterAlive(record.writer, record.boot)
        // A segment that continues another says it again, with the facts as they were by then: the first counts.
        for (const one of record.formats ?? []) {
          if (record.at < (live.get(one.id)?.at ?? '9')) {
            live.set(one.id, { ...one, begun: record.session, at: record.at })
          }
        }
      }
    }
    if (isDamaged) damaged.push(path)
  }
  const named = (format: string, isOurs: boolean): ReadonlySet<string> =>
    new Set([...(claims.get(format) ?? [])].filter(([, own]) => own === isOurs).map(([path]) => path))
  return {
    live: [...live.values()].map((one) => ({
      ...one,
      ours: named(one.id, true),
      refused: named(one.id, false),
    })),
    damaged,
    last,
    alive: alive && last === undefined,
  }
}

type End = Extract<JournalRecord, { t: 'end' }>

type Scan = {
  readonly live: readonly Rebuildable[]
  readonly damaged: readonly string[]
  readonly last: End | undefined
  readonly alive: boolean
}

/** What the dead writer would have said. */
function toInterrupted(session: Session): Partial<Session> {
  return { status: 'interrupted', error: session.error ?? 'the process ended before the session did' }
}
