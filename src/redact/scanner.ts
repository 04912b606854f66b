/**
 * Finds many literals in one pass over a text: where none can begin, it skips. Time is linear in the text and hardly grows with
 * the number of literals (Wu and Manber's search, with a second look at three characters before anything is compared).
 */
export type Scanner = {
  /**
   * Calls back for every literal found, the longest first at each place. The answer is where to go on from when the hit was
   * taken, or `PASS` to look for other literals here and after.
   */
  scan(text: string, onHit: (literal: number, at: number) => number): void
}

export const PASS = -1

/** What of a text is looked at now; a scan does not begin another, so one is enough. */
const SCRATCH = Buffer.allocUnsafeSlow(1 << 18)

/** No window is wider, whatever the literals: a part of what is looked at. */
const WIDEST = 256

const PAIRS = 4096
const TRIPLES = 65536

/** Literals have at least three characters. With `ignoreCase`, they are lower case and ASCII letters match in either case. */
export function createScanner(literals: readonly string[], { ignoreCase = false } = {}): Scanner {
  if (literals.length === 0) return { scan: () => undefined }
  const fold = ignoreCase ? 32 : 0
  // The window is as wide as the shortest literal; it is judged by its last two characters.
  const last = Math.min(WIDEST, ...literals.map((literal) => literal.length)) - 2
  const shifts = new Uint8Array(PAIRS).fill(Math.min(last + 1, 255))
  const begins = new Uint8Array(TRIPLES)
  const buckets = new Map<number, number[]>()
  // As many of the first characters as are looked at here, and their low bytes: see `toBytes`.
  const bytes = new Uint8Array(last + 2)
  for (let index = 0; index < literals.length; index += 1) {
    const literal = literals[index] as string
    for (let i = 0; i <= last + 1; i += 1) bytes[i] = literal.charCodeAt(i)
    for (let i = 0; i <= last; i += 1) {
      const pair = hashPair(bytes, i, fold)
      if ((shifts[pair] as number) > last - i) shifts[pair] = last - i
    }
    const triple = hashTriple(bytes, 0, fold)
    begins[triple] = 1
    const bucket = buckets.get(triple)
    if (bucket === undefined) buckets.set(triple, [index])
    else bucket.push(index)
  }
  const length = (index: number): number => (literals[index] as string).length
  for (const bucket of buckets.values()) if (bucket.length > 1) bucket.sort((a, b) => length(b) - length(a))

  return {
    scan(text, onHit) {
      const end = text.length - 1
      if (end <= last) return
      let from = 0
      let next = last
      while (next < end) {
        // With what may begin before the place that is judged next.
        const base = next - last
        const count = toBytes(text, base)
        const stop = count - 1
        let i = last
        while (i < stop) {
          const shift = shifts[hashPair(SCRATCH, i, fold)] as number
          if (shift > 0) {
            i += shift
            continue
          }
          const near = i - last
          i += 1
          const triple = hashTriple(SCRATCH, near, fold)
          const at = base + near
          if (begins[triple] === 0 || at < from) continue
          for (const index of buckets.get(triple) ?? []) {
            if (!matches(text, at, literals[index] as string, ignoreCase)) continue
            const taken = onHit(index, at)
            if (taken === PASS) continue
            from = taken
            i = Math.max(i, taken - base + last)
            break
          }
        }
        next = base + i
      }
    },
  }
}

/**
 * The low byte of every character from a place on, as many as there is room for: enough to rule a place out, and several times faster
 * to read than the string. What it rules in is compared with the string itself. Says how many there are.
 */
function toBytes(text: string, from: number): number {
  const isAll = from === 0 && text.length <= SCRATCH.length
  return SCRATCH.write(isAll ? text : text.slice(from, from + SCRATCH.length), 0, 'latin1')
}

function hashPair(bytes: Uint8Array, i: number, fold: number): number {
  return ((((bytes[i] as number) | fold) << 5) ^ ((bytes[i + 1] as number) | fold)) & (PAIRS - 1)
}

function hashTriple(bytes: Uint8Array, i: number, fold: number): number {
  return ((((bytes[i] as number) | fold) << 8) ^ hashPair(bytes, i + 1, fold)) & (TRIPLES - 1)
}

function matches(text: string, at: number, literal: string, ignoreCase: boolean): boolean {
  if (!ignoreCase) return text.startsWith(literal, at)
  for (let i = 0; i < literal.length; i += 1) {
    let code = text.charCodeAt(at + i)
    if (code >= 65 && code <= 90) code |= 32
    if (code !== literal.charCodeAt(i)) return false
  }
  return true
}
