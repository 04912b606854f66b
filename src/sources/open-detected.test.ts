import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createRepository } from '../../test/git-repository.ts'
import { readAll } from '../../test/memory-files.ts'
import { allFormats as formats } from './formats.ts'
import { openDetected } from './open-detected.ts'

const line = (sessionId: string): string =>
  `${JSON.stringify({ parentUuid: null, isSidechain: false, userType: 'external', cwd: '/x', sessionId, version: '2', type: 'user', message: { role: 'user', content: 'hi' }, uuid: 'u', timestamp: '2026-02-10T10:00:00.000Z' })}\n`
const checkpoint = {
  ref: 'refs/heads/entire/checkpoints/v1',
  files: { 'ab/cdef012345/0/full.jsonl': line('in-git') },
}
const namesIn = async (path: string, format?: string): Promise<(string | undefined)[]> => {
  const { detected, open } = await openDetected(path, { formats, ...(format && { format }) })
  return (await readAll(detected.format, await open())).map(({ session }) => session.native?.sessionId)
}

describe('a folder that is a repository', () => {
  it('is read from its objects where its own files are of no format, and by its .git', async () => {
    const repository = createRepository([checkpoint])
    fs.writeFileSync(join(repository, 'README.md'), 'no transcript')
    for (const path of [repository, join(repository, '.git')]) {
      expect(await namesIn(path)).toEqual(['in-git'])
      expect(await namesIn(path, 'entire')).toEqual(['in-git'])
    }
  })

  it('is read as the folder it is where that has transcripts', async () => {
    const repository = createRepository([checkpoint])
    fs.writeFileSync(join(repository, 'a.jsonl'), line('in-folder'))
    expect(await namesIn(repository)).toEqual(['in-folder'])
    expect(await namesIn(join(repository, '.git'))).toEqual(['in-git'])
  })

  it('and holds none of Entire’s refs is unknown, as any folder is', async () => {
    const repository = createRepository([{ ref: 'refs/heads/main', files: { a: 'x' } }])
    fs.writeFileSync(join(repository, 'README.md'), 'no transcript')
    for (const path of [repository, fs.mkdtempSync(join(os.tmpdir(), 'hansard-none-'))]) {
      await expect(openDetected(path, { formats })).rejects.toMatchObject({ code: 'unknown-format' })
    }
  })
})
