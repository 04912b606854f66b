/** What sessions can be narrowed down by: the values that some of them have, each with how many have it, the most frequent first. */
import type { Database } from '../sqlite/driver.ts'
import { asArray, asObject, parseJson } from '../transcript/json.ts'
import { toWhere, type SessionFilter } from './session-where.ts'

export const FACETS = ['agent', 'model', 'project', 'status', 'branch'] as const
export type FacetName = (typeof FACETS)[number]
export type Facet = readonly { readonly value: string; readonly count: number }[]
export type Facets = { readonly [name in FacetName]: Facet }

/** Values of each. */
const MOST = 50

const FROM: Readonly<Record<FacetName, { readonly from: string; readonly column: string }>> = {
  agent: { from: 'listing, json_each(listing.agents) AS one', column: 'one.value' },
  model: { from: 'listing, json_each(listing.models) AS one', column: 'one.value' },
  project: { from: 'listing', column: 'project' },
  status: { from: 'listing', column: 'status' },
  branch: { from: 'listing', column: 'branch' },
}

export function queryFacets(database: Database, filter: SessionFilter): Facets {
  const { where, values } = toWhere(database, filter)
  const facet = (name: FacetName): Facet => {
    const { from, column } = FROM[name]
    const rows = database
      .prepare(
        `SELECT ${column} AS named, count(*) AS count, min(listing.key) AS example FROM ${from}
         WHERE ${where} AND ${column} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${MOST}`,
      )
      .all(...values)
    return rows.map(({ named, count, example }) => ({
      value: asWritten(database, name, String(named), String(example)),
      count: Number(count),
    }))
  }
  return {
    agent: facet('agent'),
    model: facet('model'),
    project: facet('project'),
    status: facet('status'),
    branch: facet('branch'),
  }
}

/** The columns are in lower case; a session that has the value says how it is written. */
function asWritten(database: Database, name: FacetName, lower: string, key: string): string {
  if (name === 'status') return lower
  const row = database.prepare('SELECT session FROM sessions WHERE key = ?').get(key)
  const session = asObject(parseJson(String(row?.['session'] ?? '')))
  const native = asObject(session?.['native'])
  const totals = asObject(session?.['totals'])
  const written: Readonly<Record<Exclude<FacetName, 'status'>, readonly unknown[]>> = {
    agent: [session?.['agent'], native?.['agent']],
    model: [...(asArray(totals?.['models']) ?? []), session?.['model']],
    project: [session?.['cwd']],
    branch: [asObject(session?.['git'])?.['branch']],
  }
  const found = written[name].find((value) => typeof value === 'string' && value.toLowerCase() === lower)
  return typeof found === 'string' ? found : lower
}
