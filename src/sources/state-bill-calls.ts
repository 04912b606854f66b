/**
 * Calls that several recordings mention, each on one bill. Of any number of reports, those of a few thousand are held at a time, or of one
 * call, and each time as one row: what SQLite's driver holds of rows until the next turn is more than they say.
 */
import type { Database } from '../sqlite/driver.ts'
import { settleReports, type Candidate, type CallReport } from '../transcript/billing.ts'
import type { Row, SqlValue } from '../transcript/source.ts'
import { COUNTS } from '../transcript/usage.ts'
import { NOT_CHOSEN } from './state-speakers.ts'
import { prepared } from './state-statements.ts'
import { toUsage } from './state-usage.ts'

/** `changed`: told of every session whose bill is another one now. */
export function billKeys(
  database: Database,
  keys: readonly string[],
  candidate: (session: string) => Candidate,
  changed: Set<string>,
): void {
  for (const some of inSteps(database, sameNames(database, keys))) {
    const payers: [id: number, payer: string | null][] = []
    for (const rows of reportsOf(database, some)) {
      const billed = payersOf(rows, candidate)
      for (const { id, session, billed_to } of rows) {
        const payer = billed.get(Number(id)) ?? null
        if (payer === billed_to) continue
        payers.push([Number(id), payer])
        for (const one of [session, payer, billed_to]) if (typeof one === 'string') changed.add(one)
      }
    }
    if (payers.length > 0) prepared(database, BILL).run(JSON.stringify(payers))
  }
}

const BILL = `UPDATE calls SET billed_to = json_extract(bill.value, '$[1]') FROM json_each(?) AS bill
  WHERE calls.id = json_extract(bill.value, '$[0]')`

/** The names that calls are billed by: one for those that are the same. */
function sameNames(database: Database, keys: readonly string[]): readonly string[] {
  return prepared(
    database,
    `SELECT DISTINCT ifnull(same, asked.value) FROM json_each(?) AS asked LEFT JOIN same_calls ON same_calls.key = asked.value`,
  )
    .lists(JSON.stringify(keys))
    .map(([key]) => String(key))
}

/** Reports that are held at a time, of more than one call. */
const MOST_REPORTS = 2000

function* inSteps(database: Database, keys: readonly string[]): Generator<readonly string[]> {
  const counts = prepared(
    database,
    `SELECT (SELECT count(*) FROM calls WHERE calls.key = asked.value) FROM json_each(?) AS asked ORDER BY asked.key`,
  ).lists(JSON.stringify(keys))
  let [from, reports] = [0, 0]
  for (const [at, [count]] of counts.entries()) {
    if (at > from && reports + Number(count) > MOST_REPORTS) {
      yield keys.slice(from, at)
      ;[from, reports] = [at, 0]
    }
    reports += Number(count)
  }
  yield keys.slice(from)
}

const COLUMNS = `key id session provider billed_to chosen
  input cache_read cache_write_5m cache_write_1h output reasoning quality`.split(/\s+/)

/** In place of whether its recording counts: nobody pays for it. */
const REPLAYED = -2

/**
 * In an order that no sync decides: of reports that say the same, the first is billed. A call under another name is the provider's that it
 * is billed by. One that no other source of its session saw counts, whichever of them speaks.
 */
const REPORTS = `WITH asked (key, name) AS (SELECT value, value FROM json_each(?1)
    UNION SELECT value, same_calls.key FROM json_each(?1) JOIN same_calls ON same_calls.same = value)
  SELECT json_group_array(json_array(${COLUMNS.join(', ')})) AS reports FROM (
  SELECT asked.key, calls.id, calls.session, iif(asked.name = asked.key, calls.provider, '') AS provider, billed_to,
    iif(own.replayed, ${REPLAYED}, max(ifnull(recordings.chosen, 0), ifnull(own.key = own.same, 0))) AS chosen,
    input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, quality FROM asked
  JOIN calls ON calls.key = asked.name
  LEFT JOIN same_calls AS own ON own.key = asked.name
  JOIN units ON units.reading = calls.reading JOIN places ON places.id = units.place
  LEFT JOIN recordings ON recordings.reading = calls.reading AND recordings.session = calls.session
  ORDER BY places.root, places.agent, units.path, calls.session, calls.provider)`

/** By call. */
function reportsOf(database: Database, keys: readonly string[]): Iterable<readonly Row[]> {
  const byKey = new Map<SqlValue | undefined, Row[]>()
  const said = prepared(database, REPORTS).get(JSON.stringify(keys))?.['reports']
  for (const values of JSON.parse(String(said)) as SqlValue[][]) {
    const row: Row = Object.fromEntries(COLUMNS.map((column, at) => [column, values[at] ?? null]))
    const known = byKey.get(row['key'])
    if (known === undefined) byKey.set(row['key'], [row])
    else known.push(row)
  }
  return byKey.values()
}

/** Who pays, by the report that is billed. */
function payersOf(
  rows: readonly Row[],
  candidate: (session: string) => Candidate,
): ReadonlyMap<number, string> {
  // Which calls count is said by the recordings that speak; what each took, by whichever knows it best.
  const speaking = rows.filter((row) => Number(row['chosen']) > NOT_CHOSEN)
  const sessions = new Set(speaking.map(({ session }) => session))
  const heard = rows.filter(({ session, chosen }) => sessions.has(session) && Number(chosen) !== REPLAYED)
  return new Map(
    settleReports(heard.map(toReport), candidate).map(({ session, best, reports }) => {
      // Of those that say the same, the payer's own: it has the time of the call.
      const own = reports.find((report) => report.session === session && isAlike(report, best))
      return [(own ?? best).id, session]
    }),
  )
}

function isAlike({ usage: one }: CallReport, { usage: other }: CallReport): boolean {
  return one.quality === other.quality && COUNTS.every((count) => one[count] === other[count])
}

type RowReport = CallReport & { readonly id: number }

function toReport(row: Row): RowReport {
  const { id, session, provider } = row
  return {
    id: Number(id),
    session: String(session),
    provider: provider === '' ? undefined : String(provider),
    usage: toUsage(row) ?? { quality: 'unavailable' },
  }
}
