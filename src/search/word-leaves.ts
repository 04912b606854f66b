/**
 * The words of a table that have some text within, read from the leaves in which FTS5 keeps them. What it says of them itself
 * (`fts5vocab`) counts every place of every word on the way, which takes five times as long.
 */
import type { Prepared } from './shard-statements.ts'
import { createTextFinder, type TextFinder } from './text-finder.ts'
import { hasKnownLeaves, KIND, LIST } from './word-layout.ts'

/** Above the last list are notes of what was deleted. */
const LAST_LIST = 2 ** 53
const MOST_LEAVES = 2 ** 31

/** A megabyte. One by one, fetching leaves takes five times as long as finding them. */
const AT_ONCE = 256
const LEAVES = (table: string): string =>
  `SELECT CAST(group_concat(block, '') AS BLOB) AS blocks, json_group_array(length(block)) AS lengths, max(id) AS last
   FROM (SELECT id, block FROM ${table}_data WHERE id > ? AND id < ${LAST_LIST} AND id % ${LIST} < ${MOST_LEAVES} ORDER BY id LIMIT ${AT_ONCE})`

export type AskedWords = {
  /** Of letters and digits in lower case. */
  readonly texts: readonly string[]
  /** In bytes: words of such a length are given whatever they are. */
  readonly lengths: readonly [number, number]
}

/** Called with each that there is, once for each list that has it. False: that is enough. */
export type TakeWord = (word: string) => boolean

/** False when the leaves are not as they are known to be: all that was taken is to be thrown away. */
export function readLeaves(
  ask: Prepared,
  table: string,
  { texts, lengths }: AskedWords,
  take: TakeWord,
): boolean {
  if (!hasKnownLeaves(ask, table)) return false
  const reading: Reading = { finder: createTextFinder(texts), lengths, take, word: Buffer.alloc(LONGEST) }
  for (let last = LIST; ;) {
    const row = ask(LEAVES(table)).get(last)
    const sizes = JSON.parse(String(row?.['lengths'])) as number[]
    if (sizes.length === 0) return true
    const blocks = row?.['blocks']
    if (!(blocks instanceof Uint8Array) || sizes.reduce((sum, size) => sum + size, 0) !== blocks.length)
      return false
    let at = 0
    for (const size of sizes) {
      const end = readLeaf(blocks.subarray(at, at + size), reading)
      if (end !== 'read') return end === 'enough'
      at += size
    }
    last = Number(row?.['last'])
  }
}

type Reading = AskedLengths & { readonly finder: TextFinder; readonly take: TakeWord; readonly word: Buffer }
type AskedLengths = Pick<AskedWords, 'lengths'>

/** A word of FTS5 is never longer, in bytes. */
const LONGEST = 64 * 1024

/**
 * Of a leaf: where what it holds ends and the places of its words begin, each counted from the one before. Each word as what it has
 * of the one before and what follows that, the first of a leaf whole.
 */
function readLeaf(leaf: Uint8Array, { finder, lengths, take, word }: Reading): 'read' | 'enough' | 'odd' {
  const end = ((leaf[2] as number) << 8) | (leaf[3] as number)
  if (leaf.length < 4 || end < 4 || end > leaf.length) return 'odd'
  const [shortest, longest] = lengths
  let at = 0
  let length = 0
  for (let places = end; places < leaf.length;) {
    const isFirst = places === end
    const step = numberAt(leaf, places)
    places += sizeOf(step)
    at += step
    let from = at
    let kept = 0
    if (!isFirst) {
      kept = numberAt(leaf, from)
      from += sizeOf(kept)
    }
    let more = numberAt(leaf, from)
    from += sizeOf(more)
    if (kept > length + 1 || more === 0 || from + more > end || kept + more > LONGEST) return 'odd'
    if (kept > 0) kept -= 1
    else {
      if (leaf[from] !== KIND) return 'odd'
      from += 1
      more -= 1
    }
    for (let nth = 0; nth < more; nth += 1) word[kept + nth] = leaf[from + nth] as number
    length = kept + more
    if (!finder(word, kept, length) && (length < shortest || length > longest)) continue
    if (!take(word.toString('utf8', 0, length))) return 'enough'
  }
  return 'read'
}

/** Seven bits a byte, the highest first; all but the last have the eighth set. No leaf has room for more than three. */
function numberAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number
  if (first < 0x80) return first
  const second = bytes[at + 1] as number
  const two = ((first & 0x7f) << 7) | (second & 0x7f)
  return second < 0x80 ? two : (two << 7) | (bytes[at + 2] as number)
}

function sizeOf(number: number): number {
  return number < 0x80 ? 1 : number < 0x4000 ? 2 : 3
}
