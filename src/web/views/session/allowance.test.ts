import { describe, expect, it } from 'vitest'
import { createAllowance } from './allowance.ts'

function allowanceFor(isHurried: boolean) {
  const state = { isHurried, redraws: 0, frames: [] as (() => void)[] }
  const allowance = createAllowance(
    () => state.isHurried,
    () => (state.redraws += 1),
    (run) => state.frames.push(run),
  )
  const takeTen = () => Array.from({ length: 10 }, () => allowance.take()).filter(Boolean).length
  const nextFrame = () => state.frames.splice(0).forEach((run) => run())
  return { state, allowance, takeTen, nextFrame }
}

describe('rows drawn for the first time', () => {
  it('are all drawn at once while nobody drags the scrollbar', () => {
    const { takeTen, state } = allowanceFor(false)
    expect([takeTen(), state.frames.length]).toEqual([10, 0])
  })

  it('are four a frame while somebody does, and the list is drawn again until none is left', () => {
    const { state, takeTen, nextFrame, allowance } = allowanceFor(true)
    expect([takeTen(), state.redraws]).toEqual([4, 0])
    nextFrame()
    expect([state.redraws, takeTen()]).toEqual([1, 4])
    nextFrame()
    expect([state.redraws, allowance.take()]).toEqual([2, true])
    nextFrame()
    // Nobody was refused: nothing is left to draw.
    expect([state.redraws, state.frames.length]).toEqual([2, 0])
  })

  it('are drawn when the scrollbar was let go before their frame came', () => {
    const { state, takeTen, nextFrame } = allowanceFor(true)
    takeTen()
    state.isHurried = false
    nextFrame()
    expect([state.redraws, takeTen()]).toEqual([1, 10])
  })

  it('are not drawn when the list has gone', () => {
    const { state, takeTen, nextFrame, allowance } = allowanceFor(true)
    takeTen()
    allowance.end()
    nextFrame()
    expect(state.redraws).toBe(0)
  })
})
