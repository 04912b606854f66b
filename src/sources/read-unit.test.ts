import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { claudeLog, claudeLogs } from '../../test/machine.ts'
import { claudeCode } from '../formats/claude-code.ts'
import { nodeFiles } from '../journal/files.ts'
import { openShortBelow } from './below.ts'
import { openShort } from './chunks-at-once.ts'
import { runUnitJob, type UnitJob, type UnitResult } from './read-unit.ts'
import type { Call } from './session-facts.ts'

const base = fs.mkdtempSync(join(tmpdir(), 'hansard-unit-'))
afterAll(() => fs.rmSync(base, { recursive: true, force: true }))

const SESSION = '11111111-1111-4111-8111-111111111111'
const log = (count: number): string => claudeLogs(count, { session: SESSION })

let roots = 0
function write(path: string, content: string | Buffer): string {
  roots += 1
  const root = join(base, String(roots))
  fs.mkdirSync(dirname(join(root, path)), { recursive: true })
  fs.writeFileSync(join(root, path), content)
  return root
}

type Read = { readonly result: UnitResult; readonly calls: readonly Call[] }

async function read(root: string, path: string, more: Partial<UnitJob> = {}): Promise<Read> {
  const calls: Call[] = []
  const job = {
    home: join(base, 'home'),
    agent: 'claude-code',
    root,
    unit: path,
    paths: [path],
    isKept: false,
  }
  const result = await runUnitJob({ ...job, ...more }, (some) => void calls.push(...some))
  return { result, calls }
}

/** Whether a log is read at once where it lies; what was opened is closed then. */
function isReadAtOnce(root: string, path: string): boolean {
  let open = 0
  const counted = {
    ...nodeFiles,
    openRead(at: string) {
      const fd = nodeFiles.openRead(at)
      open += 1
      return fd
    },
    close(fd: number) {
      nodeFiles.close(fd)
      open -= 1
    },
  }
  const at = join(root, path)
  const items = claudeCode.readAtOnce?.(path, (most) => openShort(counted, { at, isPacked: false }, most), {
    isForFacts: true,
  })
  let count = 0
  for (let some = items?.next(); some !== undefined; some = items?.next()) count += some.length
  items?.leave()
  expect(open).toBe(0)
  return count > 0
}

const LOGS: readonly (readonly [name: string, path: string, content: string | Buffer])[] = [
  ['one that goes by its name', `project/${SESSION}.jsonl`, log(30)],
  ['one that has another name', 'project/other.jsonl', log(30)],
  ["a subagent's", 'project/agent-a1.jsonl', log(30)],
  ['one that lies in no folder', `${SESSION}.jsonl`, log(3)],
  ['one of several chunks', 'project/long.jsonl', log(2500)],
  ['one with lines that are torn', 'project/torn.jsonl', `${log(20)}{"torn\n${log(2)}{"type":"user","mess`],
  ['one with lines that nobody knows', 'project/new.jsonl', `${log(20)}{"type":"brand-new","uuid":"u"}\n`],
]

describe('a log alone in its place', () => {
  it.each(LOGS)('is read at once, to the facts of reading it as any other: %s', async (_, path, content) => {
    const root = write(path, content)
    expect(isReadAtOnce(root, path)).toBe(true)
    const told = await read(root, path)
    expect(told.result).toMatchObject({ type: 'read', format: 'claude-code' })
    // Where the format is known before, nothing is told by the first bytes.
    expect(told).toEqual(await read(root, path, { format: 'claude-code' }))
  })

  it('is read as any other where it is not surely its own, too long or packed', async () => {
    const text = 'x'.repeat(3000)
    const all: readonly (readonly [string, string | Buffer, string])[] = [
      ['packed.jsonl', gzipSync(log(30)), 'claude-code'],
      ['long.jsonl', claudeLog(0, { session: SESSION, text }).repeat(800), 'claude-code'],
      ['mixed.jsonl', `{"type":"message"}\n${log(30)}`, 'claude-code'],
    ]
    for (const [path, content, format] of all) {
      const root = write(path, content)
      expect([path, isReadAtOnce(root, path)]).toEqual([path, false])
      const told = await read(root, path)
      expect(told.result).toMatchObject({ type: 'read', format })
      expect(told).toEqual(await read(root, path, { format }))
    }
    expect((await read(write('none.jsonl', ''), 'none.jsonl')).result.type).toBe('unknown')
    expect((await read(write('there.jsonl', log(1)), 'gone.jsonl')).result.type).toBe('gone')
  })

  it('is told by lines whose shape is known as by any other', () => {
    const answers = (session: string): string[] => [1, 3, 5].map((n) => claudeLog(n, { session }))
    const isOwn = (lines: readonly string[]): boolean =>
      isReadAtOnce(write('l.jsonl', lines.join('')), 'l.jsonl')
    for (let time = 0; time < 2; time += 1) {
      expect(isOwn(answers(SESSION))).toBe(true)
      // As iFlow names them.
      expect(isOwn(answers('session-1'))).toBe(false)
      for (const odd of ['{"type":"message"}\n', '\n', '{"torn\n']) {
        expect(isOwn(answers(SESSION).toSpliced(1, 0, odd))).toBe(false)
        expect(isOwn([odd, ...answers(SESSION)])).toBe(false)
      }
      expect(isOwn([...answers(SESSION), '{"torn'])).toBe(false)
      const long = claudeLog(1, { session: SESSION, text: 'x'.repeat(9000) })
      expect(isOwn([long])).toBe(true)
      expect(isOwn([...answers(SESSION), long, '{"torn\n'])).toBe(true)
    }
  })

  it('is none that a link leads to, or that lies outside of its place', async () => {
    const root = write('there.jsonl', log(3))
    const elsewhere = write('other.jsonl', log(3))
    fs.symlinkSync(join(root, 'there.jsonl'), join(root, 'link.jsonl'))
    fs.symlinkSync(elsewhere, join(root, 'folder'))
    for (const path of [
      'link.jsonl',
      'folder/other.jsonl',
      `../${elsewhere.slice(base.length + 1)}/other.jsonl`,
    ]) {
      expect(openShortBelow(root, path, 1_000_000)).toBeUndefined()
      expect((await read(root, path)).result.type).not.toBe('read')
    }
    const found = openShortBelow(root, 'there.jsonl', 1_000_000)
    expect(found?.first.toString()).toBe(log(3))
    found?.leave()
  })
})
