/**
 * What the recordings of one session say together, however many there are: a log may have been copied to any number of folders. Only what
 * the session's row is made of is held, and its first recordings are named.
 */
import { JOURNAL } from '../journal/format-id.ts'
import type { Database } from '../sqlite/driver.ts'
import { asObject, asString, parseJson } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { Row } from '../transcript/source.ts'
import { LAST } from './state-speakers.ts'
import { prepared } from './state-statements.ts'
import { AS_SHOWN } from './state-units.ts'
import type { SessionWork } from './work.ts'

export type Recorded = {
  /** The row of the one that speaks, with where it lies. */
  readonly speaker: Row
  /** What it did. */
  readonly work: SessionWork | undefined
  /** The same of the one that is read first: its entries have the numbers that the whole gives them. */
  readonly shown: SessionWork | undefined
  /** The latest time that any of them has an entry of: the speaker may have been read before another one went on. */
  readonly lastAt: string | undefined
  /** Of several that add up to the session: when the first began and the last ended. */
  readonly times?: Pick<Session, 'startedAt' | 'endedAt'>
  readonly prompt: string | undefined
  /** Another program wrote one of them. */
  readonly isForeign: boolean
  /** How many add up to the session. */
  readonly speaking: number
  readonly named: NonNullable<Session['recordings']>
  /** Another one whenever there are others of them, or others count. */
  readonly mark: string
}

/** Of the only recording of a session. */
export function recordedOnce(speaker: Row, work: SessionWork | undefined): Recorded {
  return {
    speaker,
    work,
    shown: work,
    lastAt: work?.lastAt,
    prompt: asString(speaker['prompt']),
    isForeign: speaker['format'] !== JOURNAL,
    speaking: Number(speaker['chosen']) > 0 ? 1 : 0,
    named: [toNamed(speaker)],
    mark: `${String(speaker['reading'])}:${isCounted(speaker) ? 1 : 0}`,
  }
}

/** Undefined for a session that nothing records any more. */
export function recordedOf(database: Database, key: string): Recorded | undefined {
  const [speaker, other] = prepared(database, `${ROWS} ${AS_THEY_SPEAK} LIMIT 2`).all(key)
  if (speaker === undefined) return undefined
  const work = toWork(speaker)
  // As nearly all are.
  if (other === undefined) return recordedOnce(speaker, work)
  const all = prepared(database, ALL).get(key) ?? {}
  const one = {
    speaker,
    work,
    lastAt: asString(all['last_at']),
    isForeign: all['is_foreign'] === 1,
    speaking: Number(all['speaking']),
    mark: String(all['mark']),
  }
  const prompt = asString(speaker['prompt'])
  const shown = prepared(database, SHOWN).get(key)
  const named = prepared(database, NAMED).all(key)
  return {
    ...one,
    shown: shown === undefined ? work : toWork(shown),
    ...(one.speaking > 1 && { times: toTimes(all) }),
    prompt: prompt ?? asString(prepared(database, PROMPT).get(key)?.['prompt']),
    named: named.map(toNamed),
  }
}

/** True where so many recorded it that adding them up with each that comes would take longer than reading it. */
export function hasManyRecordings(database: Database, key: string): boolean {
  const row = prepared(
    database,
    `SELECT count(*) AS count FROM (SELECT 1 FROM recordings WHERE session = ? LIMIT ${FEW + 1})`,
  ).get(key)
  return Number(row?.['count']) > FEW
}

const FEW = 10
/** Recordings that a session's row names. */
const MOST_NAMED = 1000

const ROWS = `SELECT recordings.*, units.path AS file, places.root AS root ${LAST}`
const AS_THEY_SPEAK = `ORDER BY chosen DESC, ${AS_SHOWN}`
const SHOWN = `SELECT work ${LAST} AND chosen > 0 ORDER BY ${AS_SHOWN} LIMIT 1`
const PROMPT = `SELECT prompt ${LAST} AND prompt IS NOT NULL ${AS_THEY_SPEAK} LIMIT 1`
const NAMED = `SELECT recordings.format, recordings.started_at, units.path AS file, places.root AS root
  ${LAST} ${AS_THEY_SPEAK} LIMIT ${MOST_NAMED}`
const ALL = `SELECT total(chosen > 0) AS speaking,
  min(CASE WHEN chosen > 0 THEN started_at END) AS started_at, max(CASE WHEN chosen > 0 THEN ended_at END) AS ended_at, max(format <> '${JOURNAL}') AS is_foreign,
  max(json_extract(work, '$.lastAt')) AS last_at, group_concat(reading || ':' || (chosen <> 0), ' ') AS mark
  FROM (SELECT recordings.reading, chosen, recordings.format, started_at, ended_at, work ${LAST} ORDER BY recordings.reading)`

const isCounted = ({ chosen }: Row): boolean => Number(chosen) !== 0

function toNamed({ format, started_at, root, file }: Row): Recorded['named'][number] {
  return {
    by: String(format),
    ...(typeof started_at === 'string' && { startedAt: started_at }),
    file: `${String(root)}/${String(file)}`,
  }
}

function toTimes({ started_at, ended_at }: Row): Pick<Session, 'startedAt' | 'endedAt'> {
  return {
    ...(typeof started_at === 'string' && { startedAt: started_at }),
    ...(typeof ended_at === 'string' && { endedAt: ended_at }),
  }
}

/** What was written there was one. */
function toWork({ work }: Row): SessionWork | undefined {
  return asObject(parseJson(asString(work) ?? '')) as SessionWork | undefined
}
