import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { githubToken } from '../../test/fake-keys.ts'
import { openArchive } from '../archive/archive.ts'
import { openKept } from '../archive/kept.ts'
import { givenPaths } from './given.ts'
import { sync } from './sync.ts'

const line = (text: string): string =>
  `${JSON.stringify({
    type: 'user',
    uuid: text,
    parentUuid: null,
    sessionId: 'aaaaaaaa-0000-4000-8000-000000000001',
    userType: 'external',
    isSidechain: false,
    message: { role: 'user', content: text },
  })}\n`

it('a path that was named once is looked into again, also when all that is derived was thrown away', async () => {
  const base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'given-')))
  const archive = openArchive(join(base, 'archive'), { write: true })
  const options = { cwd: join(base, 'nowhere'), env: {}, userHome: join(base, 'home') }
  const path = join(base, 'copy/aaaaaaaa-0000-4000-8000-000000000001.jsonl')
  fs.mkdirSync(join(base, 'copy'))
  fs.writeFileSync(path, line('one'))
  await sync(archive, { ...options, paths: [join(base, 'copy')] })
  fs.rmSync(join(archive.home, 'index'), { recursive: true })
  fs.appendFileSync(path, line('two'))
  expect(await sync(archive, options)).toMatchObject({ files: { seen: 1, grown: 1 } })
})

it('a path that is forgotten is not looked into again; what was kept of it stays, and one that was never named is said to be none', async () => {
  const base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'given-')))
  const archive = openArchive(join(base, 'archive'), { write: true })
  const options = { cwd: join(base, 'nowhere'), env: {}, userHome: join(base, 'home') }
  const path = join(base, 'copy/aaaaaaaa-0000-4000-8000-000000000001.jsonl')
  fs.mkdirSync(join(base, 'copy'))
  fs.mkdirSync(join(base, 'gone'))
  fs.symlinkSync(join(base, 'copy'), join(base, 'link'))
  fs.writeFileSync(path, line('one'))
  const [copy, gone] = [join(base, 'copy'), join(base, 'gone')]
  await sync(archive, { ...options, paths: [copy, gone] })
  fs.rmdirSync(gone)
  await expect(sync(archive, { ...options, forget: [copy, base] })).rejects.toMatchObject({
    code: 'not-found',
    hint: `it was given ${copy}, ${gone}`,
  })
  expect(givenPaths(archive)).toEqual([copy, gone])
  fs.appendFileSync(path, line('two'))
  expect(await sync(archive, { ...options, forget: [join(base, 'link')] })).toMatchObject({
    files: { seen: 0 },
  })
  expect(givenPaths(archive)).toEqual([gone])
  expect(await sync(archive, { ...options, forget: [gone] })).toMatchObject({ files: { seen: 0 } })
  const kept = openKept(archive).places()
  expect(kept.length).toBe(1)
  await expect(sync(archive, { ...options, forget: [copy] })).rejects.toMatchObject({
    hint: 'it was given none so far',
  })
})

it('no secret that another program wrote is in what is derived', async () => {
  const base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'given-')))
  const archive = openArchive(join(base, 'archive'), { write: true })
  const secret = githubToken(11)
  const path = join(base, 'aaaaaaaa-0000-4000-8000-000000000001.jsonl')
  fs.writeFileSync(
    path,
    `${JSON.stringify({ type: 'custom-title', customTitle: `about ${secret}`, sessionId: 'aaaaaaaa-0000-4000-8000-000000000001' })}\n${line(`use ${secret} here`)}`,
  )
  await sync(archive, { cwd: base, env: {}, userHome: join(base, 'home'), paths: [path] })
  for (const name of fs.readdirSync(join(archive.home, 'index')))
    expect(fs.readFileSync(join(archive.home, 'index', name)).includes(secret)).toBe(false)
})
