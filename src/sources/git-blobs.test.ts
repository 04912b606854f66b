import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createGitBlobs } from './git-blobs.ts'

describe('blobs by number', () => {
  it.each(['sha1', 'sha256'])(
    'have the ids and sizes they were given, however many there are (%s)',
    (kind) => {
      const idOf = (n: number): Buffer => createHash(kind).update(String(n)).digest()
      const blobs = createGitBlobs()
      for (let n = 0; n < 1000; n += 1) expect(blobs.add(idOf(n))).toBe(n)
      blobs.setSize(999, 2 ** 40)
      expect(blobs.count()).toBe(1000)
      for (const n of [0, 255, 256, 999]) expect(blobs.id(n)).toBe(idOf(n).toString('hex'))
      expect([blobs.size(0), blobs.size(999)]).toEqual([0, 2 ** 40])
    },
  )
})
