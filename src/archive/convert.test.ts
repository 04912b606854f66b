import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { HansardError } from '../errors.ts'
import type { Format, ReadItem } from '../formats/format.ts'
import type { Session } from '../transcript/session.ts'
import { convertItems, type ConvertReport } from './convert.ts'
import type { LossLog } from './losses.ts'

let out: string
beforeEach(() => {
  out = fs.mkdtempSync(join(os.tmpdir(), 'hansard-convert-'))
})

/** A line for each entry in `<title>.txt`; the next free name when that is taken. */
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
          return [{ op: 'append', path, text: `end ${session.status}\n` }]
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

describe('conversion', () => {
  it('writes each session with its last facts, and tells of every loss by its citation', async () => {
    const items = [opened('s', 'one'), entry('a', 0), entry('b', 0, 'subagent:x'), torn, entry('c', 1)]
    const report = await convert(items, [{ session: facts('s', 'one'), entries: 3 }])
    expect(read('one.txt')).toBe('begin completed\na\nb\nc\nend completed\n')
    expect(report.written).toEqual([join(out, '.lines', 'one.txt')])
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
    expect(report.written).toHaveLength(2)
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

  it('leaves nothing half-written when reading fails', async () => {
    const failing = async function* (): AsyncGenerator<readonly ReadItem[]> {
      yield [opened('s', 'one'), entry('a', 0)]
      throw new HansardError('io', 'the disk is gone')
    }
    const sessions = [{ session: facts('s', 'one'), entries: 9 }]
    await expect(convertItems(failing(), { target: lines, out, sessions })).rejects.toMatchObject({
      code: 'io',
    })
    expect(fs.readdirSync(join(out, '.lines'))).toEqual([])
  })

  it('replaces what is there only by force', async () => {
    fs.mkdirSync(join(out, '.lines'))
    fs.writeFileSync(join(out, '.lines', 'one.txt'), 'mine')
    const items = [opened('s', 'one'), entry('a', 0)]
    const sessions = [{ session: facts('s', 'one'), entries: 1 }]
    await convert(items, sessions)
    expect(read('one.txt')).toBe('mine')
    expect(read('one-2.txt')).toContain('a\n')
    await convert(items, sessions, { force: true })
    expect(read('one.txt')).toContain('a\n')
  })

  it('refuses a format that is only read', async () => {
    const { write: _, ...readOnly } = lines
    await expect(convertItems(stream([]), { target: readOnly, out, sessions: [] })).rejects.toMatchObject({
      code: 'format-read-only',
    })
  })
})
