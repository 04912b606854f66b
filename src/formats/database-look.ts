/** Whose database a file is, by its tables: those of its first pages where they tell, and else by opening it. */
import type { SourceDatabase, SourceFile } from '../transcript/source.ts'
import { isDamage, openOrDamage } from './database-row.ts'
import type { Detection } from './format.ts'
import { readTables } from './head-tables.ts'

export type Tables = Pick<SourceDatabase, 'columns'>

export async function lookAtTablesOf(
  file: SourceFile,
  look: (tables: Tables) => Detection | undefined,
): Promise<Detection | undefined> {
  const near = await readTables(file)
  const found = near && look(near)
  if (near === undefined || found !== undefined || near.isTold) return found
  const opened = await openOrDamage(file)
  if (isDamage(opened)) return undefined
  try {
    return look(opened)
  } finally {
    await opened.close()
  }
}

export function hasColumns(tables: Tables, table: string, ...columns: readonly string[]): boolean {
  return columns.every((column) => tables.columns(table).includes(column))
}
