import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { HansardError } from '../errors.ts'
import type { Format, ReadItem } from '../formats/format.ts'
import { journal } from '../journal/format.ts'
import type { Session } from '../transcript/session.ts'
import { convertItems, type ConvertReport } from './convert.ts'
import type { LossLog } from './losses.ts'

let out: string
beforeEach(() => {
  out = fs.mkdtempSync(join(os.tmpdir(), 'hansard-convert-'))
})

/** A line for each entry in `<title>.txt`, the next free name when that is taken; and a line for each session in `index`. */
const lines: Format = {
  id: 'lines',
  title: 'lines',
  detect: async () => undefined,
  async *read() {},
  write: {
    root: '.lines',
    ignored: () => '.',
    begin(session, context) {
      if (session.title === 'refused') throw new HansardError('invalid-id', 'not this one')
      let path = `${session.title}.txt`
      for (let n = 2; context.taken(path); n += 1) path = `${session.title}-${n}.txt`
      return {
        start: () => [{ op: 'append', path, text: `begin ${session.status}\n` }],
        entry(entry) {
          context.lost(entry, 'everything but its id')
          return [{ op: 'append', path, text: `${entry.id}\n` }]
        },
        end(session) {
          context.filled(undefined, 'end')
          if (session.title === 'half') throw new HansardError('io', 'not to the end')
          const line = `${session.title}\n`
          return [
            { op: 'append', path, text: `end ${session.status}\n` },
            { op: 'remove', path: path.replace('.txt', '.old') },
            {
              op: 'update',
              path: 'index',
              change: (current = '') => (current.includes(line) ? current : current + line),
            },
          ]
        },
      }
    },
  },
}

const facts = (id: string, title: string): Session => ({ id, title, status: 'completed' })
const opened = (id: string, title: string): ReadItem => ({
  type: 'session',
  session: { ...facts(id, title), status: 'running' },
})
const entry = (id: string, sequence: number, source = 'primary'): ReadItem => ({
  type: 'entry',
  entry: { id, source, sequence, kind: 'message', blocks: [] },
})
const torn: ReadItem = {
  type: 'damage',
  damage: { kind: 'torn', file: 'f', byteOffset: 0, byteLength: 1, reason: 'cut off' },
}

async function* stream(items: readonly ReadItem[]): AsyncGenerator<readonly ReadItem[]> {
  for (const item of items) yield [item]
}

const convert = (
  items: readonly ReadItem[],
  sessions: readonly { session: Session; entries: number }[],
  options: { force?: boolean } = {},
): Promise<ConvertReport> => convertItems(stream(items), { target: lines, out, sessions, ...options })

const all = (log: LossLog): string[] =>
  log.groups().flatMap(({ what, entries }) => [...entries()].map((entry) => `${entry}: ${what}`))
const read = (name: string): string => fs.readFileSync(join(out, '.lines', name), 'utf8')

/** Every file with its content and the time it was written. */
const snapshot = (): readonly string[] =>
  fs.readdirSync(join(out, '.lines')).map((name) => {
    const { ino, mtimeMs } = fs.statSync(join(out, '.lines', name))
    return `${name} ${ino} ${mtimeMs} ${read(name)}`
  })

describe('conversion', () => {
  it('writes each session with its last facts, and tells of every loss by its citation', async () => {
    const items = [opened('s', 'one'), entry('a', 0), entry('b', 0, 'subagent:x'), torn, entry('c', 1)]
    const report = await convert(items, [{ session: facts('s', 'one'), entries: 3 }])
    expect(read('one.txt')).toBe('begin completed\na\nb\nc\nend completed\n')
    expect(report.written).toEqual([join(out, '.lines', 'one.txt'), join(out, '.lines', 'index')])
    expect(all(report.lost).sort()).toEqual([
      's#0: everything but its id',
      's#1: everything but its id',
      's#subagent:x/0: everything but its id',
      's: damage (torn): cut off',
    ])
    expect(all(report.filled)).toEqual(['s: end'])
  })

  it('keeps sessions apart that alternate and want the same name', async () => {
    const items = [
      opened('s', 'same'),
      entry('a', 0),
      opened('t', 'same'),
      entry('x', 0),
      opened('s', 'same'),
      entry('b', 1),
    ]
    const report = await convert(items, [
      { session: facts('s', 'same'), entries: 2 },
      { session: facts('t', 'same'), entries: 1 },
    ])
    expect(read('same.txt')).toBe('begin completed\na\nb\nend completed\n')
    expect(read('same-2.txt')).toBe('begin completed\nx\nend completed\n')
    expect(report.written).toHaveLength(3)
  })

  it('writes a session without entries, and one whose count was not known', async () => {
    await convert(
      [opened('s', 'empty'), opened('t', 'late'), entry('x', 0)],
      [{ session: facts('s', 'empty'), entries: 0 }],
    )
    expect(read('empty.txt')).toBe('begin completed\nend completed\n')
    expect(read('late.txt')).toBe('begin running\nx\nend running\n')
  })

  it('goes on past a session that cannot be written, and throws when it is the only one', async () => {
    const items = [opened('s', 'refused'), entry('a', 0), opened('t', 'fine'), entry('b', 0)]
    const sessions = [
      { session: facts('s', 'refused'), entries: 1 },
      { session: facts('t', 'fine'), entries: 1 },
    ]
    const report = await convert(items, sessions)
    expect(report.failed).toMatchObject([{ session: 's', error: { code: 'invalid-id' } }])
    expect(read('fine.txt')).toContain('b\n')
    await expect(convert(items.slice(0, 2), sessions.slice(0, 1))).rejects.toMatchObject({
      code: 'invalid-id',
    })
  })

  it('leaves nothing behind when reading fails, nor the folders it made', async () => {
    const failing = async function* (): AsyncGenerator<readonly ReadItem[]> {
      yield [opened('s', 'one'), entry('a', 0)]
      throw new HansardError('io', 'the disk is gone')
    }
    const sessions = [{ session: facts('s', 'one'), entries: 9 }]
    const below = join(out, 'new', 'deeper')
    await expect(convertItems(failing(), { target: lines, out: below, sessions })).rejects.toMatchObject({
      code: 'io',
    })
    expect(fs.readdirSync(out)).toEqual([])
  })

  it('leaves nothing of a session that cannot be finished', async () => {
    const items = [opened('s', 'half'), entry('a', 0), opened('t', 'fine'), entry('b', 0)]
    await convert(items, [
      { session: facts('s', 'half'), entries: 1 },
      { session: facts('t', 'fine'), entries: 1 },
    ])
    expect(fs.readdirSync(join(out, '.lines')).sort()).toEqual(['fine.txt', 'index'])
    expect(read('index')).toBe('fine\n')
  })

  it('writes nothing when converted again, and says so', async () => {
    const items = [opened('s', 'same'), entry('a', 0), opened('t', 'same'), entry('x', 0)]
    const sessions = [
      { session: facts('s', 'same'), entries: 1 },
      { session: facts('t', 'same'), entries: 1 },
    ]
    const first = await convert(items, sessions)
    expect(first.unchanged).toEqual([])
    const before = snapshot()
    const again = await convert(items, sessions)
    expect(again.written).toEqual([])
    expect(again.unchanged).toEqual(first.written)
    expect(snapshot()).toEqual(before)
  })

  it('changes nothing at all where one file holds something else, and replaces it only by force', async () => {
    const items = [opened('s', 'one'), entry('a', 0), opened('t', 'two'), entry('b', 0)]
    const sessions = [
      { session: facts('s', 'one'), entries: 1 },
      { session: facts('t', 'two'), entries: 1 },
    ]
    fs.mkdirSync(join(out, '.lines'))
    fs.writeFileSync(join(out, '.lines', 'two.txt'), 'mine')
    const before = snapshot()
    await expect(convert(items, sessions)).rejects.toMatchObject({
      code: 'output-exists',
      message: expect.stringContaining(join(out, '.lines', 'two.txt')),
    })
    expect(snapshot()).toEqual(before)
    const forced = await convert(items, sessions, { force: true })
    expect(forced.written).toHaveLength(3)
    expect(read('two.txt')).toContain('b\n')
  })

  it('changes a shared file from what it holds, and removes a stale twin only by force', async () => {
    fs.mkdirSync(join(out, '.lines'))
    fs.writeFileSync(join(out, '.lines', 'index'), 'theirs\n')
    const items = [opened('s', 'one'), entry('a', 0)]
    const sessions = [{ session: facts('s', 'one'), entries: 1 }]
    await convert(items, sessions)
    expect(read('index')).toBe('theirs\none\n')
    fs.writeFileSync(join(out, '.lines', 'one.old'), 'stale')
    await expect(convert(items, sessions)).rejects.toMatchObject({ code: 'output-exists' })
    expect(read('one.old')).toBe('stale')
    await convert(items, sessions, { force: true })
    expect(fs.readdirSync(join(out, '.lines')).sort()).toEqual(['index', 'one.txt'])
  })

  it('follows no link below the root', async () => {
    const elsewhere = fs.mkdtempSync(join(os.tmpdir(), 'hansard-elsewhere-'))
    fs.mkdirSync(join(out, '.lines'))
    fs.symlinkSync(elsewhere, join(out, '.lines', 'below'))
    const items = [opened('s', 'below/one'), entry('a', 0)]
    const sessions = [{ session: facts('s', 'below/one'), entries: 1 }]
    for (const force of [false, true]) {
      await expect(convert(items, sessions, { force })).rejects.toMatchObject({ code: 'unsafe-path' })
    }
    expect(fs.readdirSync(elsewhere)).toEqual([])
  })

  it('never doubles a session of an archive', async () => {
    const items = [opened('s', 'one'), entry('a', 0)]
    const sessions = [{ session: facts('s', 'one'), entries: 1 }]
    const run = (force: boolean): Promise<ConvertReport> =>
      convertItems(stream(items), { target: journal, out, sessions, force })
    const folder = join(out, '.hansard', 'sessions', 's')
    await run(false)
    expect((await run(false)).written).toEqual([])
    expect(fs.readdirSync(folder)).toEqual(['journal-converted.jsonl'])
    fs.renameSync(join(folder, 'journal-converted.jsonl'), join(folder, 'journal-1-2-3.jsonl'))
    for (const force of [false, true])
      await expect(run(force)).rejects.toMatchObject({ code: 'output-exists' })
    expect(fs.readdirSync(folder)).toEqual(['journal-1-2-3.jsonl'])
  })

  it('keeps the .gitignore that is there', async () => {
    fs.mkdirSync(join(out, '.git'))
    fs.mkdirSync(join(out, '.lines'))
    fs.writeFileSync(join(out, '.lines', '.gitignore'), '!one.txt\n')
    const items = [opened('s', 'one'), entry('a', 0)]
    const report = await convert(items, [{ session: facts('s', 'one'), entries: 1 }])
    expect(read('.gitignore')).toBe('!one.txt\n')
    expect(report.unchanged).toEqual([])
  })

  it('refuses a format that is only read', async () => {
    const { write: _, ...readOnly } = lines
    await expect(convertItems(stream([]), { target: readOnly, out, sessions: [] })).rejects.toMatchObject({
      code: 'format-read-only',
    })
  })
})
