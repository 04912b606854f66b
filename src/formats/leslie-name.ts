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

/** The first free name for a unit that started then: twins of one minute get `-2`, `-3`, … */
export function toFileName(stamp: string, query: string, isTaken: (name: string) => boolean): string {
  const stem = `${stamp}-${toSlug(query)}`
  let name = `${stem}.txt`
  for (let n = 2; isTaken(name); n += 1) name = `${stem}-${n}.txt`
  return name
}
