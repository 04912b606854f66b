/** What is packed, or piped in: nothing of it is lost in silence. */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { importInputs, type ImportInput, type ImportOptions } from './import.ts'
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

const take = (input: ImportInput, more: ImportOptions = {}): Promise<SyncReport> =>
  importInputs(machine.archive(), [input], { env: {}, userHome: machine.user, cwd: machine.cwd, ...more })

const standardInput = (bytes: Buffer): ImportInput => ({
  chunks: async function* () {
    for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000)
  },
})

/** Python's own writer: `script` has `z`, the open package. */
function python(kind: 'zip' | 'tar', script: string): string {
  const path = join(machine.base, `logs.${kind}`)
  const open = kind === 'zip' ? "zipfile.ZipFile(sys.argv[1], 'w')" : "tarfile.open(sys.argv[1], 'w')"
  const lines = script.split('\n').map((line) => `    ${line.trim()}`)
  const program = `import sys, io, zipfile, tarfile\nwith ${open} as z:\n${lines.join('\n')}`
  execFileSync('python3', ['-c', program, path], { cwd: join(machine.user, 'logs') })
  return path
}

const filesIn = (folder: string): readonly string[] =>
  fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.startsWith('stdin-')) : []

describe('an import of a zip file', () => {
  it('tells of the entries that it leaves out, and takes in the rest', async () => {
    const path = python('zip', `z.write('one.jsonl')\nz.writestr('../up.jsonl', 'x')`)
    expect(await take({ path })).toMatchObject({
      sessions: 1,
      files: { seen: 2, new: 1, failed: 1 },
      problems: [
        { cause: 'damage', count: 1, example: expect.stringContaining('leads out of the zip file') },
      ],
    })
  })

  it('tells of bytes that are not those that were packed', async () => {
    const path = python('zip', `z.write('one.jsonl')`)
    const bytes = fs.readFileSync(path)
    const at = bytes.indexOf('question 0')
    bytes[at] = 0x51
    fs.writeFileSync(path, bytes)
    expect((await take({ path })).problems).toMatchObject([{ cause: 'damage', count: 1 }])
  })
})

describe('an import of a tar file', () => {
  it('passes over a path that leaves the folder, tells of it, and takes in the rest', async () => {
    const path = python(
      'tar',
      `i = tarfile.TarInfo('../up.jsonl')
       i.size = 700
       z.addfile(i, io.BytesIO(b'x' * 700))
       z.add('one.jsonl')
       z.add('deep/two.jsonl')`,
    )
    expect(await take({ path })).toMatchObject({
      sessions: 2,
      files: { seen: 3, new: 2, failed: 1 },
      problems: [{ cause: 'unsafe-path', count: 1, example: expect.stringContaining('../up.jsonl') }],
    })
  })

  it.each(['deep', '**/two.*'])('leaves out what is excluded: %s', async (pattern) => {
    const path = python('tar', `z.add('deep/two.jsonl')\nz.add('one.jsonl')`)
    expect(await take({ path }, { exclude: [pattern] })).toMatchObject({
      sessions: 1,
      files: { seen: 1, new: 1 },
      problems: [],
    })
  })

  it('keeps nothing that would leave too little of the disk', async () => {
    const path = python('tar', `z.add('one.jsonl')`)
    const report = await take({ path }, { disk: () => ({ free: 100, total: 1000 }) })
    expect(report).toMatchObject({ sessions: 0, files: { seen: 1, new: 0, failed: 1 } })
    expect(report.problems).toMatchObject([{ cause: 'disk-full' }])
  })
})

it('an import of a tar file that is cut off tells of damage, and takes what stands before it', async () => {
  const whole = fs.readFileSync(python('tar', `z.add('one.jsonl')\nz.add('deep/two.jsonl')`))
  const second = whole.indexOf('deep/two.jsonl')
  for (const size of [second + 600, second + 100, second, 300]) {
    const path = join(machine.base, `cut-${size}.tar`)
    fs.writeFileSync(path, whole.subarray(0, size))
    expect(await take({ path })).toMatchObject({
      sessions: size > 300 ? 1 : 0,
      files: { new: size > 300 ? 1 : 0, failed: 1 },
      problems: [{ cause: 'damage', count: 1, example: expect.stringContaining('the tar file is damaged') }],
    })
  }
})

it('an import counts a session once that lies there as a file and in a package', async () => {
  const path = python('zip', `z.write('one.jsonl')\nz.write('deep/two.jsonl')`)
  fs.renameSync(path, join(machine.user, 'logs/packed.zip'))
  expect(await take({ path: join(machine.user, 'logs') })).toMatchObject({ sessions: 2, problems: [] })
  expect(await machine.list()).toHaveLength(2)
})

describe('an import of standard input', () => {
  it.each(['zip', 'tar'] as const)(
    'takes a %s file for what it is, and leaves nothing behind',
    async (kind) => {
      const add = kind === 'zip' ? 'z.write' : 'z.add'
      const path = python(kind, `${add}('one.jsonl')\n${add}('deep/two.jsonl')`)
      const input = standardInput(fs.readFileSync(path))
      expect(await take(input)).toMatchObject({ sessions: 2, entries: 8, files: { new: 2 }, problems: [] })
      expect(await take(input)).toMatchObject({ sessions: 0, files: { new: 0, unchanged: 2 } })
      expect(filesIn(join(machine.home, 'index'))).toEqual([])
    },
  )

  it('is for its owner alone while it is on disk, and goes also when it fails', async () => {
    const modes: number[] = []
    const index = join(machine.home, 'index')
    const failing: ImportInput = {
      chunks: async function* () {
        yield Buffer.from('{"a":1}\n')
        for (const name of filesIn(index)) modes.push(fs.statSync(join(index, name)).mode & 0o777)
        throw new Error('the pipe broke')
      },
    }
    expect(await take(failing)).toMatchObject({ files: { seen: 1, failed: 1 }, problems: [{ cause: 'io' }] })
    expect(modes).toEqual([0o600])
    expect(filesIn(index)).toEqual([])
  })

  it('ends before it fills the disk, and with nothing in it says so', async () => {
    const bytes = fs.readFileSync(join(machine.user, 'logs/one.jsonl'))
    const disk = () => ({ free: 100, total: 1000 })
    expect((await take(standardInput(bytes), { disk })).problems).toMatchObject([{ cause: 'disk-full' }])
    expect((await take(standardInput(Buffer.alloc(0)))).problems).toMatchObject([
      { cause: 'not-a-transcript' },
    ])
  })
})

describe('an import that keeps without secrets', () => {
  const KEY = `sk-ant-api03-${'Ab1'.repeat(31)}-Ab1Ab1AA`
  it.each([
    ['a file', () => ({ path: machine.write('logs/key.jsonl', claudeLogs(2, { session: ONE, text: KEY })) })],
    ['standard input', () => standardInput(Buffer.from(claudeLogs(2, { session: ONE, text: KEY })))],
  ] as const)('writes none of them: %s', async (_, toInput) => {
    expect(await take(toInput(), { keep: 'redacted' })).toMatchObject({ sessions: 1, problems: [] })
    const found = execFileSync('sh', ['-c', `grep -rl '${KEY}' '${machine.home}' || true`], {
      encoding: 'utf8',
    })
    expect(found).toBe('')
  })
})

describe("an import of OpenCode's storage", () => {
  const MS = 1_770_000_000_000
  const put = (root: string): string => {
    const write = (path: string, value: object): void =>
      void machine.write(`${root}/${path}`, JSON.stringify(value))
    for (const n of [1, 2]) {
      const sessionID = `ses_${n}`
      const time = { created: MS, updated: MS }
      write(`session/p1/${sessionID}.json`, {
        id: sessionID,
        projectID: 'p1',
        directory: '/w',
        version: '1.1.0',
        time,
      })
      write(`project/p${n}.json`, { id: `p${n}`, worktree: '/w', time })
      for (const m of [1, 2, 3]) {
        const id = `msg_${n}${m}`
        write(`message/${sessionID}/${id}.json`, { id, sessionID, role: 'user', time: { created: MS + m } })
        write(`part/${id}/prt_${n}${m}.json`, {
          id: `prt_${n}${m}`,
          sessionID,
          messageID: id,
          type: 'text',
          text: `t${m}`,
        })
      }
    }
    return join(machine.user, root)
  }
  it.each([
    ['under its own name, in a folder', 'copy/storage', 'copy'],
    ['given directly', 'copy/storage', 'copy/storage'],
    ['under another name', 'copy/backup', 'copy'],
    ['under another name, given directly', 'backup', 'backup'],
  ])('brings whole sessions: %s', async (_, root, named) => {
    put(root)
    expect(await take({ path: join(machine.user, named) })).toMatchObject({ sessions: 2, problems: [] })
    const listed = await machine.list()
    expect(listed).toHaveLength(2)
    for (const { id } of listed) expect(await machine.texts(id)).toEqual(['t1', 't2', 't3'])
  })
})
