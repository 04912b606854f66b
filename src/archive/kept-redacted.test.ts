import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRedactor } from '../redact/redactor.ts'
import type { Row, SourceDatabase } from '../transcript/source.ts'
import { openArchive } from './archive.ts'
import { openKept, type KeptPlace } from './kept.ts'

const SECRET = 'hunter2-hunter2'
const redact = createRedactor({ key: Buffer.alloc(32, 1), values: [{ name: 'TEST', value: SECRET }] })

type Setup = {
  readonly file: string
  readonly home: string
  readonly root: string
  readonly place: KeptPlace
}

function setup(): Setup {
  const folder = fs.mkdtempSync(join(os.tmpdir(), 'redacted-'))
  const [root, home] = [join(folder, 'source'), join(folder, 'home')]
  fs.mkdirSync(root)
  const place = openKept(openArchive(home, { write: true }), { redact }).place('pi', root)
  return { file: join(root, 'x'), home, root, place }
}

async function text(place: KeptPlace, version?: number): Promise<string> {
  return (await place.file('x', version)?.bytes(1e9))?.toString('utf8') ?? ''
}

/** What the whole text comes to. */
function redacted(whole: string): string {
  return whole
    .split('\n')
    .map((line) => (line.startsWith('{') ? JSON.stringify(redact.json(JSON.parse(line))) : redact.text(line)))
    .join('\n')
}

function expectNoSecret(home: string): void {
  for (const name of fs.readdirSync(home, { recursive: true, encoding: 'utf8' })) {
    const at = join(home, name)
    if (fs.statSync(at).isFile()) expect([name, fs.readFileSync(at).includes(SECRET)]).toEqual([name, false])
  }
}

const line = (value: object): string => `${JSON.stringify(value)}\n`

describe('files kept redacted', () => {
  it('hold no secret, and all else byte for byte', async () => {
    const { file, home, place } = setup()
    const plain = '{"a" :  1.0}\nno json, é\r\n'
    fs.writeFileSync(file, plain + line({ text: `the key is ${SECRET}` }))
    expect((await place.keep('x', { file })).change).toBe('new')
    const kept = await text(place)
    expect(kept.startsWith(plain)).toBe(true)
    expect(kept).toMatch(/the key is .+/)
    expectNoSecret(home)
  })

  it('grow by the suffix, having looked at no more than the last 4 KB', async () => {
    const { file, place } = setup()
    const before = line({ text: `${'a'.repeat(100)}${SECRET}` }).repeat(200)
    fs.writeFileSync(file, before)
    await place.keep('x', { file })
    const after = line({ text: `more ${SECRET}` })
    fs.appendFileSync(file, after)
    expect(await place.keep('x', { file })).toMatchObject({
      change: 'grown',
      bytesRead: 4096 + after.length,
      bytes: before.length + after.length,
    })
    expect(await text(place)).toBe(redacted(before + after))
  })

  it('see a secret that was cut in two by the moment of the sync', async () => {
    const { file, home, place } = setup()
    const whole = line({ text: 'one' }) + line({ text: `x ${SECRET} y` })
    for (let cut = 0; cut <= whole.length; cut += 1) {
      fs.writeFileSync(file, whole.slice(0, cut))
      await place.keep('x', { file })
      fs.writeFileSync(file, whole)
      await place.keep('x', { file })
      expect(await text(place)).toBe(redacted(whole))
      place.remove('x')
    }
    expectNoSecret(home)
  })

  it('keep what a rewrite took away', async () => {
    const { file, home, place } = setup()
    fs.writeFileSync(file, line({ text: `one ${SECRET}` }) + line({ text: 'two' }))
    await place.keep('x', { file })
    fs.writeFileSync(file, '{"document": "without a line end"}')
    expect((await place.keep('x', { file })).change).toBe('rewritten')
    fs.writeFileSync(file, '{"document": "rewritten, and longer than before"}')
    expect((await place.keep('x', { file })).change).toBe('rewritten')
    expect(await text(place, 1)).toContain('two')
    expect(await text(place, 2)).toContain('without a line end')
    expectNoSecret(home)
  })

  it('are made of what was kept before with its secrets, and of its older versions', async () => {
    const { file, home, root } = setup()
    const exact = openKept(openArchive(home)).place('pi', root)
    for (const content of [line({ old: SECRET }), line({ text: SECRET })]) {
      fs.writeFileSync(file, content)
      await exact.keep('x', { file })
    }
    const place = openKept(openArchive(home), { redact }).place('pi', root)
    fs.appendFileSync(file, line({ more: SECRET }))
    expect((await place.keep('x', { file })).change).toBe('grown')
    expectNoSecret(home)
    expect(await text(place)).toBe(redacted(fs.readFileSync(file, 'utf8')))
    expect(await text(place, 1)).toBe(redacted(line({ old: SECRET })))
  })

  it('are refused for what would hide its secrets', async () => {
    const { file, place } = setup()
    fs.writeFileSync(file, gzipSync(SECRET))
    await expect(place.keep('x', { file })).rejects.toThrow('is no text')
  })

  it('are the whole text redacted, wherever syncs cut it', async () => {
    const part = fc.constantFrom('a', '\n', SECRET, '{"k":"v"}\n', `{"k":"${SECRET}"}\n`, 'b\r\n')
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(part, fc.boolean()), { maxLength: 25 }), async (parts) => {
        const { file, root, place } = setup()
        let whole = ''
        for (const [more, isSynced] of parts) {
          whole += more
          fs.writeFileSync(file, whole)
          if (isSynced) await place.keep('x', { file })
        }
        if (parts.length > 0) await place.keep('x', { file })
        const fresh = openKept(openArchive(join(root, '../fresh'), { write: true }), { redact }).place(
          'pi',
          root,
        )
        if (parts.length > 0) await fresh.keep('x', { file })
        expect(await text(place)).toBe(await text(fresh))
        expect(place.versions('x')).toEqual([])
        fs.rmSync(join(root, '..'), { recursive: true, force: true })
      }),
      { numRuns: 30 },
    )
  })

  it('takes the secrets out of rows, too', async () => {
    const { home, place } = setup()
    const database: SourceDatabase = {
      tables: () => ['t'],
      columns: () => ['id', 'value'],
      key: () => ['id'],
      async *rows() {
        const rows: readonly Row[] = [
          { id: 1, value: `{"key":"${SECRET}"}` },
          { id: 2, value: Buffer.from(`key ${SECRET}`) },
        ]
        yield rows
      },
      close: async () => {},
    }
    expect((await place.keepRows('state.db', database, [{ table: 't' }])).change).toBe('new')
    expect((await place.keepRows('state.db', database, [{ table: 't' }])).change).toBe('none')
    expectNoSecret(home)
    const opened = await place.file('state.db')?.database?.()
    expect(opened?.tables()).toEqual(['t'])
    await opened?.close()
  })
})
