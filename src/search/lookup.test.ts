import { describe, expect, it } from 'vitest'
import { gatherNewest, type Found, type Stream } from './lookup.ts'

const found = (at: number): Found => ({ at, score: 0, tie: String(at) })

/** Gives what it has, some at a time. */
function streamOf(...some: readonly (readonly number[])[]): Stream<Found> {
  const left = [...some]
  return {
    newest: () => left[0]?.[0] ?? Number.NEGATIVE_INFINITY,
    next: async () => left.shift()?.map(found),
  }
}

describe('the newest of several streams', () => {
  it('are found without reading any further than they need', async () => {
    const streams = [streamOf([9, 7], [4]), streamOf([8], [5], [1])]
    const { hits, isAll, isLate } = await gatherNewest(streams, 3, () => false)
    expect([hits.map(({ at }) => at), isAll, isLate]).toEqual([[9, 8, 7], false, false])
    expect(streams.map((stream) => stream.newest())).toEqual([4, 5])
  })

  it('are not said to be all of them where the deadline stopped a stream that has newer ones', async () => {
    let isLate = false
    let isStopped = false
    const stopped: Stream<Found> = {
      newest: () => (isStopped ? Number.NEGATIVE_INFINITY : 8),
      next: async () => {
        isLate = true
        isStopped = true
        return [found(8)]
      },
    }
    const gathered = await gatherNewest([streamOf([9, 3, 2]), stopped], 3, () => isLate)
    expect(gathered).toMatchObject({ isAll: false, isLate: true })
    expect(gathered.hits.map(({ at }) => at)).toEqual([9, 8, 3])
  })
})
