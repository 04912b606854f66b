import { describe, expect, it } from 'vitest'
import { layersOf } from './layers.ts'

const point = (input: number, characters?: readonly number[]) => ({
  position: 0,
  source: 'primary',
  input,
  ...(characters && { characters }),
})
const sum = (layers: readonly number[]): number => layers.reduce((all, one) => all + one, 0)

describe('the layers of a context', () => {
  it('come to what the provider counted, with the rest as what is unseen', () => {
    const layers = layersOf(point(10_000, [3600, 0, 7200]))
    expect(layers).toEqual([7000, 1000, 0, 2000])
    expect(sum(layers)).toBe(10_000)
  })

  it('shrink alike where more was said than was read', () => {
    const layers = layersOf(point(1000, [3600, 3600]))
    expect(layers).toEqual([0, 500, 500])
  })

  it('are unseen where nothing is known of them', () => {
    expect(layersOf(point(500))).toEqual([500])
  })
})
