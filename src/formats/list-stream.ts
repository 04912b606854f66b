/**
 * As much as can be had of a large document around a list in which something is not right, as its bytes come in: every element that is
 * whole, every member, and what is damaged. Linear, and holds one element at a time. What `list-salvage.ts` does with one that is held.
 */
import type { SourceFile } from '../transcript/source.ts'
import { openWindow } from './byte-window.ts'
import { elementsOf } from './list-elements.ts'
import { BEHIND, innerMembers } from './list-salvage.ts'
import { createWalk, type ListPiece, type Walk } from './list-walk.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b

/** Of what stands around the list, in bytes of JSON: parsed, it is several times as much. */
export const MEMBERS_LIMIT = 8 * 1024 * 1024
const NONE: ReadonlySet<string> = new Set()

/** `list` is the list's key, or undefined when the document is nothing but the list. Pieces come some at a time. */
export async function* streamPieces(
  file: SourceFile,
  list: string | undefined,
  without: ReadonlySet<string> = NONE,
): AsyncGenerator<ListPiece[]> {
  const window = openWindow(file)
  const walk = createWalk(window, file.path)
  try {
    await window.more(0)
    if (window.bytes[0] === 0xef) walk.at = 3
    const hasBegun = await walk.space()
    const first = hasBegun ? window.bytes[walk.at] : undefined
    if (first !== (list === undefined ? OPEN_BRACKET : OPEN_BRACE)) {
      walk.report('not-json', 0, undefined, list === undefined ? 'not a JSON list' : 'not a JSON object')
    } else if (list === undefined) {
      yield* elementsOf(walk)
      if (!walk.isOver) await tailOf(walk)
    } else yield* membersOf(walk, list, without)
    await walk.toEnd()
    yield walk.take(true)
  } finally {
    await window.close()
  }
}

async function* membersOf(
  walk: Walk,
  list: string,
  without: ReadonlySet<string>,
): AsyncGenerator<ListPiece[]> {
  const { window } = walk
  walk.at += 1
  while (await walk.space(COMMA)) {
    const first = window.bytes[walk.at]
    if (first === CLOSE_BRACE) {
      walk.at += 1
      return await tailOf(walk)
    }
    if (first !== QUOTE) {
      const from = walk.here()
      const isThere = await toQuote(walk)
      walk.report('not-json', from, walk.here(), 'bytes that are no member')
      if (!isThere) break
      continue
    }
    const from = walk.here()
    const ends = await walk.value()
    if (ends === undefined) return walk.report('not-json', walk.here(), undefined, 'a key over the limit')
    const key = ends.isWhole ? walk.parse(ends.to) : undefined
    walk.at = ends.to
    if (!(await walk.space())) break
    if (window.bytes[walk.at] !== COLON) {
      walk.report('not-json', from, walk.here(), 'a key without a value')
      continue
    }
    walk.at += 1
    if (!(await walk.space())) break
    if (key === list && window.bytes[walk.at] === OPEN_BRACKET) {
      yield* elementsOf(walk)
      if (walk.isOver) return
    } else if (typeof key === 'string' && without.has(key)) await walk.pass()
    else await member(walk, typeof key === 'string' ? key : undefined)
  }
  if (!walk.isTorn) walk.report('torn', walk.here(), undefined, 'the file ends before the document does')
}

async function toQuote(walk: Walk): Promise<boolean> {
  for (;;) {
    const at = walk.window.bytes.indexOf(QUOTE, walk.at)
    if (at !== -1) {
      walk.at = at
      return true
    }
    walk.at = 0
    if (!(await walk.window.more(walk.window.bytes.length))) return false
  }
}

async function member(walk: Walk, key: string | undefined): Promise<void> {
  const from = walk.here()
  const ends = await walk.value(MEMBERS_LIMIT)
  if (ends === undefined) {
    const isWhole = await walk.pass()
    walk.report(isWhole ? 'too-large' : 'torn', from, walk.here(), 'a member over the limit')
    return
  }
  const value = ends.isWhole ? walk.parse(ends.to) : undefined
  const inner = value ?? innerMembers(walk.window.bytes.subarray(0, ends.to), walk.at)
  const bytes = ends.to - walk.at
  walk.at = ends.to
  const reason = 'a member that cannot be read whole'
  if (value === undefined) walk.report(ends.isWhole ? 'not-json' : 'torn', from, walk.here(), reason)
  if (inner !== undefined && key !== undefined) walk.give({ type: 'member', key, value: inner, bytes })
}

/** Behind the document. */
async function tailOf(walk: Walk): Promise<void> {
  const end = walk.here()
  if (!(await walk.space())) return
  if (walk.window.bytes[walk.at] === OPEN_BRACE) walk.give({ type: 'lines' })
  walk.report('not-json', end, undefined, BEHIND)
}
