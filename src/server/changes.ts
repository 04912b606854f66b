/**
 * Tells those who listen which sessions are new, have grown or are gone, whoever wrote them: this server, a recorder or a sync in
 * another process. Asks the state for its mark, which costs nothing, and only after a change for what changed.
 */
import { querySessions } from '../search/sessions.ts'
import { stateMark } from '../search/state-mark.ts'
import { countSessions } from '../sources/state-sessions.ts'
import type { Database } from '../sqlite/driver.ts'
import type { AppContext } from './context.ts'
import { toSessionRow } from './rows.ts'

export type Changes = {
  /** Something was taken in just now. */
  look(): Promise<void>
  stop(): void
}

type Known = {
  readonly mark: string
  /** The number of the row of a session that was written last. */
  readonly written: number
  readonly running: ReadonlySet<string>
  readonly count: number
  readonly ids: ReadonlySet<string>
}

/** Between looks, milliseconds: a session that another process writes is on the page within a second. */
const LOOK_MS = 400
/** Past so many at once whoever listens asks for the list again. */
const MOST_TOLD = 200

export function watchChanges(context: AppContext, onError: (error: unknown) => void): Changes {
  const { state } = context
  let known: Known | undefined
  let looking: Promise<void> | undefined
  const lookOnce = async (): Promise<void> => {
    await state.read((database) => {
      const mark = stateMark(database) + runningMark(database)
      if (mark === known?.mark) return
      if (known !== undefined) return void (known = tell(context, database, known, mark))
      known = readAll(database, mark)
      // Sessions may have been deleted, and processes may have died, while no server was there to see it.
      return context.outlines.prune(database)
    })
  }
  const look = (): Promise<void> => {
    // What comes while one is looking is seen by the next.
    looking ??= lookOnce()
      .catch(onError)
      .finally(() => (looking = undefined))
    return looking
  }
  const timer = setInterval(() => void look(), LOOK_MS)
  timer.unref()
  void look()
  return { look, stop: () => clearInterval(timer) }
}

/** Tells what is another than before, and returns what is known now. */
function tell(
  { hub, redactor, outlines }: AppContext,
  database: Database,
  before: Known,
  mark: string,
): Known {
  const now = readFew(database, mark)
  const keys = changedKeys(database, before, now)
  // A state that was built anew counts what it wrote from the first.
  const isMuch = keys.length > MOST_TOLD || now.written < before.written
  const filter = { where: 'listing.key IN (SELECT value FROM json_each(?))', values: [JSON.stringify(keys)] }
  const sessions =
    isMuch || keys.length === 0 ? [] : querySessions(database, { filter, sort: 'oldest' }).sessions
  // All ids are read only where one may have come or gone: a session that grows is told of several times a second.
  const isSame = !isMuch && now.count === before.count && sessions.every(({ id }) => before.ids.has(id))
  const ids = isSame ? before.ids : readIds(database)
  const gone = isSame ? [] : [...before.ids].filter((id) => !ids.has(id))
  if (isMuch || gone.length > MOST_TOLD) {
    hub.tell('reset', {})
    return { ...now, ids }
  }
  for (const id of gone) hub.tell('gone', { id: redactor.id(id) })
  // Nothing stays of what was deleted, in what is derived either.
  if (gone.length > 0) outlines.prune(database)
  for (const session of sessions) {
    const counted = session.totals?.entries
    // A log that is looked at may be known further than it was synced.
    const length = counted && Math.max(counted, outlines.followedTo(session.id) ?? 0)
    if (length !== undefined) hub.tell('entries', { id: redactor.id(session.id), length })
    hub.tell('session', { row: toSessionRow(session, redactor), isNew: !before.ids.has(session.id) })
  }
  return { ...now, ids }
}

/** An end that nobody wrote, such as that of a process that died, is no new reading. */
function runningMark(database: Database): string {
  const row = database.prepare(`SELECT count(*) AS count FROM sessions WHERE status = 'running'`).get()
  return ` ${String(row?.['count'])}`
}

function readAll(database: Database, mark: string): Known {
  return { ...readFew(database, mark), ids: readIds(database) }
}

function readFew(database: Database, mark: string): Omit<Known, 'ids'> {
  const written = database.prepare('SELECT max(n) AS written FROM sessions').get()?.['written']
  const running = database.prepare(`SELECT key FROM sessions WHERE status = 'running'`).lists()
  return {
    mark,
    written: Number(written ?? 0),
    running: new Set(running.map(([key]) => String(key))),
    count: countSessions(database),
  }
}

function readIds(database: Database): ReadonlySet<string> {
  const ids = database.prepare('SELECT id FROM sessions').lists()
  return new Set(ids.map(([id]) => String(id)))
}

function changedKeys(database: Database, before: Known, now: Pick<Known, 'running'>): readonly string[] {
  // Whatever a pass said, or was put to one since, or a bill that was settled: the session's row was written, and has another number.
  const written = database.prepare('SELECT key FROM sessions WHERE n > ?').lists(before.written)
  const ended = [...before.running].filter((key) => !now.running.has(key))
  return [...new Set([...written.map(([key]) => String(key)), ...ended])]
}
