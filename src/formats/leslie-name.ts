/**
 * leslie's file names: `{YYYYMMDD}-{HHmm}-{slug}.txt`. A slug keeps letters and digits of any script (Han, kana and hangul
 * with them), `_` and `-`; everything else becomes one `-`, and none stands at either end.
 */
const KEPT = /[\p{L}\p{M}\p{N}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}_]/u

/** In characters (code points): at most 200 bytes, so that the whole name stays below the 255 of file systems. */
export const SLUG_LIMIT = 50

/** What a query without a single kept character is called. */
const EMPTY = 'task'

export function toSlug(query: string): string {
  const kept: string[] = []
  let gap = false
  for (const character of query.normalize('NFC')) {
    if (!KEPT.test(character)) {
      gap = kept.length > 0
      continue
    }
    if (kept.length + (gap ? 2 : 1) > SLUG_LIMIT) break
    if (gap) kept.push('-')
    kept.push(character)
    gap = false
  }
  return kept.length === 0 ? EMPTY : kept.join('')
}

/** Gives each unit the first free name for when it started: twins of one minute get `-2`, `-3`, … */
export function createNamer(isTaken: (name: string) => boolean): (stamp: string, query: string) => string {
  const next = new Map<string, number>()
  /** The twin of `q` and the query `q 2` have the same name. */
  const given = new Set<string>()
  return (stamp, query) => {
    const stem = `${stamp}-${toSlug(query)}`
    let n = next.get(stem) ?? 1
    const name = (): string => (n === 1 ? `${stem}.txt` : `${stem}-${n}.txt`)
    while (given.has(name()) || isTaken(name())) n += 1
    next.set(stem, n + 1)
    given.add(name())
    return name()
  }
}
