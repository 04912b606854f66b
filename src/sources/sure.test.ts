import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { SAMPLES } from '../../test/kept-samples.ts'
import { claudeLog, claudeLogs } from '../../test/machine.ts'
import { claudeCode } from '../formats/claude-code.ts'
import { openSource } from './open.ts'
import { tellFormat } from './tell-format.ts'

const folder = fs.mkdtempSync(join(tmpdir(), 'sure-'))
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

async function isSure(name: string, content: string | Buffer): Promise<boolean> {
  const path = join(folder, basename(name))
  fs.mkdirSync(dirname(path), { recursive: true })
  fs.writeFileSync(path, content)
  const source = await openSource(path)
  const isOwn = (await claudeCode.isSurely?.(source)) === true
  // Whoever is sure says what asking every format would.
  if (isOwn) expect((await tellFormat(source))?.id).toBe('claude-code')
  return isOwn
}

const SESSION = '11111111-1111-4111-8111-111111111111'
const lines = (count: number): string => claudeLogs(count, { session: SESSION })

describe('a log in its own place', () => {
  it('is told by its first lines alone where all of them are its own', async () => {
    expect(await isSure('a.jsonl', lines(1))).toBe(true)
    expect(await isSure('b.jsonl', lines(200))).toBe(true)
  })

  it('is told by asking every format where one of them is not, or none is whole', async () => {
    expect(await isSure('c.jsonl', `${lines(1)}{"type":"message"}\n`)).toBe(false)
    expect(await isSure('d.jsonl', `{"torn\n${lines(2)}`)).toBe(false)
    expect(await isSure('e.jsonl', lines(1).slice(0, -20))).toBe(false)
    expect(await isSure('f.jsonl', lines(1).replace('"cwd":"/nowhere",', ''))).toBe(false)
    expect(await isSure('g.jsonl', '')).toBe(false)
    expect(await isSure('h.jsonl', claudeLog(0, { session: SESSION, text: 'x'.repeat(9000) }))).toBe(false)
  })

  it('is taken for no other, whatever format it is in', async () => {
    for (const { format, path, records, isLines } of SAMPLES) {
      if (format === 'claude-code') continue
      const all = isLines && Array.isArray(records) ? records : [records]
      const content = all.map((one) => `${JSON.stringify(one)}\n`).join('')
      expect([format, await isSure(path, content)]).toEqual([format, false])
    }
  })
})
