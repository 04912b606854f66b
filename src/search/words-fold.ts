/**
 * What a character is to the index, and what it is taken as: lower case, without accents, in one spelling. Whatever differs only
 * by case, accents, width or composition becomes the same bytes, in texts and in queries alike.
 */

/** Half of a character, which no text is written with. */
export const HALF = /[\ud800-\udfff]/u

/** Ends a word: space, punctuation, symbols, and half characters. */
export const SEPARATOR = 0
/** Lower case, and letters without case. */
export const LOWER = 1
export const UPPER = 2
export const DIGIT = 3
/** Holds the parts of an identifier together: `_`. */
export const JOINER = 4
/** Letters of scripts that put no spaces between words: Han, kana, Hangul, Thai and their like. */
export const UNSPACED = 5
/** A word by itself. */
export const EMOJI = 6
/** Nothing: accents, joiners of zero width, variation selectors, skin tones. */
export const IGNORED = 7
/** In the table of bytes: the first byte of a character that is not ASCII. */
export const HIGH = 8

/** By byte: what ASCII is. */
export const BYTE_KIND: Uint8Array = new Uint8Array(256).map((_, byte) => {
  if (byte >= 0x80) return HIGH
  if (byte >= 0x61 && byte <= 0x7a) return LOWER
  if (byte >= 0x41 && byte <= 0x5a) return UPPER
  if (byte >= 0x30 && byte <= 0x39) return DIGIT
  return byte === 0x5f ? JOINER : SEPARATOR
})

/** By byte: ASCII in lower case. */
export const BYTE_LOWER: Uint8Array = new Uint8Array(256).map((_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte,
)

/** The astral planes above these two are Han, tags and private use. */
const TABLE = 0x20000
const UNSEEN = 255
const kinds = new Uint8Array(TABLE).fill(UNSEEN)
const folds = new Map<number, readonly number[]>()
/** The one character that a character is taken as, or -1 for those that become several. 0: not looked up yet. */
const singles = new Int32Array(TABLE)

/** What a character that is not ASCII is. Looked up once a character; then a table. */
export function kindOf(codePoint: number): number {
  if (codePoint >= TABLE) {
    if (codePoint < 0x40000) return UNSPACED
    return codePoint >= 0xe0000 && codePoint < 0xe1000 ? IGNORED : SEPARATOR
  }
  const known = kinds[codePoint] as number
  if (known !== UNSEEN) return known
  const kind = classify(codePoint)
  kinds[codePoint] = kind
  return kind
}

/** The one character that a character is taken as; -1 when there are several, which `foldOf` gives. */
export function foldOne(codePoint: number): number {
  if (codePoint >= TABLE) return many(foldOf(codePoint))
  const known = singles[codePoint] as number
  if (known !== 0) return known
  const one = many(foldOf(codePoint))
  singles[codePoint] = one
  return one
}

function many(fold: readonly number[]): number {
  return fold.length === 1 ? (fold[0] ?? -1) : -1
}

/** The characters a character is taken as: mostly one, often itself. */
export function foldOf(codePoint: number): readonly number[] {
  let fold = folds.get(codePoint)
  if (fold === undefined) {
    fold = toFold(codePoint)
    // Of planes that are Han throughout, also what no version of Unicode has named yet.
    if (fold.length === 0 && codePoint >= TABLE) fold = [codePoint]
    folds.set(codePoint, fold)
  }
  return fold
}

/**
 * The one character that two in a row are, for those that change the one before and are letters of their own: voicing marks of
 * kana, vowels and finals of Hangul. File names of macOS are spelled so. Undefined for any two others.
 */
export function composed(before: number, codePoint: number): number | undefined {
  if (!isComposing(codePoint)) return undefined
  if (codePoint < 0x1200) return composedHangul(before, codePoint)
  if (before < 0x3040 || before > 0x30ff) return undefined
  const key = before * 2 + (codePoint - 0x3099)
  const known = voiced.get(key)
  if (known !== undefined) return known || undefined
  const one = String.fromCodePoint(before, codePoint).normalize('NFC')
  const found = one.length === 1 ? one.charCodeAt(0) : 0
  voiced.set(key, found)
  return found || undefined
}

/** By a kana and its mark; 0 where there is no such letter. */
const voiced = new Map<number, number>()

/** Syllables are in the order of their first, second and last letter. */
function composedHangul(before: number, codePoint: number): number | undefined {
  if (codePoint <= 0x1175) {
    return before >= 0x1100 && before <= 0x1112
      ? 0xac00 + ((before - 0x1100) * 21 + (codePoint - 0x1161)) * 28
      : undefined
  }
  const isOpen = before >= 0xac00 && before <= 0xd7a3 && (before - 0xac00) % 28 === 0
  return isOpen ? before + (codePoint - 0x11a7) : undefined
}

/** True for what `composed` may still change: the end of a text cut there is not its end. */
export function mayCompose(codePoint: number): boolean {
  const isKana = codePoint >= 0x3040 && codePoint <= 0x30ff
  const isJamo = codePoint >= 0x1100 && codePoint <= 0x11ff
  return isKana || isJamo || (codePoint >= 0xac00 && codePoint <= 0xd7a3 && (codePoint - 0xac00) % 28 === 0)
}

export function isComposing(codePoint: number): boolean {
  return (
    codePoint === 0x3099 ||
    codePoint === 0x309a ||
    (codePoint >= 0x1161 && codePoint <= 0x1175) ||
    (codePoint >= 0x11a8 && codePoint <= 0x11c2)
  )
}

/**
 * Accents and points that a reader may leave out (Latin, Greek, Cyrillic, Hebrew, Arabic), what joins or selects without being
 * seen, and the direction of text. Vowel signs of Indic scripts are letters and stay.
 */
const NOTHING: readonly (readonly [number, number])[] = [
  [0x00ad, 0x00ad],
  [0x0300, 0x036f],
  [0x0483, 0x0489],
  [0x0591, 0x05bd],
  [0x05bf, 0x05bf],
  [0x05c1, 0x05c1],
  [0x05c2, 0x05c2],
  [0x05c4, 0x05c4],
  [0x05c5, 0x05c5],
  [0x05c7, 0x05c7],
  [0x0610, 0x061a],
  [0x0640, 0x0640],
  [0x064b, 0x065f],
  [0x0670, 0x0670],
  [0x06d6, 0x06dc],
  [0x06df, 0x06e4],
  [0x06e7, 0x06e7],
  [0x06e8, 0x06e8],
  [0x06ea, 0x06ed],
  [0x1ab0, 0x1aff],
  [0x1dc0, 0x1dff],
  [0x200c, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x2060],
  [0x2066, 0x2069],
  [0x20d0, 0x20ff],
  [0xfe00, 0xfe0f],
  [0xfe20, 0xfe2f],
  [0xfeff, 0xfeff],
  // Stems and flags of notes, which are signs and no letters.
  [0x1d165, 0x1d172],
  [0x1f3fb, 0x1f3ff],
]

function isNothing(codePoint: number): boolean {
  return NOTHING.some(([first, last]) => codePoint >= first && codePoint <= last)
}

type Patterns = {
  readonly picture: RegExp
  readonly letter: RegExp
  readonly withoutSpaces: RegExp
  readonly recomposed: RegExp
  readonly stroke: RegExp
}
let patterns: Patterns | undefined

/** Made when the first character needs them: Unicode's sets take longer to put together than a search to answer. */
function patternsNow(): Patterns {
  patterns ??= {
    picture: /[\p{Extended_Pictographic}\p{Regional_Indicator}\u2700-\u27bf]/u,
    letter: /[\p{L}\p{N}\p{M}]/u,
    // The apostrophe that is a letter (памʼять, ŉ) is one of many scripts, Thai among them: it parts no word.
    withoutSpaces:
      /(?!\u02bc)[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Bopomofo}\p{scx=Yi}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u,
    recomposed: /[\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}]/u,
    stroke: new RegExp(`[${Object.keys(STROKES).join('')}]`, 'gu'),
  }
  return patterns
}

function classify(codePoint: number): number {
  const { picture, letter, withoutSpaces } = patternsNow()
  const text = String.fromCodePoint(codePoint)
  if (isNothing(codePoint)) return IGNORED
  // Circled digits and the like are numbers first, pictures second.
  const isLetter = letter.test(text)
  // Below are signs of trade and arrows, which are written with and without a stroke through them.
  if (!isLetter) return codePoint >= 0x2300 && picture.test(text) ? EMOJI : SEPARATOR
  const fold = foldOf(codePoint)
  if (fold.length === 0) return IGNORED
  if (withoutSpaces.test(String.fromCodePoint(...fold)) && withoutSpaces.test(text)) return UNSPACED
  if (fold.every((one) => one >= 0x30 && one <= 0x39)) return DIGIT
  return text === text.toLowerCase() ? LOWER : UPPER
}

/** Letters that carry a stroke or are two in one: Unicode does not take them apart. */
const STROKES: Readonly<Record<string, string>> = {
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ħ: 'h',
  ŧ: 't',
  ı: 'i',
  æ: 'ae',
  œ: 'oe',
}

function toFold(codePoint: number): readonly number[] {
  const { letter, withoutSpaces, recomposed, stroke } = patternsNow()
  const text = String.fromCodePoint(codePoint)
  // To upper case in between, so that ß is ss and both small sigmas are one.
  const parts = withoutAccents(text.normalize('NFKD'))
  const cased = parts.toLowerCase().toUpperCase().toLowerCase().normalize('NFKD')
  const plain = cased.replace(stroke, (one) => STROKES[one] ?? one)
  const bare = Array.from(withoutAccents(plain))
    .filter((one) => letter.test(one))
    .join('')
  // Apart, as they may be written, but for kana and Hangul, which the scanner puts together.
  const fold = recomposed.test(bare) ? bare.normalize('NFC') : bare
  // A few signs stand for whole phrases. They are themselves, so that no text grows more than it has room for.
  const most = withoutSpaces.test(fold) ? 2 : 3
  const isSmall = Buffer.byteLength(fold) <= most * Buffer.byteLength(text)
  return Array.from(isSmall ? fold : text).map((one) => one.codePointAt(0) ?? 0)
}

/** Lower case that does not depend on where a letter stands: a sigma at the end of a word is a sigma. */
export function toLower(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ')
}

/** A text as its terms are, with what stands between them: for comparing what terms do not hold. */
export function toFolded(text: string): string {
  return toLower(withoutAccents(text.normalize('NFKD')))
}

function withoutAccents(text: string): string {
  return Array.from(text)
    .filter((one) => !isNothing(one.codePointAt(0) ?? 0))
    .join('')
}
