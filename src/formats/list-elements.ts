/**
 * The elements of a list as its bytes come in, whole ones and what is damaged: by their brackets, and behind the first that is bad by
 * the indentation of a pretty-printed document. Holds one element at a time.
 */
import { RECORD_LIMIT } from '../transcript/lines.ts'
import type { ByteWindow } from './byte-window.ts'
import { skipValue } from './devflow/scan.ts'
import type { ListPiece, Walk } from './list-walk.ts'

const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const CLOSE_BRACKET = 0x5d

/** Leaves the reading behind the list's last bracket, or at the end of what can be made out. */
export async function* elementsOf(walk: Walk): AsyncGenerator<ListPiece[]> {
  const { window } = walk
  walk.give({ type: 'list' })
  walk.at += 1
  const begin = walk.here()
  let mark: Buffer | undefined
  let isFirst = true
  while (await walk.space(COMMA)) {
    if (walk.isFull) yield walk.take()
    const first = window.bytes[walk.at]
    if (first === CLOSE_BRACKET) {
      walk.at += 1
      return
    }
    if (isFirst) mark = markOf(window, begin, walk.at)
    isFirst = false
    if (first === CLOSE_BRACE || first === COLON) return yield* byMark(walk, mark)
    const from = walk.here()
    // With another way to find the next one, no more is held of a bad one than up to where that shows.
    const ends = await walk.value(RECORD_LIMIT, mark !== undefined)
    if (ends === undefined) {
      // Brackets that do not add up look like an element without end.
      if (mark !== undefined && window.bytes.includes(mark, walk.at)) return yield* byMark(walk, mark)
      await tooLarge(walk, from)
      continue
    }
    const isGiven = ends.isWhole && giveElement(walk, ends.to)
    if (!isGiven && mark !== undefined) return yield* byMark(walk, mark)
    const to = from + ends.to - walk.at
    if (!isGiven) walk.report(ends.isWhole ? 'not-json' : 'torn', from, to, reasonOf(ends.isWhole))
    walk.at = ends.to
  }
  walk.isOver = true
  if (!walk.isTorn) walk.report('torn', walk.here(), undefined, 'the file ends before the list does')
}

const reasonOf = (isWhole: boolean): string =>
  isWhole ? 'a turn that is not JSON' : 'the file ends inside this turn'

/** Not where others wait for the next: their frames would hold on to what it says. False for what is not JSON. */
function giveElement(walk: Walk, to: number): boolean {
  const value = walk.parse(to)
  if (value === undefined) return false
  const byteOffset = walk.here()
  walk.give({ type: 'element', element: { value, byteOffset, byteLength: to - walk.at } })
  return true
}

async function tooLarge(walk: Walk, from: number): Promise<void> {
  const isWhole = await walk.pass()
  const byteLength = walk.here() - from
  if (isWhole) walk.give({ type: 'element', element: { value: undefined, byteOffset: from, byteLength } })
  const reason = isWhole ? `an element of ${byteLength} bytes, over the limit` : reasonOf(false)
  walk.report(isWhole ? 'too-large' : 'torn', from, walk.here(), reason)
}

/** As two spaces a level indent the elements of a document's list. */
const USUAL_MARK = Buffer.from('\n    {')

/**
 * What stands before each element of a pretty-printed document: a newline, its indentation, and the brace. Damage may have hit the
 * first one's own beginning: a mark counts when another has it.
 */
function markOf({ bytes, base }: ByteWindow, begin: number, first: number): Buffer | undefined {
  const list = Math.max(0, begin - base)
  const newline = bytes.subarray(list, first).lastIndexOf(0x0a)
  if (newline !== -1) {
    const own = Buffer.concat([bytes.subarray(list + newline, first), Buffer.from('{')])
    if (bytes.includes(own, first)) return own
  }
  return bytes.includes(USUAL_MARK, list) ? USUAL_MARK : undefined
}

/**
 * From the first bad element on, brackets cannot be trusted; the indentation of a pretty-printed document can: elements are cut apart
 * where the mark stands, and each is read on its own. Bad ones in a row are one damage. Without a mark nothing more can be made out.
 */
async function* byMark(walk: Walk, mark: Buffer | undefined): AsyncGenerator<ListPiece[]> {
  const { window } = walk
  if (mark === undefined) {
    walk.isOver = true
    return walk.report('not-json', walk.here(), undefined, 'brackets that do not add up, and all behind them')
  }
  let badFrom: number | undefined
  let isCut = false
  const settle = (to: number | undefined): void => {
    if (badFrom !== undefined) walk.report(isCut ? 'torn' : 'not-json', badFrom, to, reasonOf(!isCut))
    badFrom = undefined
  }
  for (;;) {
    const from = walk.here()
    const { next, isHeld } = await nextMark(walk, mark)
    const end = next ?? window.bytes.length
    const isObject = isHeld && window.bytes[walk.at] === OPEN_BRACE
    const piece = isObject ? skipValue(window.bytes.subarray(0, end), walk.at) : undefined
    const isGiven = piece?.whole === true && giveElement(walk, piece.to)
    if (isGiven) {
      settle(from - mark.length + 1)
      walk.at = piece.to
    } else badFrom ??= from
    if (walk.isFull) yield walk.take()
    if (next === undefined) {
      isCut = piece?.whole === false
      const isThere = isGiven && (await walk.space(COMMA))
      if (isThere && window.bytes[walk.at] === CLOSE_BRACKET) {
        walk.at += 1
        return
      }
      break
    }
    walk.at = next + mark.length - 1
  }
  badFrom ??= walk.here()
  await walk.toEnd()
  if (window.base + window.bytes.length > badFrom) settle(undefined)
  walk.isOver = true
}

type NextMark = {
  /** In the window; undefined when there is none up to the end of the file. */
  readonly next: number | undefined
  /** False when what stands before it is over the limit, and was let go of. */
  readonly isHeld: boolean
}

async function nextMark(walk: Walk, mark: Buffer): Promise<NextMark> {
  const { window } = walk
  let isHeld = true
  for (let searched = walk.at; ;) {
    const next = window.bytes.indexOf(mark, searched)
    if (next !== -1) return { next, isHeld }
    const { length } = window.bytes
    const unsearched = Math.max(walk.at, length - mark.length + 1)
    isHeld &&= length - walk.at <= RECORD_LIMIT
    const from = isHeld ? walk.at : unsearched
    walk.at = 0
    if (!(await window.more(from))) return { next: undefined, isHeld }
    searched = unsearched - from
  }
}
