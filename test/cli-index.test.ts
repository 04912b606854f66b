/** The index as users meet it: `sync` keeps it up to date, and does nothing for it when nothing is new. */
import fs from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { run, temporaryFolder, type Ran } from './program.ts'
import { line, writeLog } from './searched-archive.ts'

const folder = temporaryFolder()
const home = join(folder, 'archive')
const config = join(folder, 'claude')
const sync = (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  run(['sync', ...args, '--home', home], {
    env: { CLAUDE_CONFIG_DIR: config, HOME: folder, ...env },
    cwd: folder,
  })
const search = async (query: string) => {
  const { stdout } = await run(['search', query, '--home', home, '--json'], { env: { HOME: folder } })
  return JSON.parse(stdout) as { total: number; scanned: { units: number } }
}
const stamps = (): string[] =>
  fs
    .readdirSync(join(home, 'index'))
    .filter((name) => /^search(-\d+\.db|\.json)$/.test(name))
    .map((name) => `${name} ${fs.statSync(join(home, 'index', name), { bigint: true }).mtimeNs}`)

let log = ''
beforeAll(async () => {
  for (let n = 0; n < 3; n += 1) log = writeLog(config, n, ['ordinary words', 'some more', 'and more'])
  expect((await sync()).code).toBe(0)
})

describe('hansard sync', () => {
  it('indexes what is new, so that a search reads nothing', async () => {
    expect(await search('ordinary')).toMatchObject({ total: 3, scanned: { units: 0 } })
  })

  it('leaves the index as it is when nothing is new, and loads nothing that indexes', async () => {
    const before = stamps()
    const coverage = join(folder, 'coverage')
    expect((await sync([], { NODE_V8_COVERAGE: coverage })).code).toBe(0)
    expect(stamps()).toEqual(before)
    const loaded = fs
      .readdirSync(coverage)
      .map((name) => fs.readFileSync(join(coverage, name), 'utf8'))
      .join()
    expect(loaded).toContain('catchUpAfterSync')
    expect(loaded).not.toContain('catchUpIndex')
  })

  it('indexes the line that was appended, and leaves it to searches with --no-index', async () => {
    const session = log.slice(log.lastIndexOf('/') + 1, -'.jsonl'.length)
    const append = (at: number): void =>
      fs.appendFileSync(log, `${JSON.stringify(line(session, 2, at, `ordinary appended${at}`))}\n`)
    append(3)
    await sync(['--no-index'])
    expect(await search('appended3')).toMatchObject({ total: 1, scanned: { units: 1 } })
    // The first one has indexed what it had to read.
    expect(await search('appended3')).toMatchObject({ total: 1, scanned: { units: 0 } })
    append(6)
    await sync(['--index'])
    expect(await search('appended6')).toMatchObject({ total: 1, scanned: { units: 0 } })
    expect(await search('ordinary')).toMatchObject({ total: 5, scanned: { units: 0 } })
  })

  it('says that the index is of a newer hansard, and leaves it alone', async () => {
    const path = join(home, 'index', 'search.json')
    const record = fs.readFileSync(path, 'utf8')
    fs.writeFileSync(path, JSON.stringify({ ...(JSON.parse(record) as object), version: 999 }))
    const { code, stderr } = await sync()
    expect([code, stderr]).toEqual([0, expect.stringContaining('newer hansard')])
    expect(await search('ordinary')).toMatchObject({ total: 5, scanned: { units: 3 } })
    fs.writeFileSync(path, record)
  })
})
