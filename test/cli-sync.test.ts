/** What sync, import and doctor say, and what they end with. */
import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { record } from '../src/capture/record.ts'
import { claudeLogs, createMachine, type Machine } from './machine.ts'
import { toTar } from './packages.ts'
import { run, type Ran } from './program.ts'

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001'
const KEY = `sk-ant-api03-${'Ab1'.repeat(31)}-Ab1Ab1AA`

let machine: Machine
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

const hansard = (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  run(args, { env: { HOME: machine.user, HANSARD_HOME: machine.home, ...env }, cwd: machine.cwd })

describe('the exit code', () => {
  it.each([
    ['sync', () => ['sync']],
    ['import', () => ['import', machine.log(ONE)]],
  ] as const)('of %s is 0 with damaged records, which are data, and they are counted', async (_, args) => {
    machine.write(
      machine.log(ONE),
      `${claudeLogs(2, { session: ONE })}{"torn":\n${claudeLogs(1, { session: ONE })}`,
    )
    const { code, stderr } = await hansard(args())
    expect(stderr).toContain('1 damaged record')
    expect(code).toBe(0)
    const { stdout } = await hansard(['doctor'])
    expect(stdout).toContain(`${machine.log(ONE)}: 1 damaged record`)
  })

  it.each([
    ['sync', () => ['sync']],
    ['import', () => ['import', machine.user]],
  ] as const)('of %s is 2 for a pattern that is none, which is named as it was written', async (_, args) => {
    const { code, stderr } = await hansard([...args(), '--exclude', '[a'])
    expect(code).toBe(2)
    expect(stderr).toContain('the pattern [a has a [ that is not closed')
    expect(fs.existsSync(machine.home)).toBe(false)
    const asJson = await hansard([...args(), '--json', '--exclude', '[a'])
    expect(asJson.code).toBe(2)
    expect(JSON.parse(asJson.stdout)).toMatchObject({ error: { code: 'invalid-argument' } })
  })
})

describe('a format that there is not', () => {
  it.each([
    ['import', ['--format']],
    ['show', ['--format']],
    ['convert', ['--to']],
    ['convert', ['--to', 'journal', '--format']],
  ])('is wrong usage of %s %s, and nothing is begun', async (command, flags) => {
    const path = machine.write('a.jsonl', claudeLogs(2, { session: ONE }))
    const { code, stderr } = await hansard([command, path, ...flags, 'bogus'])
    expect(code).toBe(2)
    expect(stderr).toContain('there is no format called "bogus"')
    expect(fs.existsSync(machine.home)).toBe(false)
    const asJson = await hansard([command, path, ...flags, 'bogus', '--json'])
    expect(asJson.code).toBe(2)
    expect(JSON.parse(asJson.stdout)).toMatchObject({ error: { code: 'unknown-format' } })
  })
})

describe('a file that is in no format known here', () => {
  it('is taken in with the format that its hint asks for', async () => {
    const path = machine.write('a.txt', 'some words\n')
    expect(await hansard(['import', path])).toMatchObject({ code: 1 })
    const { code, stderr } = await hansard(['import', path, '--format', 'raw'])
    expect(stderr).toContain('1 session and 1 entry taken in')
    expect(code).toBe(0)
  })
})

describe('files that are no transcripts', () => {
  it.each(['sync', 'import'])(
    'in a folder do not fail %s, which says where they are listed',
    async (command) => {
      for (const name of ['one', 'two', 'three']) machine.write(`box/${name}.txt`, `${name}\n`)
      machine.write('box/log.jsonl', claudeLogs(2, { session: ONE }))
      const { code, stderr } = await hansard([command, join(machine.user, 'box')])
      expect(code).toBe(0)
      expect(stderr).toContain('is plain text, and 2 more: hansard doctor lists them')
      const { stdout } = await hansard(['doctor'])
      for (const name of ['one', 'two', 'three']) expect(stdout).toContain(`${name}.txt: plain text`)
    },
  )

  it.each(['sync', 'import'])('fail %s when they are named themselves', async (command) => {
    const path = machine.write('box/one.txt', 'one\n')
    const { code, stderr } = await hansard([command, path])
    expect(code).toBe(1)
    expect(stderr).toContain(`not-a-transcript: ${path} is plain text`)
  })
})

describe('a tar file', () => {
  it('is refused by show and named by sync, which goes on, and an import takes what it holds', async () => {
    const path = machine.write('box/a.tar', '')
    fs.writeFileSync(path, toTar({ [`${ONE}.jsonl`]: claudeLogs(2, { session: ONE }) }))
    const shown = await hansard(['show', path])
    expect(shown.code).toBe(1)
    expect(shown.stderr).toContain(`hansard import ${path}`)
    const synced = await hansard(['sync', join(machine.user, 'box')])
    expect(synced.code).toBe(0)
    expect(synced.stderr).toContain(`unsupported: ${path} is a tar archive: hansard import ${path}`)
    const taken = await hansard(['import', join(machine.user, 'box')])
    expect(taken.code).toBe(0)
    expect(taken.stderr).toContain('1 session and 2 entries taken in')
  })
})

describe('an import', () => {
  it('is indexed, as a sync is, unless that is declined', async () => {
    const log = machine.write('one.jsonl', claudeLogs(2, { session: ONE, text: 'wombat' }))
    expect((await hansard(['import', log, '--no-index'])).code).toBe(0)
    expect(fs.existsSync(join(machine.home, 'index/search.json'))).toBe(false)
    expect((await hansard(['import', log])).code).toBe(0)
    expect(fs.existsSync(join(machine.home, 'index/search.json'))).toBe(true)
    const found = JSON.parse((await hansard(['search', 'wombat', '--json'])).stdout)
    expect(found).toMatchObject({ total: 2, scanned: { units: 0 } })
  })

  it('says of a journal what else can be done with it, and of its own archive takes in what is new', async () => {
    const other = join(machine.base, 'other')
    const session = await record({ home: other, cwd: machine.cwd, agent: 'mine' })
    session.user('go')
    await session.end()
    const folder = join(other, 'sessions', session.id)
    const journal = join(folder, fs.readdirSync(folder).find((name) => name.startsWith('journal-')) ?? '')
    const refused = await hansard(['import', journal, '--json'])
    expect(refused.code).toBe(1)
    expect(JSON.parse(refused.stdout)).toMatchObject({
      files: { seen: 1, new: 0, failed: 1 },
      problems: [{ cause: 'invalid-argument', count: 1 }],
    })
    const { stderr } = await hansard(['import', journal])
    expect(stderr).toContain(`${journal} is a journal of another archive: hansard show reads it`)
    const own = await run(['import', journal, '--json', '--home', other], { env: { HOME: machine.user } })
    expect(JSON.parse(own.stdout)).toMatchObject({ sessions: 1, problems: [] })
  })

  it('keeps without secrets where that is set, and says that it keeps where that is not', async () => {
    const log = machine.write('one.jsonl', claudeLogs(2, { session: ONE, text: KEY }))
    expect((await hansard(['import', log], { HANSARD_KEEP: 'redacted' })).code).toBe(0)
    const kept = fs
      .readdirSync(machine.home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => fs.readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    expect(kept.some((text) => text.includes('question') || text.includes(ONE))).toBe(true)
    expect(kept.some((text) => text.includes(KEY))).toBe(false)
    expect((await hansard(['import', log], { HANSARD_KEEP: 'no' })).stderr).toContain('an import is kept')
    const wrong = await hansard(['import', log], { HANSARD_KEEP: 'redact' })
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('HANSARD_KEEP is "redact"')])
  })
})

describe('doctor', () => {
  it('says which it is: nothing synced, or an index that is no database', async () => {
    expect((await hansard(['doctor'])).stderr).toContain('nothing was synced yet')
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    await hansard(['sync'])
    const path = join(machine.home, 'index/state.db')
    for (const suffix of ['-wal', '-shm']) fs.rmSync(path + suffix, { force: true })
    fs.writeFileSync(path, 'not a database, '.repeat(500))
    const { stdout, stderr } = await hansard(['doctor'])
    expect(stderr).toContain('damaged, or no database')
    expect(stdout).toContain('Deleted by agents themselves')
    expect(JSON.parse((await hansard(['doctor', '--json'])).stdout)).toMatchObject({ state: 'damaged' })
  })

  it('names kept copies that were deleted, with the way out, which the next sync takes', async () => {
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    await hansard(['sync', '--no-index'])
    const copies = fs.readdirSync(join(machine.home, 'kept'), { recursive: true, encoding: 'utf8' })
    fs.rmSync(join(machine.home, 'kept', copies.find((name) => name.endsWith(`${ONE}.jsonl`)) ?? ''))
    const { stdout } = await hansard(['doctor'])
    expect(stdout).toContain(`${machine.log(ONE)}: its copy was deleted\n`)
    expect(stdout).toContain('hansard sync takes in again')
    const asJson = JSON.parse((await hansard(['doctor', '--json'])).stdout) as object
    expect(asJson).toMatchObject({
      lost: [{ file: machine.log(ONE), problem: 'missing', source: 'there' }],
      totals: { lost: 1 },
    })
    expect((await hansard(['sync', '--no-index'])).stderr).toContain('1 file: 1 new')
    expect((await hansard(['doctor'])).stdout).not.toContain('its copy was')
  })
})
