/**
 * The text that the rules read: a copy without colours, invisible characters, hard line wraps and encodings of single characters,
 * with a map back to the original. Most texts have none of these and are their own view.
 */
export type View = {
  readonly text: string
  /** True when lines of the original are one line of it. */
  readonly isJoined: boolean
  /** Offset in the original of the character at `at`. */
  start(at: number): number
  /** Offset in the original behind the character before `at`. */
  end(at: number): number
  /** True when something was taken out before the character at `at`: a word may begin there. */
  isGap(at: number): boolean
}

const ESC = String.raw`(?:[\x1b\u241b]|\\{1,7}(?:u001[bB]|x1[bB]|033|e)|\^\[)`
const CONTROLS = `${ESC}(?:\\[[0-?]{0,32}[ -/]{0,4}[@-~]|\\][^\\x07\\x1b\\r\\n]{0,16};(?=[^\\s;])|\\\\(?!\\\\)|[()][0-9A-B])|\\x9b[0-?]{0,32}[@-~]|\\x07`
/** Colours whose escape character was lost on the way. */
const BARE_COLOURS = String.raw`\[\d{1,3}(?:;\d{1,3}){0,8}m(?:\[K)?`
const INVISIBLE = String.raw`[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|\\{1,7}u(?:00[aA][dD]|180[eE]|200[b-fB-F]|202[a-eA-E]|206[0-9]|[fF][eE][fF][fF])`
const PERCENT = String.raw`%(?:25){0,3}(?:[2-7][0-9A-Fa-f]|0[9aAdD])`
/** Letters of other alphabets. */
const UTF8 = String.raw`%[CDcd][0-9A-Fa-f]%[89ABab][0-9A-Fa-f]|%[Ee][0-9A-Fa-f](?:%[89ABab][0-9A-Fa-f]){2}`
const ENTITY = String.raw`&(?:amp;){0,2}(?:quot|apos|amp|lt|gt|equals|colon|sol|plus|lowbar|commat|nbsp|#\d{2,3}|#[xX][0-9A-Fa-f]{2});`
const UNICODE = String.raw`\\{1,7}(?:u00|x)(?:[2-7][0-9A-Fa-f]|0[9aAdD])`

/** What is not a character of its own, in the order in which it is tried. */
const NOISE = new RegExp([CONTROLS, BARE_COLOURS, INVISIBLE, PERCENT, UTF8, ENTITY, UNICODE].join('|'), 'y')
const CONTROL = new RegExp(`^(?:${CONTROLS}|${BARE_COLOURS}|${INVISIBLE})$`)

const NAMED: { readonly [name: string]: string } = {
  quot: '"',
  apos: "'",
  amp: '&',
  lt: '<',
  gt: '>',
  equals: '=',
  colon: ':',
  sol: '/',
  plus: '+',
  lowbar: '_',
  commat: '@',
  nbsp: ' ',
}

/** What noise begins with: most texts have little of it. */
const HINT = new RegExp(
  String.raw`[\x07\x1b\x9b\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\u241b\ufeff%&\\^[]`,
  'g',
)

export function createView(text: string): View {
  if (text === last?.text) return last.view
  const pieces = noiseOf(text)
  const view = pieces.length === 0 ? plainView(text) : mapped(text, pieces, false)
  last = text.length <= LARGEST ? { text, view } : undefined
  return view
}

/** A text is looked at for known values and then for rules; most come out of the first as they went in. */
let last: { readonly text: string; readonly view: View } | undefined
/** Characters of a text whose view is kept for that. */
const LARGEST = 1 << 20

/** A stretch of lines that were one line before they were cut at a width, and its view with them joined. */
export type WrappedLines = { readonly from: number; readonly to: number; readonly view: View }

export function wrappedLines(text: string): WrappedLines[] {
  const groups: Piece[][] = []
  for (const wrap of wrapsOf(text)) {
    const group = groups.at(-1)
    const last = group?.at(-1)
    if (group && last && text.indexOf('\n', last.to) + 1 === wrap.to) group.push(wrap)
    else groups.push([wrap])
  }
  return groups.map((wraps) => {
    const [first, last] = [wraps[0] as Piece, wraps.at(-1) as Piece]
    const from = text.lastIndexOf('\n', first.from - 1) + 1
    const end = text.indexOf('\n', last.to)
    const to = end === -1 ? text.length : end
    const lines = text.slice(from, to)
    const inLines = wraps.map((wrap) => ({ ...wrap, from: wrap.from - from, to: wrap.to - from }))
    return { from, to, view: mapped(lines, merge(noiseOf(lines), inLines), true) }
  })
}

/** The text as it is. */
export function plainView(text: string): View {
  return { text, isJoined: false, start: same, end: same, isGap: never }
}

const same = (at: number): number => at
const never = (): boolean => false

/** A stretch of the original, and what stands for it in the view. */
type Piece = { readonly from: number; readonly to: number; readonly character: string }

function findHint(text: string, from: number): number {
  HINT.lastIndex = from
  return HINT.test(text) ? HINT.lastIndex - 1 : -1
}

function noiseOf(text: string): Piece[] {
  const pieces: Piece[] = []
  let isEncoded = false
  for (let hint = findHint(text, 0); hint !== -1; hint = findHint(text, hint)) {
    NOISE.lastIndex = hint
    if (!NOISE.test(text)) {
      hint += 1
      continue
    }
    const to = NOISE.lastIndex
    pieces.push({ from: hint, to, character: decode(text.slice(hint, to)) })
    isEncoded ||= text[hint] === '%'
    hint = to
  }
  return isEncoded || (text.includes('+') && FORM.test(text)) ? merge(pieces, formSpaces(text)) : pieces
}

/** Some words of a form that was sent. */
const FORM = /[=?&](?:[A-Za-z-]{1,14}\+){2}/
/** A field of it. */
const FIELD = /[^\s&?"<>`]+/g

/** In a form, a plus is a space; its own pluses are encoded. */
function formSpaces(text: string): Piece[] {
  const pieces: Piece[] = []
  for (const { 0: field, index } of text.matchAll(FIELD)) {
    if (!/%[0-9A-Fa-f]{2}/.test(field) && !FORM.test(field)) continue
    for (let at = field.indexOf('+'); at !== -1; at = field.indexOf('+', at + 1))
      pieces.push({ from: index + at, to: index + at + 1, character: ' ' })
  }
  return pieces
}

/** The character that is meant; empty for what only colours, or cannot be seen. */
function decode(noise: string): string {
  if (/^%[c-e]/i.test(noise)) return Buffer.from(noise.replaceAll('%', ''), 'hex').toString('utf8').charAt(0)
  if (noise.startsWith('%') || (noise.startsWith('\\') && !CONTROL.test(noise)))
    return String.fromCharCode(Number.parseInt(noise.slice(-2), 16))
  if (!noise.startsWith('&')) return ''
  const name = noise.slice(0, -1).replace(/^&(?:amp;)*/, '')
  if (!name.startsWith('#')) return NAMED[name] ?? ''
  return String.fromCharCode(
    /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10),
  )
}

/** Widths at which terminals, mail and encoders break lines. */
const WIDTHS = new Set([40, 48, 50, 60, 64, 70, 72, 75, 76, 78, 79, 80, 100, 120, 128, 132, 160])
const NARROWEST = 20

const SPACE = /\s/

/** Line ends in the middle of a word, where the line is as wide as the next one or as wide as lines are cut. Log lines of one width end in short words. */
function wrapsOf(text: string): Piece[] {
  const wraps: Piece[] = []
  let lineStart = 0
  let lastWidth = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', lineStart)) {
    const end = text.charCodeAt(at - 1) === 13 ? at - 1 : at
    const width = end - lineStart
    const first = lineStart
    lineStart = at + 1
    const isLong = width >= NARROWEST && width <= 512
    if (isLong && isInWord(text, end - 1) && isInWord(text, lineStart)) {
      const isCut =
        WIDTHS.has(width) ||
        ((width === lastWidth || isAsWide(text, lineStart, width)) && !SPACE.test(text.slice(end - 20, end)))
      if (isCut && !isNamed(text, lineStart) && !isAlike(text, first, lineStart))
        wraps.push({ from: end, to: lineStart, character: '' })
    }
    lastWidth = width
  }
  return wraps
}

function isAsWide(text: string, from: number, width: number): boolean {
  const end = text.indexOf('\n', from)
  return (end === -1 ? text.length : end) - from === width
}

const NAME = /[A-Za-z_][\w.-]{1,63}[ \t]{0,2}(?:=(?![=\s]|$)|:(?:\s|$))/y

/** A line that begins with a name and its value goes on with nothing. */
function isNamed(text: string, at: number): boolean {
  NAME.lastIndex = at
  return NAME.test(text)
}

/** Lines of logs and lists begin alike. */
function isAlike(text: string, one: number, other: number): boolean {
  return text.startsWith(text.slice(one, one + 4), other)
}

/** Not a space, and no bracket, quote or separator that would end a word by itself. */
function isInWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code > 32 && !Number.isNaN(code) && !BREAKS.has(code)
}

const BREAKS = new Set(Array.from('\'"`,;|<>(){}[]#', (character) => character.charCodeAt(0)))

/** Both are in order; what lies inside noise stays with it. */
function merge(pieces: readonly Piece[], wraps: readonly Piece[]): Piece[] {
  const all = [...pieces, ...wraps].sort((a, b) => a.from - b.from)
  return all.filter((piece, i) => i === 0 || piece.from >= (all[i - 1] as Piece).to)
}

function mapped(original: string, pieces: readonly Piece[], isJoined: boolean): View {
  const parts: string[] = []
  /** Where stretches begin, in the view and in the original: unchanged text, or one decoded character. */
  const inView: number[] = []
  const inOriginal: number[] = []
  const isDecoded: boolean[] = []
  const gaps = new Set<number>()
  let length = 0
  const add = (text: string, from: number, decoded: boolean): void => {
    parts.push(text)
    inView.push(length)
    inOriginal.push(from)
    isDecoded.push(decoded)
    length += text.length
  }
  let copied = 0
  for (const { from, to, character } of pieces) {
    if (from > copied || copied === 0) add(original.slice(copied, from), copied, false)
    if (character === '') gaps.add(length)
    else add(character, from, true)
    copied = to
  }
  add(original.slice(copied), copied, false)

  /** The last stretch that begins at or before a place of the view. */
  const stretchOf = (at: number): number => {
    let low = 0
    let high = inView.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((inView[middle] as number) <= at) low = middle
      else high = middle - 1
    }
    return low
  }
  const start = (at: number): number => {
    const stretch = stretchOf(at)
    return (inOriginal[stretch] as number) + at - (inView[stretch] as number)
  }
  const end = (at: number): number => {
    if (at === 0) return 0
    const stretch = stretchOf(at - 1)
    // A decoded character is as long as its code, which ends where the next stretch begins or something was taken out.
    return isDecoded[stretch] === true
      ? (ends.get(inOriginal[stretch] as number) as number)
      : start(at - 1) + 1
  }
  const ends = new Map(pieces.map(({ from, to }) => [from, to]))
  return { text: parts.join(''), isJoined, start, end, isGap: (at) => gaps.has(at) }
}
