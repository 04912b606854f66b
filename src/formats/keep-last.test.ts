import { expect, it } from 'vitest'
import { keepLast } from './keep-last.ts'

it('knows what was used last, and no more than it may', () => {
  const known = new Map<string, number>()
  for (const name of ['a', 'b', 'a', 'c']) keepLast(known, name, 1, 2)
  expect([...known.keys()]).toEqual(['a', 'c'])
})
