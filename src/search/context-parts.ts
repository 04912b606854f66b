/**
 * What fills a context as a session goes: at each call, how much was said of each sort since the last compaction. From outlines alone, so
 * that a session of a million entries is a walk over its rows. In characters: providers count tokens of the whole only.
 */
import { KIND_FLAGS, roleOfKind } from '../transcript/kinds.ts'
import type { Outline } from './outline-now.ts'
import { readRowBytes } from './outline-read.ts'
import { kindAt, lengthAt, ROW_BYTES, sourceAt } from './outline-row.ts'

/** In this order in each list of counts. */
export const CONTEXT_PARTS = [
  'prompts',
  'answers',
  'thinking',
  'tool calls',
  'tool outputs',
  'instructions',
] as const

/** Rows at a time: a megabyte. */
const SOME = 8192
/** Of one entry: a picture is not paid for by the letter. */
const MOST = 40_000
/** Of an entry as JSON, what is not its text. */
const AROUND = 250
/** Sources that are told apart; a hostile file may have any number. */
const MOST_SOURCES = 1000

/** For each position that is asked for, in order: what its source had said before it. */
export async function contextParts(
  { readable, length }: Outline,
  positions: readonly number[],
): Promise<readonly (readonly number[])[]> {
  const found: (readonly number[])[] = []
  const sums = new Map<number, number[]>()
  if (readable === undefined) return found
  for (let start = 0; start < length && found.length < positions.length; start += SOME) {
    const bytes = await readRowBytes(readable, start, Math.min(start + SOME, length))
    for (let at = 0; at + ROW_BYTES <= bytes.length; at += ROW_BYTES) {
      const kind = kindAt(bytes, at)
      const own = sumsOf(sums, sourceAt(bytes, at))
      if (start + at / ROW_BYTES === positions[found.length]) found.push([...own])
      if ((kind & KIND_FLAGS.compaction) !== 0) own.fill(0)
      const part = partOf(kind)
      if (part !== undefined)
        own[part] = (own[part] ?? 0) + Math.min(MOST, Math.max(0, lengthAt(bytes, at) - AROUND))
    }
  }
  return found
}

function sumsOf(sums: Map<number, number[]>, source: number): number[] {
  const known = sums.get(source)
  if (known !== undefined) return known
  const fresh = CONTEXT_PARTS.map(() => 0)
  if (sums.size < MOST_SOURCES) sums.set(source, fresh)
  return fresh
}

/** Undefined for what is no part of the conversation. */
function partOf(kind: number): number | undefined {
  const role = roleOfKind(kind)
  if (role === 'user') return 0
  if (role === 'tool') return 4
  if (role === 'system') return 5
  if (role !== 'assistant') return undefined
  if ((kind & KIND_FLAGS.tool) !== 0) return 3
  return (kind & KIND_FLAGS.thinking) !== 0 ? 2 : 1
}
