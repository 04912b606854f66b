import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nodeFiles } from '../journal/files.ts'
import { openArchive } from './archive.ts'
import { openKept, type KeptPlace } from './kept.ts'

let base: string
/** Times that a folder of older versions was listed. */
let listings: number

beforeEach(() => {
  base = fs.mkdtempSync(join(os.tmpdir(), 'kept-versions-'))
  fs.mkdirSync(join(base, 'source'))
  listings = 0
})
afterEach(() => fs.rmSync(base, { recursive: true, force: true }))

/** As another process has it. */
function open(): KeptPlace {
  const archive = openArchive(join(base, 'archive'), { write: true })
  const files = {
    ...nodeFiles,
    list(path: string) {
      if (path.includes('older')) listings += 1
      return nodeFiles.list(path)
    },
  }
  return openKept({ ...archive, files }).place('codex', join(base, 'source'))
}

async function rewrite(place: KeptPlace, path: string, content: string): Promise<void> {
  const file = join(base, 'source', path)
  fs.writeFileSync(file, content)
  await place.keep(path, { file })
}

const names = Array.from({ length: 60 }, (_, n) => `Log-${n}.json`)

describe('older versions of many files', () => {
  it('are known by one listing of their folder, while they are made and afterwards', async () => {
    const place = open()
    for (const round of ['one', 'two', 'three'])
      for (const name of names) await rewrite(place, name, `${round} of ${name}`)
    for (const name of names) expect(place.versions(name)).toEqual([1, 2])
    for (const name of names) place.drop(name, 1)
    for (const name of names) expect(place.versions(name)).toEqual([2])
    expect(listings).toBeLessThan(5)

    listings = 0
    // Later than the tick of the last change: what is listed then is all there is.
    const older = join(place.folder, 'older')
    fs.utimesSync(older, 1_700_000_000, 1_700_000_000)
    const reader = open()
    for (const name of names) expect(reader.versions(name)).toEqual([2])
    expect(listings).toBe(1)
  })

  it('are seen when another process has made or dropped one', async () => {
    const [one, other] = [open(), open()]
    for (const content of ['one', 'two']) await rewrite(one, 'x', content)
    expect([one.versions('x'), other.versions('x')]).toEqual([[1], [1]])
    await rewrite(other, 'x', 'three')
    expect([one.versions('x'), other.versions('x')]).toEqual([
      [1, 2],
      [1, 2],
    ])
    one.drop('x', 1)
    expect([one.versions('x'), other.versions('x')]).toEqual([[2], [2]])
    await rewrite(other, 'x', 'four')
    expect(one.versions('x')).toEqual([2, 3])
    expect((await one.file('x', 2)?.bytes(100))?.toString()).toBe('two')
  })

  it('are seen where the file system tells two changes within 2 s the same time', async () => {
    const [one, other] = [open(), open()]
    const tick = new Date(1_700_000_000_000)
    vi.useFakeTimers({ toFake: ['Date'], now: tick.getTime() + 1500 })
    try {
      for (const content of ['one', 'two']) await rewrite(other, 'x', content)
      fs.utimesSync(join(one.folder, 'older'), tick, tick)
      expect(one.versions('x')).toEqual([1])
      await rewrite(other, 'x', 'three')
      fs.utimesSync(join(one.folder, 'older'), tick, tick)
      expect(one.versions('x')).toEqual([1, 2])
    } finally {
      vi.useRealTimers()
    }
  })

  it('are those of the path alone, however high they are numbered', async () => {
    const place = open()
    for (const content of ['one', 'two']) {
      await rewrite(place, 'x', content)
      await rewrite(place, 'x.1', content)
    }
    expect([place.versions('x'), place.versions('x.1')]).toEqual([[1], [1]])
    const older = join(place.folder, 'older')
    fs.writeFileSync(join(older, 'x.5000'), 'a high one')
    fs.writeFileSync(join(older, 'x.1.77.gz'), 'what could be packed')
    fs.writeFileSync(join(older, 'x.y.5'), 'of another')
    expect(place.versions('x')).toEqual([1, 5000])
    expect(place.versions('x.1')).toEqual([1, 77])
    await rewrite(place, 'x', 'three')
    expect(place.versions('x')).toEqual([1, 5000, 5001])
  })
})
