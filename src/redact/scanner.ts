/**
 * Finds many literals in one pass over a text. Each place is ruled out by a table of the four characters that begin there, so time is linear in
 * the text and hardly grows with the number of literals.
 */
export type Scanner = {
  /**
   * Calls back for every literal found, the longest first at each place. The answer is where to go on from when the hit was
   * taken, or `PASS` to look for other literals here and after.
   */
  scan(text: string, onHit: (literal: number, at: number) => number): void
}

export const PASS = -1

/** Characters that are looked at together. */
const CHUNK = 1 << 18
/** What of a text is looked at now, and a character behind it; a scan does not begin another, so one is enough. */
const SCRATCH = Buffer.allocUnsafeSlow(CHUNK + 1)

/** By three characters. */
const PLACES = 65_536
const ANY = 0xffff_ffff

/** Literals have at least three characters. With `ignoreCase`, they are lower case and ASCII letters match in either case. */
export function createScanner(literals: readonly string[], { ignoreCase = false } = {}): Scanner {
  if (literals.length === 0) return { scan: () => undefined }
  const fold = ignoreCase ? 32 : 0
  /** By the first three characters of literals, a bit for each fourth. */
  const fourths = new Uint32Array(PLACES)
  const buckets = new Map<number, number[]>()
  for (const [index, literal] of literals.entries()) {
    if (literal.length < 3)
      throw new RangeError(`the literal ${JSON.stringify(literal)} has fewer than three characters`)
    const [a, b, c, d] = [0, 1, 2, 3].map((i) => (literal.charCodeAt(i) & 255) | fold) as [
      number,
      number,
      number,
      number,
    ]
    const place = hash(a, b, c)
    fourths[place] = (fourths[place] as number) | (literal.length > 3 ? 1 << (d & 31) : ANY)
    const bucket = buckets.get(place)
    if (bucket === undefined) buckets.set(place, [index])
    else bucket.push(index)
  }
  const length = (index: number): number => (literals[index] as string).length
  for (const bucket of buckets.values()) bucket.sort((a, b) => length(b) - length(a))

  /** Where to go on when a literal at `at` was taken. */
  const tryAt = (
    text: string,
    at: number,
    place: number,
    onHit: (literal: number, at: number) => number,
  ): number => {
    for (const index of buckets.get(place) ?? []) {
      if (!matches(text, at, literals[index] as string, ignoreCase)) continue
      const taken = onHit(index, at)
      if (taken !== PASS) return taken
    }
    return PASS
  }

  return {
    scan(text, onHit) {
      let base = 0
      while (base + 2 < text.length) {
        const count = toBytes(text, base)
        const isLast = base + count === text.length
        // The fourth character of what begins before it is in the next chunk.
        const stop = isLast ? count - 2 : count - 3
        SCRATCH[count] = 0
        let at = 0
        while (at < stop) {
          let [a, b, c] = [SCRATCH[at], SCRATCH[at + 1], SCRATCH[at + 2]] as [number, number, number]
          a |= fold
          b |= fold
          c |= fold
          let next = PASS
          for (; at < stop; at += 1) {
            const d = (SCRATCH[at + 3] as number) | fold
            const place = hash(a, b, c)
            if (((fourths[place] as number) & (1 << (d & 31))) !== 0) {
              next = tryAt(text, base + at, place, onHit)
              if (next !== PASS) break
            }
            a = b
            b = c
            c = d
          }
          if (next !== PASS) at = Math.max(next - base, at + 1)
        }
        base += at
      }
    },
  }
}

/**
 * The low byte of every character from a place on, as many as there is room for: enough to rule a place out, and several times faster
 * to read than the string. What it rules in is compared with the string itself. Says how many there are.
 */
function toBytes(text: string, from: number): number {
  const isAll = from === 0 && text.length <= CHUNK
  return SCRATCH.write(isAll ? text : text.slice(from, from + CHUNK), 0, 'latin1')
}

function hash(a: number, b: number, c: number): number {
  return ((a << 8) ^ (b << 5) ^ c) & (PLACES - 1)
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
