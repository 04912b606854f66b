/** The sessions of a unit, of which most are put away. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { collect } from './one-at-a-time.ts'
import type { Stowed } from './stowing.ts'
import { createUnitSessions } from './unit-sessions.ts'

type Open = { readonly id: string; readonly turn: number }

/** Put away as JSON, or by its number in a list. */
function createPlaces(): { put(open: Open, isHeld: boolean): Stowed; idOf(stowed: Stowed): string } {
  const lying: Open[] = []
  return {
    put: (open, isHeld) => (isHeld ? JSON.stringify(open) : lying.push(open) - 1),
    idOf: (stowed) =>
      typeof stowed === 'string' ? (JSON.parse(stowed) as Open).id : (lying[stowed] as Open).id,
  }
}

it('are what was last said of each, in the order they were first told of', () => {
  const step = fc.record({ id: fc.nat(3000), isStowed: fc.boolean(), isHeld: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 6000, size: 'max' }), (steps) => {
      const places = createPlaces()
      const sessions = createUnitSessions<Open>((stowed) => places.idOf(stowed))
      const plain = new Map<string, Open | Stowed>()
      for (const [turn, { id: number, isStowed, isHeld }] of steps.entries()) {
        const id = `session ${number}`
        expect(sessions.get(id)).toEqual(plain.get(id))
        if (typeof sessions.get(id) !== 'object') {
          const open = { id, turn }
          sessions.open(id, open)
          plain.set(id, open)
        }
        if (!isStowed) continue
        const stowed = places.put({ id, turn }, isHeld)
        sessions.stow(id, stowed)
        plain.set(id, stowed)
      }
      expect(sessions.size()).toBe(plain.size)
      for (const one of plain.values()) expect(sessions.take()).toEqual(one)
      expect([sessions.take(), sessions.size()]).toEqual([undefined, 0])
    }),
    { numRuns: 10 },
  )
})

it('take some bytes of memory each, once they are put away', () => {
  const sessions = createUnitSessions<Open>(() => '')
  const heldNow = (): number => {
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const before = heldNow()
  for (let turn = 0; turn < 100_000; turn += 1) {
    const id = `11111111-1111-4111-8111-${String(turn).padStart(12, '0')}`
    sessions.open(id, { id, turn })
    sessions.stow(id, turn)
  }
  expect((heldNow() - before) / 100_000).toBeLessThan(60)
  expect(sessions.size()).toBe(100_000)
})
