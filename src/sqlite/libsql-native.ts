/**
 * The binary of `libsql` without the package around it: finding, reading and linking its files takes three times as long as loading
 * the binary itself. Its functions are the package's own affair, so they are called only in the version that this was written for;
 * for any other the package is loaded.
 */
import fs from 'node:fs'
import { join } from 'node:path'
import type { SqlValue } from '../transcript/source.ts'
import type { Libsql, LibsqlDatabase, LibsqlStatement } from './libsql-engine.ts'

/** Of the package that holds the binary. */
export const KNOWN_VERSION = '0.5.29'

type Handle = { readonly [handle]: never }
declare const handle: unique symbol
type Values = readonly SqlValue[]

/** The part that is used. What the package makes methods of, these take as `this`. */
type Native = {
  databaseOpen(
    path: string,
    authToken: string,
    cipher: string,
    key: string,
    timeoutMs: number,
    remoteKey: string,
  ): Handle
  databaseExecSync(this: Handle, sql: string): void
  databasePrepareSync(this: Handle, sql: string): Handle
  databaseClose(this: Handle): void
  statementRaw(this: Handle, on: boolean): void
  statementSafeIntegers(this: Handle, on: boolean): void
  statementColumns(this: Handle): readonly { readonly name: string }[]
  statementGet(this: Handle, values: Values): readonly unknown[] | undefined
  statementRun(this: Handle, values: Values): { readonly changes: number | bigint }
  statementRowsSync(this: Handle, values: Values): Handle
  /** Puts the next rows into the list; the first that is missing ends them. */
  rowsNext(this: Handle, rows: unknown[]): void
}

/** `folder`: where binaries of all systems lie, each in one called by its `target`. Undefined when the package has to be loaded. */
export function loadNative(folder: string, target: string): Libsql | undefined {
  try {
    const said = JSON.parse(fs.readFileSync(join(folder, target, 'package.json'), 'utf8')) as {
      readonly version?: unknown
    }
    if (said.version !== KNOWN_VERSION) return undefined
    const loaded = { exports: {} }
    process.dlopen(loaded, join(folder, target, 'index.node'))
    return toLibsql(loaded.exports as Native)
  } catch {
    // Whatever it is, the package meets it too, and says it in its own words.
    return undefined
  }
}

function toLibsql(native: Native): Libsql {
  return class implements LibsqlDatabase {
    readonly #own: Handle

    constructor(path: string, { timeout }: { readonly timeout: number }) {
      this.#own = native.databaseOpen(path, '', CIPHER, '', timeout, '')
    }

    exec(sql: string): void {
      native.databaseExecSync.call(this.#own, sql)
    }

    prepare(sql: string): LibsqlStatement {
      return toStatement(native, native.databasePrepareSync.call(this.#own, sql))
    }

    close(): void {
      native.databaseClose.call(this.#own)
    }
  }
}

/** Named where a database is opened; without a key nothing is encrypted. */
const CIPHER = 'aes256cbc'
/** Rows that are fetched at a time. */
const BATCH = 100

function toStatement(native: Native, own: Handle): LibsqlStatement {
  const statement: LibsqlStatement = {
    raw(on) {
      native.statementRaw.call(own, on)
      return statement
    },
    safeIntegers(on) {
      native.statementSafeIntegers.call(own, on)
      return statement
    },
    columns: () => native.statementColumns.call(own),
    get: (values) => native.statementGet.call(own, values),
    run: (values) => native.statementRun.call(own, values),
    *iterate(values) {
      const rows = native.statementRowsSync.call(own, values)
      for (;;) {
        const batch = Array<unknown>(BATCH)
        native.rowsNext.call(rows, batch)
        for (const row of batch) {
          if (!row) return
          yield row as readonly unknown[]
        }
      }
    },
  }
  return statement
}
