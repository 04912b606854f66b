/** Many rows at once, as texts that SQLite puts together: one by one, fetching them takes ten times as long as finding them. */
import type { Database } from '../sqlite/driver.ts'
import { prepared } from '../sources/state-statements.ts'
import type { Row, SqlValue } from '../transcript/source.ts'

export type Asked = { readonly columns: readonly string[]; readonly sql: string }

/** `where` and `given`: only some of them. */
export function grouped(
  database: Database,
  by: string,
  { columns, sql }: Asked,
  where?: string,
  ...given: readonly SqlValue[]
): ReadonlyMap<number, Row[]> {
  const groups = new Map<number, Row[]>()
  for (const row of together(
    database,
    columns,
    where === undefined ? sql : `${sql} AND ${where}`,
    ...given,
  )) {
    const key = Number(row[by])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return groups
}

/** `part`, a column of `sql`, splits them, so that no text is too long. */
export function together(
  database: Database,
  columns: readonly string[],
  sql: string,
  ...given: readonly SqlValue[]
): readonly Row[] {
  const all = `SELECT json_group_array(json_array(${columns.join(', ')})) AS rows FROM (${sql}) GROUP BY part / 1000`
  return prepared(database, all)
    .all(...given)
    .flatMap(({ rows }) => JSON.parse(String(rows)) as (string | number | null)[][])
    .map((values) => {
      const row: Record<string, SqlValue> = {}
      for (const [at, column] of columns.entries()) row[column] = values[at] ?? null
      return row
    })
}
