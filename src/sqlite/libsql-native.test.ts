import fs from 'node:fs'
import Module from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { SqlValue } from '../transcript/source.ts'
import type { Libsql, LibsqlDatabase } from './libsql-engine.ts'
import { KNOWN_VERSION, loadNative } from './libsql-native.ts'

const require = Module.createRequire(import.meta.url)
const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-native-'))
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

const binaries = join(import.meta.dirname, '../../node_modules/@libsql')
const targets = ['gnu', 'musl'].map((library) => `linux-${process.arch}-${library}`)
const found = targets.map((target) => loadNative(binaries, target)).find((one) => one !== undefined)

describe.runIf(process.platform === 'linux')('the binary by itself', () => {
  it('is the one that is installed', () => {
    const said = fs.readFileSync(join(binaries, '../libsql/package.json'), 'utf8')
    const { version } = JSON.parse(said) as { readonly version: string }
    expect(version).toBe(KNOWN_VERSION)
    expect(found).toBeDefined()
  })

  it('answers as the package does', () => {
    const answers = [found as Libsql, require('libsql') as Libsql].map((Libsql) => {
      const database = new Libsql(':memory:', { timeout: 1000 })
      const said = ask(database)
      database.close()
      return said
    })
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]?.rows).toHaveLength(250)
  })

  it('fails as the package does', () => {
    const codes = [found as Libsql, require('libsql') as Libsql].map((Libsql) => {
      const database = new Libsql(':memory:', { timeout: 1000 })
      database.exec('CREATE TABLE t (a INTEGER PRIMARY KEY)')
      database.exec('INSERT INTO t VALUES (1)')
      return [
        thrown(() => database.prepare('SELECT nothing FROM nowhere')),
        thrown(() => database.exec('INSERT INTO t VALUES (1)')),
        thrown(() => database.prepare('INSERT INTO t VALUES (?)').run([1])),
      ]
    })
    expect(codes[0]).toEqual(codes[1])
  })

  it('is left alone in any other version, and where it is not', () => {
    fs.mkdirSync(join(folder, 'other'))
    fs.writeFileSync(join(folder, 'other', 'package.json'), '{"version":"99.0.0"}')
    expect(loadNative(folder, 'other')).toBeUndefined()
    expect(loadNative(folder, 'nowhere')).toBeUndefined()
  })
})

const VALUES: readonly SqlValue[] = ['text', 7, 1.5, null, 2n ** 60n, Buffer.from([0, 1, 255])]

function ask(database: LibsqlDatabase): { readonly rows: readonly unknown[]; readonly other: unknown } {
  database.exec('CREATE TABLE t (a, b, c, d, e, f)')
  const insert = database.prepare('INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)')
  // More rows than are fetched at a time.
  const changes = Array.from({ length: 250 }, () => Number(insert.run(VALUES).changes))
  const select = database.prepare('SELECT * FROM t').safeIntegers(true).raw(true)
  const rows = [...select.iterate([])]
  const one = database.prepare('SELECT a, e FROM t WHERE b = ?').safeIntegers(true).raw(true)
  const names = one.columns().map(({ name }) => name)
  return { rows, other: [changes, one.get([7]), one.get([8]), [...one.iterate([8])], names] }
}

function thrown(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    const { message, code, rawCode } = error as {
      readonly message: string
      readonly code?: unknown
      readonly rawCode?: unknown
    }
    return { message, code, rawCode }
  }
}
