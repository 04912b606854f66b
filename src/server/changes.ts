/**
 * Tells those who listen which sessions are new, have grown or are gone, whoever wrote them: this server, a recorder or a sync in
 * another process. Asks the state for its mark, which costs nothing, and only after a change for what changed.
 */
import { querySessions } from '../search/sessions.ts'
import { stateMark } from '../search/state-mark.ts'
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
  readonly reading: number
  readonly running: ReadonlySet<string>
  readonly ids: ReadonlySet<string>
}

/** Between looks, milliseconds: a session that another process writes is on the page within a second. */
const LOOK_MS = 400
/** Past so many at once whoever listens asks for the list again. */
const MOST_TOLD = 200

export function watchChanges(context: AppContext, onError: (error: unknown) => void): Changes {
  const { state, hub } = context
  let known: Known | undefined
  let looking: Promise<void> | undefined
  const lookOnce = async (): Promise<void> => {
    await state.read((database) => {
      const mark = stateMark(database) + runningMark(database)
      if (mark === known?.mark) return
      const now = readKnown(database, mark)
      if (known !== undefined) tell(context, database, known, now)
      known = now
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

  function tell({ redactor }: AppContext, database: Database, before: Known, now: Known): void {
    const keys = changedKeys(database, before, now)
    const gone = [...before.ids].filter((id) => !now.ids.has(id))
    if (keys.length + gone.length > MOST_TOLD) return hub.tell('reset', {})
    for (const id of gone) hub.tell('gone', { id: redactor.id(id) })
    if (keys.length === 0) return
    const filter = {
      where: 'listing.key IN (SELECT value FROM json_each(?))',
      values: [JSON.stringify(keys)],
    }
    for (const session of querySessions(database, { filter, sort: 'oldest' }).sessions) {
      const isNew = !before.ids.has(session.id)
      const length = session.totals?.entries
      if (length !== undefined) hub.tell('entries', { id: redactor.id(session.id), length })
      hub.tell('session', { row: toSessionRow(session, redactor), isNew })
    }
  }
}

/** An end that nobody wrote, such as that of a process that died, is no new reading. */
function runningMark(database: Database): string {
  const row = database.prepare(`SELECT count(*) AS count FROM sessions WHERE status = 'running'`).get()
  return ` ${String(row?.['count'])}`
}

function readKnown(database: Database, mark: string): Known {
  const reading = database.prepare('SELECT max(reading) AS reading FROM recordings').get()?.['reading']
  const running = database.prepare(`SELECT key FROM sessions WHERE status = 'running'`).lists()
  const ids = database.prepare('SELECT id FROM sessions').lists()
  return {
    mark,
    reading: Number(reading ?? 0),
    running: new Set(running.map(([key]) => String(key))),
    ids: new Set(ids.map(([id]) => String(id))),
  }
}

function changedKeys(database: Database, before: Known, now: Known): readonly string[] {
  const read = database
    .prepare('SELECT DISTINCT session FROM recordings WHERE reading > ?')
    .lists(before.reading)
  const ended = [...before.running].filter((key) => !now.running.has(key))
  return [...new Set([...read.map(([key]) => String(key)), ...ended])]
}
