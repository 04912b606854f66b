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

/**
 * From the oldest to the newest: by the minute in the name, then twins by their number. Of one minute, names do not tell more: our
 * own, which are given in the order they were written, come after those of others, and the one just written last of all.
 */
export function byAge(own: readonly string[]): (a: string, b: string) => number {
  const written = new Map(own.map((name, index) => [name, index]))
  const last = own.length - 1
  return (a, b) => {
    const [one, other] = [written.get(a) ?? -1, written.get(b) ?? -1]
    if (one !== other && (one === last || other === last)) return one === last ? 1 : -1
    const [left, right] = [toParts(a), toParts(b)]
    return (
      compare(left.minute, right.minute) ||
      one - other ||
      compare(left.stem, right.stem) ||
      left.number - right.number
    )
  }
}

/** A slug may itself end in a number: twins of the same stem are still in order. */
function toParts(name: string): { readonly minute: string; readonly stem: string; readonly number: number } {
  const [, stem = name, number = '1'] = /^(.*?)(?:-(\d{1,9}))?\.txt$/su.exec(name) ?? []
  return { minute: name.slice(0, 'YYYYMMDD-HHmm'.length), stem, number: Number(number) }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
