import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeLog, claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { importInputs, type ImportInput } from './import.ts'
import type { SyncReport } from './sync.ts'

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001'
const TWO = 'bbbbbbbb-0000-4000-8000-000000000002'

let machine: Machine
beforeEach(() => {
  machine = createMachine()
  machine.write('logs/one.jsonl', claudeLogs(4, { session: ONE }))
  machine.write('logs/deep/two.jsonl', claudeLogs(4, { session: TWO }))
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

const take = (...inputs: readonly ImportInput[]): Promise<SyncReport> =>
  importInputs(machine.archive(), inputs, { env: {}, userHome: machine.user, cwd: machine.cwd })

const standardInput = (text: string): ImportInput => ({
  chunks: async function* () {
    yield Buffer.from(text.slice(0, 10))
    yield Buffer.from(text.slice(10))
  },
})

const logs = (): string => join(machine.user, 'logs')

function packed(name: string, command: string, ...args: readonly string[]): string {
  const path = join(machine.base, name)
  execFileSync(command, [...args, path, '.'], { cwd: logs(), stdio: 'ignore' })
  return path
}

/** A zip file without compression, as the standard has it: there may be no program here that writes one. */
function zipped(): string {
  const path = join(machine.base, 'logs.zip')
  const script = `import sys, zipfile, os
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as z:
    for name in ['one.jsonl', 'deep/two.jsonl']: z.write(name)`
  execFileSync('python3', ['-c', script, path], { cwd: logs() })
  return path
}

describe('an import', () => {
  it.each([
    ['a folder', () => ({ path: logs() })],
    ['a tar.gz file', () => ({ path: packed('logs.tar.gz', 'tar', 'czf') })],
    ['a tar file', () => ({ path: packed('logs.tar', 'tar', 'cf') })],
    ['a zip file', () => ({ path: zipped() })],
  ] as const)('of %s brings all it holds, and nothing more the second time', async (_, toInput) => {
    const input = toInput()
    expect(await take(input)).toMatchObject({
      sessions: 2,
      entries: 8,
      problems: [],
      files: { seen: 2, new: 2 },
    })
    const listed = await machine.list()
    expect(listed).toHaveLength(2)
    expect(await take(input)).toMatchObject({ sessions: 0, files: { new: 0, unchanged: 2 }, problems: [] })
    expect(await machine.list()).toEqual(listed)
  })

  it('of a tar file takes names of any length, and passes over links', async () => {
    const long = `${'a'.repeat(90)}/${'b'.repeat(90)}/${'c'.repeat(90)}.jsonl`
    machine.write(`logs/${long}`, claudeLogs(2, { session: 'cccccccc-0000-4000-8000-000000000003' }))
    fs.symlinkSync('/etc/passwd', join(logs(), 'link.jsonl'))
    const report = await take({ path: packed('logs.tar', 'tar', 'cf') })
    expect(report).toMatchObject({ sessions: 3, files: { new: 3, failed: 0 } })
    expect(report.problems).toMatchObject([{ cause: 'link', count: 1 }])
  })

  it('of a file, and of the same on standard input, is one session', async () => {
    await take({ path: join(logs(), 'one.jsonl') })
    const text = fs.readFileSync(join(logs(), 'one.jsonl'), 'utf8')
    expect(await take(standardInput(text))).toMatchObject({ files: { new: 1 }, problems: [] })
    expect(await take(standardInput(text))).toMatchObject({ files: { new: 0, unchanged: 1 }, sessions: 0 })
    const listed = await machine.list()
    expect(listed).toHaveLength(1)
    expect(listed[0]?.totals).toMatchObject({ entries: 4, calls: 2, usage: { input: 20, output: 10 } })
  })

  it('stays when what it came from is gone, and is not looked at again', async () => {
    await take({ path: logs() })
    const listed = await machine.list()
    fs.appendFileSync(join(logs(), 'one.jsonl'), claudeLog(4, { session: ONE }))
    expect(await machine.sync()).toMatchObject({ files: { seen: 0 } })
    fs.rmSync(logs(), { recursive: true })
    expect(await machine.list()).toEqual(listed)
  })

  it('tells of what is not there, and takes in the rest', async () => {
    const report = await take({ path: join(machine.base, 'nowhere') }, { path: join(logs(), 'one.jsonl') })
    expect(report).toMatchObject({
      sessions: 1,
      files: { seen: 2, failed: 1 },
      problems: [{ cause: 'not-found', count: 1 }],
    })
  })

  it('tells what a file looks like that is in no format known here', async () => {
    const path = machine.write('other.txt', 'nothing of the kind\n')
    expect((await take({ path })).problems).toMatchObject([{ cause: 'not-a-transcript', count: 1 }])
    expect((await take(standardInput('nothing of the kind\n'))).problems).toMatchObject([
      { cause: 'not-a-transcript', count: 1 },
    ])
    expect((await take({ path: join(path, '..') })).problems).toMatchObject([{ cause: 'unknown-format' }])
  })
})
