import { describe, expect, it } from 'vitest'
import { createSettledTogether } from './settled-together.ts'

describe('what is settled together', () => {
  it('is noted when it is on disk, and not before', async () => {
    const done: string[] = []
    const settling = createSettledTogether<number>({
      settle: async () => void done.push('settled'),
      note: (all) => void done.push(`noted ${all.length}`),
    })
    for (let n = 0; n < 300; n += 1) await settling.add(n, 1)
    await settling.end()
    expect(done).toEqual(['settled', 'noted 256', 'settled', 'noted 44'])
  })

  it('waits for no more bytes than a few MB', async () => {
    const noted: number[] = []
    const settling = createSettledTogether<number>({
      settle: async () => {},
      note: (all) => void noted.push(...all),
    })
    await settling.add(1, 1)
    expect(noted).toEqual([])
    await settling.add(2, 40 * 1024 * 1024)
    await settling.add(3, 40 * 1024 * 1024)
    expect(noted.slice(0, 2)).toEqual([1, 2])
    await settling.end()
    expect(noted).toEqual([1, 2, 3])
  })

  it('is not noted where the disk fails: whoever goes on is told', async () => {
    const noted: number[] = []
    const settling = createSettledTogether<number>({
      settle: async () => {
        throw new Error('the disk fails')
      },
      note: (all) => void noted.push(...all),
    })
    await settling.add(1, 1)
    await expect(settling.end()).rejects.toThrow('the disk fails')
    expect(noted).toEqual([])
  })
})
