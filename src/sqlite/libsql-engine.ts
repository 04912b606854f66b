/**
 * `libsql` as a connection, for a Node without SQLite of its own. Two things it does not do: text ends at its first NUL,
 * and text that is not UTF-8 ends the process. Whoever reads another program's database asks for bytes
 * (`CAST(x AS BLOB)`), names included.
 */
import fs from 'node:fs'
import Module from 'node:module'
import { dirname, join } from 'node:path'
import { messageOf } from '../errors.ts'
import type { SqlValue } from '../transcript/source.ts'
import { type Connect, type OpenMode, toRow, toValue } from './engine.ts'
import { loadNative } from './libsql-native.ts'
import { toSqliteUri } from './uri.ts'

/** The part that is used; the package's own types are those of another one. */
export type LibsqlStatement = {
  raw(on: boolean): LibsqlStatement
  safeIntegers(on: boolean): LibsqlStatement
  columns(): readonly { readonly name: string }[]
  iterate(values: readonly SqlValue[]): Iterable<readonly unknown[]>
  get(values: readonly SqlValue[]): readonly unknown[] | undefined
  run(values: readonly SqlValue[]): { readonly changes: number | bigint }
}
export type LibsqlDatabase = {
  exec(sql: string): void
  prepare(sql: string): LibsqlStatement
  close(): void
}
type ChildProcess = typeof import('node:child_process')
export type Libsql = new (path: string, options: { readonly timeout: number }) => LibsqlDatabase

export function libsqlEngine(): Connect {
  const library = libraryHere()
  const folder = folderOf('libsql') ?? 'libsql'
  const binaries = join(folder, '..', '@libsql')
  const Libsql = (library && loadNative(binaries, targetOf(library))) ?? load(folder, binaries, library)
  return (path, { mode, busyMs }) => {
    const database = open(() => new Libsql(placeOf(path, mode), { timeout: busyMs }))
    return {
      exec: (sql) => database.exec(sql),
      close() {
        // Its statements hold the file open until they are collected; what was written must not wait for that.
        if (mode === 'read-write') checkpoint(database)
        database.close()
      },
      prepare(sql) {
        const statement = database.prepare(sql).safeIntegers(true)
        let isRaw = false
        const raw = (): LibsqlStatement => {
          if (!isRaw) statement.raw(true)
          isRaw = true
          return statement
        }
        let known: readonly string[] | undefined
        const names = (): readonly string[] =>
          (known ??= raw()
            .columns()
            .map(({ name }) => name))
        return {
          *lists(values) {
            for (const row of raw().iterate(values)) yield row.map(toValue)
          },
          *rows(values) {
            const own = names()
            for (const row of statement.iterate(values)) yield toRow(own, row)
          },
          first(values) {
            const own = names()
            const row = statement.get(values)
            return row && toRow(own, row)
          },
          run: (values) => Number(statement.run(values).changes),
        }
      },
    }
  }
}

/** The part that is used; the types know nothing of what loaders may do. */
type Loader = { _load: (this: unknown, request: string, ...rest: readonly unknown[]) => unknown }

/**
 * The package asks two others which C library this is, by a report on the whole process and by running programs, which takes longer
 * than opening a database. Where the system's loaders tell, they are not loaded; else they ask without the report, for which
 * they have another way, and get what runs programs when they call for it.
 */
function load(folder: string, binaries: string, library: Library | undefined): Libsql {
  const reportAgain = library === undefined ? withoutReport() : () => {}
  const loader = Module as unknown as Loader
  const loadNow = loader._load
  const require = Module.createRequire(import.meta.url)
  const answers = answersOf(library)
  loader._load = function (request, ...rest) {
    const answer = answers.get(request)
    if (answer !== undefined) return answer
    // Beside the package, where it nearly always is, it need not be looked for.
    const binary = request.startsWith('@libsql/') ? join(binaries, request.slice(8), 'index.node') : ''
    if (binary !== '' && fs.existsSync(binary)) return loadNow.call(this, binary, ...rest)
    if (request !== 'child_process') return loadNow.call(this, request, ...rest)
    const run =
      (name: 'exec' | 'execSync') =>
      (...given: unknown[]) =>
        Reflect.apply((require('node:child_process') as ChildProcess)[name], undefined, given) as unknown
    return { exec: run('exec'), execSync: run('execSync') }
  }
  try {
    return require(folder) as Libsql
  } finally {
    loader._load = loadNow
    reportAgain()
  }
}

/** Until the function it gives is called, or once. */
function withoutReport(): () => void {
  const { report } = process
  const getReport = report.getReport.bind(report)
  const again = (): void => {
    report.getReport = getReport
  }
  report.getReport = () => {
    again()
    return {}
  }
  return again
}

/** By its folder, a package is found in a tenth of the time: for names, Node.js loads what resolves those of modules. */
function folderOf(name: string): string | undefined {
  for (let at = import.meta.dirname; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name)
    if (fs.existsSync(folder)) return folder
    if (dirname(at) === at) return undefined
  }
}

type Library = 'glibc' | 'musl'

function targetOf(library: Library): string {
  return `linux-${process.arch}-${library === 'glibc' ? 'gnu' : 'musl'}`
}

/** What the two packages would say, by their names. */
function answersOf(library: Library | undefined): ReadonlyMap<string, object> {
  if (library === undefined) return new Map()
  const target = targetOf(library)
  return new Map([
    ['@neon-rs/load', { currentTarget: () => target }],
    ['detect-libc', { familySync: () => library, GLIBC: 'glibc', MUSL: 'musl' }],
  ])
}

const LOADERS: Readonly<Record<string, Readonly<Record<Library, string>>>> = {
  x64: { glibc: '/lib64/ld-linux-x86-64.so.2', musl: '/lib/ld-musl-x86_64.so.1' },
  arm64: { glibc: '/lib/ld-linux-aarch64.so.1', musl: '/lib/ld-musl-aarch64.so.1' },
}

/** Undefined where both are there, or neither, and where the package is told to load something else. */
function libraryHere(): Library | undefined {
  const loaders = process.platform === 'linux' ? LOADERS[process.arch] : undefined
  if (loaders === undefined || process.env['LIBSQL_JS_DEV'] !== undefined) return undefined
  const hasGlibc = fs.existsSync(loaders.glibc)
  if (hasGlibc === fs.existsSync(loaders.musl)) return undefined
  return hasGlibc ? 'glibc' : 'musl'
}

function placeOf(path: string, mode: OpenMode): string {
  if (mode === 'read-write') return path
  return toSqliteUri(path, mode === 'immutable' ? 'mode=ro&immutable=1' : 'mode=ro')
}

/** Opening fails with SQLite's result code at the end of a sentence, and nowhere else. */
function open<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    const code = /: (\d+)"\)$/.exec(messageOf(error))?.[1]
    throw Object.assign(new Error(messageOf(error), { cause: error }), code && { rawCode: Number(code) })
  }
}

function checkpoint(database: LibsqlDatabase): void {
  try {
    // Waiting for a reader would hold up everything in this process, for seconds.
    database.exec('PRAGMA busy_timeout = 0')
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // Somebody else is reading: they will do it.
  }
}
