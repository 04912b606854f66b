/**
 * As much as can be had of a large document around a list in which something is not right, as its bytes come in: every element that is
 * whole, every member, and what is damaged. Linear, and holds one element at a time. What `list-salvage.ts` does with one that is held.
 */
import { isUtf8 } from 'node:buffer'
import type { Damage, DamageKind } from '../transcript/damage.ts'
import type { Json } from '../transcript/json.ts'
import { RECORD_LIMIT } from '../transcript/lines.ts'
import type { SourceFile } from '../transcript/source.ts'
import { openWindow, type ByteWindow } from './byte-window.ts'
import { parsePart, skipSpace, skipValue } from './devflow/scan.ts'
import { innerMembers, type ListElement } from './list-salvage.ts'
import { createValueSkip } from './value-skip.ts'

export type ListPiece =
  /** The list begins; of several the last counts, as in JSON. */
  | { readonly type: 'list' }
  | { readonly type: 'element'; readonly element: ListElement }
  | { readonly type: 'member'; readonly key: string; readonly value: Json; readonly bytes: number }
  | { readonly type: 'damage'; readonly damage: Damage }
  /** Another object stands behind the end: the file is lines, not a document. */
  | { readonly type: 'lines' }
  /** The last. */
  | { readonly type: 'end'; readonly sizeBytes: number }

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

const BATCH = 256
const BATCH_BYTES = 1024 * 1024
/** Places that are told of one by one; those behind are told of together. */
const MOST_DAMAGE = 1000

/** Of what stands around the list, in bytes of JSON: parsed, it is several times as much. */
export const MEMBERS_LIMIT = 8 * 1024 * 1024
const NONE: ReadonlySet<string> = new Set()

/** `list` is the list's key, or undefined when the document is nothing but the list. Pieces come some at a time. */
export async function* streamPieces(
  file: SourceFile,
  list: string | undefined,
  without: ReadonlySet<string> = NONE,
): AsyncGenerator<readonly ListPiece[]> {
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

type Walk = ReturnType<typeof createWalk>

/** Where reading stands, and what was found so far. */
function createWalk(window: ByteWindow, file: string) {
  let found: ListPiece[] = []
  let foundBytes = 0
  let isUtf = true
  let isTorn = false
  const damages: { kind: DamageKind; from: number; to: number | undefined; reason: string }[] = []
  return {
    window,
    give(piece: ListPiece): void {
      found.push(piece)
      if (piece.type === 'element') foundBytes += piece.element.byteLength
    },
    /** As many as are handed over at a time. */
    get isFull(): boolean {
      return found.length >= BATCH || foundBytes >= BATCH_BYTES
    },
    /** In the window. */
    at: 0,
    /** Nothing behind this place can be made out. */
    isOver: false,
    get isTorn() {
      return isTorn
    },
    here(): number {
      return window.base + this.at
    },
    /** Up to the next byte that is no space, and no comma where asked. False at the end of the file. */
    async space(also?: number): Promise<boolean> {
      for (;;) {
        this.at = skipSpace(window.bytes, this.at, also)
        if (this.at < window.bytes.length) return true
        const { at } = this
        this.at = 0
        if (!(await window.more(at))) return false
      }
    },
    /** The value that begins here, held; undefined when it is over the limit, with the reading where it was. */
    async value(
      limit = RECORD_LIMIT,
    ): Promise<{ readonly to: number; readonly isWhole: boolean } | undefined> {
      const skip = createValueSkip()
      for (let scanned = this.at; ;) {
        const to = skip.on(window.bytes, scanned)
        if (to !== -1) return { to, isWhole: skip.isWhole }
        const held = window.bytes.length - this.at
        if (held > limit) return undefined
        const { at } = this
        this.at = 0
        if (!(await window.more(at))) return { to: window.bytes.length, isWhole: false }
        scanned = held
      }
    },
    /** Past the value that begins here, however long. False when the file ends in it. */
    async pass(): Promise<boolean> {
      const skip = createValueSkip()
      for (;;) {
        const to = skip.on(window.bytes, this.at)
        this.at = to === -1 ? window.bytes.length : to
        if (to !== -1) return skip.isWhole
        const { at } = this
        this.at = 0
        if (!(await window.more(at))) return false
      }
    },
    parse(to: number): Json | undefined {
      isUtf &&= isUtf8(window.bytes.subarray(this.at, to))
      return parsePart(window.bytes, { from: this.at, to })
    },
    report(kind: DamageKind, from: number, to: number | undefined, reason: string): void {
      isTorn ||= kind === 'torn'
      if (damages.length < MOST_DAMAGE) damages.push({ kind, from, to, reason })
      else
        damages[MOST_DAMAGE] = {
          kind,
          from: damages[MOST_DAMAGE]?.from ?? from,
          to,
          reason: 'all that is damaged from here',
        }
    },
    async toEnd(): Promise<void> {
      while (await window.more(window.bytes.length));
      this.at = 0
    },
    take(isEnd = false): readonly ListPiece[] {
      const taken = found
      found = []
      foundBytes = 0
      if (!isEnd) return taken
      const sizeBytes = window.base + window.bytes.length
      const say = (kind: DamageKind, from: number, to: number, reason: string): void =>
        void taken.push({
          type: 'damage',
          damage: { kind, file, byteOffset: from, byteLength: to - from, reason },
        })
      const { broken, nuls } = window
      if (broken !== undefined) say(broken.kind, sizeBytes, sizeBytes, broken.reason)
      if (nuls !== undefined) say('nul', nuls.at, nuls.at + nuls.length, 'NUL bytes')
      if (!isUtf) say('not-utf8', 0, sizeBytes, 'bytes that are no UTF-8, read as U+FFFD')
      for (const { kind, from, to = sizeBytes, reason } of damages) {
        // What the bytes lack is the same loss, said once.
        if (broken === undefined || kind !== 'torn') say(kind, from, to, reason)
      }
      taken.push({ type: 'end', sizeBytes })
      return taken
    },
  }
}

async function* membersOf(
  walk: Walk,
  list: string,
  without: ReadonlySet<string>,
): AsyncGenerator<readonly ListPiece[]> {
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
  else walk.report('not-json', end, undefined, 'bytes after the end of the document')
}

/** Leaves the reading behind the list's last bracket, or at the end of what can be made out. */
async function* elementsOf(walk: Walk): AsyncGenerator<readonly ListPiece[]> {
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
    const ends = await walk.value()
    if (ends === undefined) {
      // Brackets that do not add up look like an element without end.
      if (mark !== undefined && window.bytes.includes(mark, walk.at)) return yield* byMark(walk, mark)
      await tooLarge(walk, from)
      continue
    }
    const value = ends.isWhole ? walk.parse(ends.to) : undefined
    if (value === undefined && mark !== undefined) return yield* byMark(walk, mark)
    const byteLength = ends.to - walk.at
    if (value !== undefined) walk.give({ type: 'element', element: { value, byteOffset: from, byteLength } })
    else walk.report(ends.isWhole ? 'not-json' : 'torn', from, from + byteLength, reasonOf(ends.isWhole))
    walk.at = ends.to
  }
  walk.isOver = true
  if (!walk.isTorn) walk.report('torn', walk.here(), undefined, 'the file ends before the list does')
}

const reasonOf = (isWhole: boolean): string =>
  isWhole ? 'a turn that is not JSON' : 'the file ends inside this turn'

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
async function* byMark(walk: Walk, mark: Buffer | undefined): AsyncGenerator<readonly ListPiece[]> {
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
    const value = piece?.whole === true ? walk.parse(piece.to) : undefined
    if (piece !== undefined && value !== undefined) {
      settle(from - mark.length + 1)
      walk.give({ type: 'element', element: { value, byteOffset: from, byteLength: piece.to - piece.from } })
      walk.at = piece.to
    } else badFrom ??= from
    if (walk.isFull) yield walk.take()
    if (next === undefined) {
      isCut = piece?.whole === false
      const isThere = value !== undefined && (await walk.space(COMMA))
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
