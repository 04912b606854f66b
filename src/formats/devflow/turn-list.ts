/**
 * The turns of a document, each with its place. A bad one costs itself: where brackets stop adding up, the indentation of a
 * pretty-printed document tells the turns apart.
 */
import type { Damage } from '../../transcript/damage.ts'
import { asObject, type JsonObject } from '../../transcript/json.ts'
import { RECORD_LIMIT } from '../../transcript/lines.ts'
import { parsePart, scanElements, skipValue, type Extent } from './scan.ts'

export type RawTurn = {
  /** Undefined for a turn over the limit, which is left where it is. */
  readonly value: JsonObject | undefined
  readonly byteOffset: number
  readonly byteLength: number
}

/** Far more turns than a run has; a list of more is somebody's attempt to fill memory. */
const TURN_LIMIT = 1_000_000

export type Found = { readonly turns: RawTurn[]; readonly damage: Damage[] }

type Trust = {
  readonly file: string
  /** False when the brackets of the whole document do not add up. */
  readonly trusted: boolean
}

export function readTurns(bytes: Buffer, { from, to }: Extent, { file, trusted }: Trust): Found {
  const { elements, ended, to: stopped, tooMany } = scanElements(bytes, from, TURN_LIMIT)
  const found: Found = { turns: [], damage: [] }
  // Go writes a list that was never made as null.
  if (bytes[from] !== 0x5b && bytes.toString('latin1', from, to) !== 'null')
    found.damage.push({
      kind: 'not-an-entry',
      file,
      byteOffset: from,
      byteLength: to - from,
      reason: 'no list',
    })
  const mark = turnMark(bytes, from, elements[0])
  for (const element of elements) {
    const turn = element.whole ? parseTurn(bytes, element) : undefined
    if (turn !== undefined) keep(turn, file, found)
    else if (mark === undefined) found.damage.push(badTurn(bytes, element, file))
    else {
      // From the first bad turn on, brackets cannot be trusted; the indentation of a pretty-printed document can.
      salvage(bytes, element.from, mark, file, found)
      return found
    }
  }
  if (tooMany) {
    const reason = `more than ${TURN_LIMIT} turns, the rest not read`
    found.damage.push({ kind: 'too-large', file, byteOffset: stopped, byteLength: to - stopped, reason })
  } else if (mark !== undefined && !(ended && trusted)) salvage(bytes, stopped, mark, file, found)
  return found
}

/** devflow indents its document by two, so its turns by four. */
const USUAL_MARK = Buffer.from('\n    {')

/** What stands before each turn of a pretty-printed document: a newline, its indentation, and the brace. */
function turnMark(bytes: Buffer, list: number, first: Extent | undefined): Buffer | undefined {
  const newline = first === undefined ? -1 : bytes.subarray(list, first.from).lastIndexOf(0x0a)
  if (first !== undefined && newline !== -1) {
    const own = bytes.subarray(list + newline, first.from + 1)
    // Damage may have hit the first turn's own beginning: a mark counts when a second turn has it.
    if (/^\n[ \t]*\{$/.test(own.toString('latin1')) && bytes.includes(own, first.from)) return own
  }
  return bytes.includes(USUAL_MARK, list) ? USUAL_MARK : undefined
}

/** The turns from a place on, cut apart where the mark stands and each read on its own. Bad ones in a row are one damage. */
function salvage(bytes: Buffer, from: number, mark: Buffer, file: string, found: Found): void {
  const indent = mark.length - 1
  let badFrom = -1
  for (let start: number | undefined = from; start !== undefined && found.turns.length < TURN_LIMIT;) {
    const next = nextTurn(bytes, start, mark)
    const end = next === undefined ? bytes.length : next - indent
    const isTurn = bytes[start] === 0x7b
    const piece = isTurn ? skipValue(bytes.subarray(0, end), start) : { from: start, to: end, whole: true }
    const turn = isTurn && piece.whole ? parseTurn(bytes, piece) : undefined
    if (turn === undefined && badFrom === -1 && !isPunctuation(bytes, start, end)) badFrom = start
    if (badFrom !== -1 && (turn !== undefined || next === undefined)) {
      const to = turn === undefined ? end : start - indent
      found.damage.push(badTurn(bytes, { from: badFrom, to, whole: turn !== undefined || piece.whole }, file))
      badFrom = -1
    }
    if (turn !== undefined) keep(turn, file, found)
    start = next
  }
}

/** Commas and closing brackets: what may stand between and behind turns. */
function isPunctuation(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number
    if (byte > 0x20 && byte !== 0x2c && byte !== 0x5d && byte !== 0x7d) return false
  }
  return true
}

function keep(turn: RawTurn, file: string, found: Found): void {
  found.turns.push(turn)
  if (turn.value !== undefined) return
  const { byteOffset, byteLength } = turn
  const reason = `a turn of ${byteLength} bytes, over the limit`
  found.damage.push({ kind: 'too-large', file, byteOffset, byteLength, reason })
}

function nextTurn(bytes: Buffer, from: number, mark: Buffer): number | undefined {
  const at = bytes.indexOf(mark, from)
  return at === -1 ? undefined : at + mark.length - 1
}

/** Undefined when it is no turn: not JSON, or not an object. */
function parseTurn(bytes: Buffer, { from, to }: Extent): RawTurn | undefined {
  const place = { byteOffset: from, byteLength: to - from }
  if (to - from > RECORD_LIMIT) return { value: undefined, ...place }
  const value = asObject(parsePart(bytes, { from, to }))
  return value === undefined ? undefined : { value, ...place }
}

function badTurn(bytes: Buffer, { from, to, whole }: Extent, file: string): Damage {
  const place = { file, byteOffset: from, byteLength: to - from }
  if (!whole) return { kind: 'torn', ...place, reason: 'the file ends inside this turn' }
  if (parsePart(bytes, { from, to }) !== undefined)
    return { kind: 'not-an-entry', ...place, reason: 'a turn that is no object' }
  return { kind: 'not-json', ...place, reason: 'a turn that is not JSON' }
}
