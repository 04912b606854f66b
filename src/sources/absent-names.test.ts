import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { nodeFiles } from '../journal/files.ts'
import { gatherSyncs } from './gathered-files.ts'

const folder = fs.mkdtempSync(join(tmpdir(), 'absent-'))
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

/** The door, and every path that the disk was asked for. */
function opened() {
  const asked: string[] = []
  const { files } = gatherSyncs({
    ...nodeFiles,
    kind(path) {
      asked.push(path)
      return nodeFiles.kind(path)
    },
  })
  return { files, asked }
}

describe('a name that is not there', () => {
  it('is asked for once for all names of its folder', () => {
    const { files, asked } = opened()
    const names = Array.from({ length: 50 }, (_, n) => join(folder, `a${n}`))
    expect(names.map((name) => files.kind(name))).toEqual(names.map(() => undefined))
    expect(asked).toHaveLength(1)
  })

  it('is there from the moment it is made, renamed or linked to', () => {
    const { files } = opened()
    const at = (name: string): string => join(folder, name)
    expect(files.kind(at('nothing'))).toBe(undefined)
    files.close(files.openAppend(at('made'), 'new'))
    files.link(at('made'), at('linked'))
    files.rename(at('made'), at('renamed'))
    files.makeFolder(at('x/y'))
    expect(['made', 'linked', 'renamed', 'x', 'x/y'].map((name) => files.kind(at(name)))).toEqual([
      undefined,
      'file',
      'file',
      'folder',
      'folder',
    ])
  })

  it('is asked for where a disk might take it for another', () => {
    const { files, asked } = opened()
    fs.writeFileSync(join(folder, 'place.json'), '')
    expect(files.kind(join(folder, 'nothing'))).toBe(undefined)
    for (const name of ['PLACE.JSON', 'cafe\u0301']) files.kind(join(folder, name))
    expect(asked).toHaveLength(3)
  })

  it('is known of a folder with many folders, however many were made in it since, and of each that was made', () => {
    const listed: string[] = []
    const { files } = gatherSyncs({
      ...nodeFiles,
      list(path) {
        listed.push(path)
        return nodeFiles.list(path)
      },
    })
    const above = join(folder, 'many')
    files.makeFolder(above)
    for (let n = 0; n < 30; n += 1) {
      const own = join(above, `f${n}`)
      expect(files.kind(own)).toBe(undefined)
      files.makeFolder(own)
      expect(files.kind(join(own, 'nothing'))).toBe(undefined)
      files.close(files.openAppend(join(own, 'something'), 'new'))
      expect(files.kind(join(own, 'something'))).toBe('file')
    }
    expect(listed).toEqual([above])
  })
})
