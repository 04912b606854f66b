import { Buffer } from 'node:buffer'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openArchive } from '../archive/archive.ts'
import { openKept } from '../archive/kept.ts'
import type { SourceFile } from '../transcript/source.ts'
import { ListedFile, renamed, withOwn, type OpenListed } from './listed-file.ts'
import { openSource } from './open.ts'
import { keptSource } from './versions.ts'

const listed = { path: 'a', sizeBytes: 1, modifiedAt: '2026-01-01T00:00:00.000Z' }

it('is made once each time it is read, whatever lies around it', async () => {
  let made = 0
  const inner = new ListedFile(listed, undefined, () => {
    made += 1
    return {
      ...listed,
      head: async () => Buffer.from('h'),
      tail: async () => Buffer.from('t'),
      bytes: async () => Buffer.from('b'),
      async *chunks() {
        yield Buffer.from('c')
      },
    }
  })
  const around: OpenListed<SourceFile> = (_, file) => withOwn(file, {})
  const layer = (file: SourceFile): SourceFile => new ListedFile(file, file, around)
  const outer = layer(layer(renamed(layer(inner), 'b')))
  expect(made).toBe(0)
  const read = [
    await outer.head(1),
    await outer.tail?.(1),
    await outer.bytes(1),
    (await outer.chunks()[Symbol.asyncIterator]().next()).value,
  ]
  expect(read.map(String)).toEqual(['h', 't', 'b', 'c'])
  // To ask for the end is to ask whether there is one.
  expect(made).toBe(4)
  expect(outer.database).toBeUndefined()
  expect(outer.path).toBe('b')
})

it('rejects, and does not throw, where it is not kept any more', async () => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-listed-'))
  fs.writeFileSync(join(folder, 'x'), 'x')
  const place = openKept(openArchive(join(folder, 'home'))).place('pi', folder)
  await place.keep('x', { file: join(folder, 'x') })
  const [file] = await keptSource(place, ['x']).list()
  place.remove('x')
  await expect(file?.head(1)).rejects.toMatchObject({ code: 'not-found' })
  await expect(file?.bytes(1)).rejects.toMatchObject({ code: 'not-found' })
})

it('says what has become of it since it was listed, and gives nothing of what lies elsewhere', async () => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-listed-'))
  const names = ['folder', 'gone', 'grown', 'link', 'long']
  fs.mkdirSync(join(folder, 'here'))
  for (const name of names) fs.writeFileSync(join(folder, 'here', name), 'before')
  fs.writeFileSync(join(folder, 'elsewhere'), 'secret')
  const files = await (await openSource(join(folder, 'here'))).list()
  expect(files.map(({ path }) => path)).toEqual(names)
  for (const name of names.filter((name) => name !== 'grown' && name !== 'long'))
    fs.rmSync(join(folder, 'here', name))
  fs.mkdirSync(join(folder, 'here/folder'))
  fs.appendFileSync(join(folder, 'here/grown'), ', after')
  fs.symlinkSync(join(folder, 'elsewhere'), join(folder, 'here/link'))
  fs.writeFileSync(join(folder, 'here/long'), 'x'.repeat(200_000))
  const told = async (file: SourceFile): Promise<unknown> =>
    file.bytes(100_000).then(String, ({ code }: { code: string }) => code)
  expect(await Promise.all(files.map(told))).toEqual([
    'unsafe-path',
    'not-found',
    'before, after',
    'unsafe-path',
    'too-large',
  ])
})
