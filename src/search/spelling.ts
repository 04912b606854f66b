/**
 * The nearest spelling of a word that was not found: one or two letters added, left out, changed or exchanged. Time grows with the
 * number of candidates alone, for lengths and distances are bounded.
 */

/** Beyond this nobody mistypes a word but pastes it. */
export const LONGEST = 64

/** The nearest of the candidates, the first of those that are equally near; undefined when none is. Put common ones first. */
export function nearestSpelling(term: string, candidates: Iterable<string>): string | undefined {
  if (term.length < 2 || term.length > LONGEST) return undefined
  // In a word of four letters two wrong ones make another word.
  let most = term.length <= 4 ? 1 : 2
  let nearest: string | undefined
  for (const candidate of candidates) {
    if (most === 0) break
    if (candidate === term) continue
    const distance = spellingDistance(term, candidate, most)
    if (distance === undefined) continue
    nearest = candidate
    most = distance - 1
  }
  return nearest
}

/** Three rows of the table of distances, of which only what is near the diagonal is filled in. */
const ROW = LONGEST + 3
const table = new Uint8Array(3 * ROW)
const FAR = 100

/** Letters to add, leave out, change, or exchange with the next, from one to the other; undefined for more than `most`. */
export function spellingDistance(a: string, b: string, most: number): number | undefined {
  if (Math.abs(a.length - b.length) > most || a.length > LONGEST || b.length > LONGEST) return undefined
  table.fill(FAR)
  for (let j = 0; j <= Math.min(most, b.length); j += 1) table[j] = j
  for (let i = 1; i <= a.length; i += 1) {
    const row = (i % 3) * ROW
    const last = ((i + 2) % 3) * ROW
    const before = ((i + 1) % 3) * ROW
    const from = Math.max(1, i - most)
    const to = Math.min(b.length, i + most)
    table[row + from - 1] = from === 1 ? i : FAR
    let least = FAR
    for (let j = from; j <= to; j += 1) {
      const isSame = a.charCodeAt(i - 1) === b.charCodeAt(j - 1)
      // Beyond the band nothing is near enough; what stands there is of an older row.
      const above = j === i + most ? FAR : (table[last + j] as number) + 1
      let cost = Math.min(
        above,
        (table[row + j - 1] as number) + 1,
        (table[last + j - 1] as number) + (isSame ? 0 : 1),
      )
      const isExchange =
        i > 1 &&
        j > 1 &&
        a.charCodeAt(i - 1) === b.charCodeAt(j - 2) &&
        a.charCodeAt(i - 2) === b.charCodeAt(j - 1)
      if (isExchange) cost = Math.min(cost, (table[before + j - 2] as number) + 1)
      table[row + j] = cost
      if (cost < least) least = cost
    }
    if (least > most && b.length > 0) return undefined
  }
  const distance = b.length === 0 ? a.length : (table[(a.length % 3) * ROW + b.length] as number)
  return distance <= most ? distance : undefined
}
