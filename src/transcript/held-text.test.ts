import { expect, it } from 'vitest'
import { heldId, heldName } from './held-text.ts'

it('a name is cut between two characters', () => {
  const [before, most] = ['a'.repeat(199), 'a'.repeat(200)]
  expect([most, `${most}b`, `${before}😀`].map(heldName)).toEqual([most, most, before])
  expect(heldName(`${'a'.repeat(198)}😀b`)).toBe(`${'a'.repeat(198)}😀`)
})

it('of ids that are long, those that differ anywhere are told apart', () => {
  const ids = [
    'a'.repeat(256),
    'a'.repeat(257),
    `${'a'.repeat(256)}b`,
    `${'a'.repeat(199)}${'😀'.repeat(50)}`,
  ]
  const held = ids.map(heldId)
  expect(held[0]).toBe(ids[0])
  expect(new Set(held).size).toBe(ids.length)
  for (const id of held) expect([id.length <= 256, /\p{Cs}/u.test(id)]).toEqual([true, false])
})
