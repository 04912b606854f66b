/** Numbers that look random and are the same for the same seed: what a test made once, it makes again. */
export type Random = (below: number) => number

export function createRandom(seed: number): Random {
  let state = (Math.imul(seed + 1, 2_654_435_761) ^ 0x9e3779b9) >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
