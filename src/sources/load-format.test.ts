import { describe, expect, it } from 'vitest'
import { allFormats } from './formats.ts'
import { LOADABLE, loadFormat } from './load-format.ts'

describe('a format loaded by itself', () => {
  it('is the one of the list, for each there is', async () => {
    expect(LOADABLE.toSorted()).toEqual(allFormats.map(({ id }) => id).toSorted())
    for (const format of allFormats) expect(await loadFormat(format.id)).toBe(format)
  })

  it('is an error of ours when there is none', async () => {
    await expect(loadFormat('nope')).rejects.toMatchObject({ code: 'unknown-format' })
  })
})
