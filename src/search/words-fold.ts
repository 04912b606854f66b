/**
 * What a character is to the index, and what it is taken as: lower case, without accents, in one spelling. Whatever differs only
 * by case, accents, width or composition becomes the same bytes, in texts and in queries alike.
 */

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
  const one = String.fromCodePoint(before, codePoint).normalize('NFC')
  const found = one.codePointAt(0)
  return found !== undefined && one.length === (found > 0xffff ? 2 : 1) ? found : undefined
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
const NOTHING =
  /[\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u200c-\u200f\u202a-\u202e\u2060\u2066-\u2069\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\u{1f3fb}-\u{1f3ff}]/u
const PICTURE = /[\p{Extended_Pictographic}\p{Regional_Indicator}\u2700-\u27bf]/u
const LETTER = /[\p{L}\p{N}\p{M}]/u
const WITHOUT_SPACES =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Bopomofo}\p{scx=Yi}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u

function classify(codePoint: number): number {
  const text = String.fromCodePoint(codePoint)
  if (NOTHING.test(text)) return IGNORED
  // Circled digits and the like are numbers first, pictures second.
  const isLetter = LETTER.test(text)
  if (!isLetter) return PICTURE.test(text) ? EMOJI : SEPARATOR
  const fold = foldOf(codePoint)
  if (fold.length === 0) return IGNORED
  if (WITHOUT_SPACES.test(String.fromCodePoint(...fold)) && WITHOUT_SPACES.test(text)) return UNSPACED
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
const STROKE = new RegExp(`[${Object.keys(STROKES).join('')}]`, 'gu')

function toFold(codePoint: number): readonly number[] {
  const text = String.fromCodePoint(codePoint)
  // To upper case in between, so that ß is ss and both small sigmas are one.
  const parts = withoutAccents(text.normalize('NFKD'))
  const cased = parts.toLowerCase().toUpperCase().toLowerCase().normalize('NFKD')
  const plain = cased.replace(STROKE, (letter) => STROKES[letter] ?? letter)
  const bare = [...withoutAccents(plain)].filter((one) => LETTER.test(one)).join('')
  // Apart, as they may be written, but for kana and Hangul, which the scanner puts together.
  const fold = RECOMPOSED.test(bare) ? bare.normalize('NFC') : bare
  // A few signs stand for whole phrases. They are themselves, so that no text grows more than it has room for.
  const most = WITHOUT_SPACES.test(fold) ? 2 : 3
  const isSmall = Buffer.byteLength(fold) <= most * Buffer.byteLength(text)
  return [...(isSmall ? fold : text)].map((one) => one.codePointAt(0) ?? 0)
}

function withoutAccents(text: string): string {
  return [...text].filter((one) => !NOTHING.test(one)).join('')
}

const RECOMPOSED = /[\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}]/u
