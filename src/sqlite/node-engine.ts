/** `node:sqlite` as a connection; undefined on a Node that lacks it or asks for a flag first. */
import type { SqlValue } from '../transcript/source.ts'
import { type Connect, toRow, toValue } from './engine.ts'
import { toSqliteUri } from './uri.ts'

/** The part that is used: the types of the oldest Node we support do not know the module. */
type NodeStatement = {
  setReadBigInts(on: boolean): void
  iterate(...values: SqlValue[]): Iterable<object>
  get(...values: SqlValue[]): object | undefined
  run(...values: SqlValue[]): { readonly changes: number | bigint }
}
type NodeDatabase = { exec(sql: string): void; prepare(sql: string): NodeStatement; close(): void }
type NodeSqlite = { DatabaseSync: new (path: string, options: { readOnly: boolean }) => NodeDatabase }

export function nodeEngine(): Connect | undefined {
  const sqlite = quietly(() => process.getBuiltinModule?.('node:sqlite') as unknown as NodeSqlite | undefined)
  if (sqlite === undefined) return undefined
  return (path, { mode, busyMs }) => {
    const place = mode === 'immutable' ? toSqliteUri(path, 'mode=ro&immutable=1') : path
    const database = new sqlite.DatabaseSync(place, { readOnly: mode !== 'read-write' })
    // Not the constructor's `timeout`: Node 22 has it only from 22.16 on.
    database.exec(`PRAGMA busy_timeout = ${Math.trunc(busyMs)}`)
    return {
      exec: (sql) => database.exec(sql),
      close: () => database.close(),
      prepare(sql) {
        const prepare = (): NodeStatement => {
          const statement = database.prepare(sql)
          statement.setReadBigInts(true)
          return statement
        }
        let statement = prepare()
        // A statement that failed fails once more with the same words, whatever it is asked next.
        function* each(values: readonly SqlValue[]): Generator<object> {
          try {
            yield* statement.iterate(...values)
          } catch (error) {
            statement = prepare()
            throw error
          }
        }
        const first = (values: readonly SqlValue[]): object | undefined => {
          try {
            return statement.get(...values)
          } catch (error) {
            statement = prepare()
            throw error
          }
        }
        return {
          *lists(values) {
            for (const row of each(values)) yield Object.values(row).map(toValue)
          },
          *rows(values) {
            for (const row of each(values)) yield toRow(Object.keys(row), Object.values(row))
          },
          first(values) {
            const row = first(values)
            return row && toRow(Object.keys(row), Object.values(row))
          },
          run: (values) => Number(statement.run(...values).changes),
        }
      },
    }
  }
}

/** Node 22 says on stderr that the module is experimental; it is the reader's terminal, and they cannot do a thing about it. */
function quietly<T>(work: () => T): T {
  const spoken = Object.getOwnPropertyDescriptor(process, 'emitWarning') ?? {}
  Object.defineProperty(process, 'emitWarning', { ...spoken, value: () => {} })
  try {
    return work()
  } finally {
    Object.defineProperty(process, 'emitWarning', spoken)
  }
}
