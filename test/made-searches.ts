/** Searches of every kind made of what there is, any number, and the same ones for the same texts. */
import { all, any, begun, not, pattern, role, within, word, type Asked } from './asked-searches.ts'
import type { PlainEntry } from './plain-search.ts'
import { createRandom, type Random } from './random.ts'

/** Made of texts that are there: words, phrases, beginnings, pieces and patterns, some of them in another case or with one more letter. */
export function madeOf(entries: readonly PlainEntry[], count: number, seed = 1): readonly Asked[] {
  const random = createRandom(seed)
  const spoken = entries.filter(({ texts }) => texts.some((text) => text.trim() !== ''))
  const asked: Asked[] = []
  for (let tries = 0; asked.length < count && spoken.length > 0 && tries < count * 20; tries += 1) {
    const { texts } = spoken[random(spoken.length)] as PlainEntry
    const text = texts[random(texts.length)] ?? ''
    const made = MADE[random(MADE.length)]?.(text, random)
    if (made !== undefined) asked.push(made)
  }
  return asked
}

const MADE: readonly ((text: string, random: Random) => Asked | undefined)[] = [
  (text, random) => {
    const one = wordIn(text, random)
    return one === undefined ? undefined : { query: `"${inSomeCase(one, random)}"`, means: word(one) }
  },
  (text, random) => {
    const one = wordIn(text, random)
    return one === undefined
      ? undefined
      : { query: `"${one}"`, caseSensitive: true, means: (entry) => entry.spells(one) }
  },
  (text, random) => {
    const one = wordIn(text, random)
    const begin = one?.slice(0, 1 + random(one.length))
    if (begin === undefined || !/^[a-z0-9]+$/.test(begin)) return undefined
    return { query: `"${begin}"*`, means: begun(begin) }
  },
  (text, random) => {
    const [one, other] = [wordIn(text, random), wordIn(text, random)]
    return one && other && one !== other
      ? { query: `"${one}" -"${other}"`, means: all(word(one), not(word(other))) }
      : undefined
  },
  (text, random) => {
    const [one, other] = [pieceOf(text, 12, random), wordIn(text, random)]
    return one && other
      ? { query: `'${one}' OR "${other}"`, means: any(within(one), word(other)) }
      : undefined
  },
  (text, random) => {
    const piece = pieceOf(text, 24, random)
    const phrase = piece && /^[a-z]+ [a-z]+$/i.test(piece.trim()) ? piece.trim() : undefined
    return phrase ? { query: `"${phrase}"*`, means: begun(phrase) } : undefined
  },
  (text, random) => {
    const piece = pieceOf(text, 20, random)
    return piece === undefined ? undefined : { query: `'${inSomeCase(piece, random)}'`, means: within(piece) }
  },
  (text, random) => {
    const piece = pieceOf(text, 20, random)
    return piece === undefined
      ? undefined
      : { query: `'${piece}'`, caseSensitive: true, means: (entry) => entry.hasExactly(piece) }
  },
  (text, random) => {
    const piece = pieceOf(text, 3, random)
    return piece === undefined
      ? undefined
      : { query: `role:assistant '${piece}'`, means: all(role('assistant'), within(piece)) }
  },
  (text, random) => {
    const signs = Array.from(pieceOf(text, 16, random) ?? '')
    if (signs.length < 3 || signs.includes('/')) return undefined
    const source = signs.map((sign, at) => (at % 5 === 3 ? '.' : escaped(sign))).join('')
    return { query: `/${source}/`, means: pattern(new RegExp(source, 'iu')) }
  },
]

const escaped = (sign: string): string => (/[\^$\\.*+?()[\]{}|/]/.test(sign) ? `\\${sign}` : sign)

/** A word as it is written, and nothing of its neighbours. */
function wordIn(text: string, random: Random): string | undefined {
  const words = text.slice(0, 20_000).match(/[\p{L}\p{N}\p{M}_]+/gu) ?? []
  const one = words[random(Math.max(1, words.length))]
  return one === undefined ||
    one.length > 60 ||
    !/^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\d_]+$/u.test(one) ||
    !/[\p{L}\d]/u.test(one)
    ? undefined
    : one
}

/** Characters that stand together anywhere, as a query can have them. */
function pieceOf(text: string, most: number, random: Random): string | undefined {
  const signs = Array.from(text.slice(0, 20_000))
  const from = random(signs.length)
  const piece = signs.slice(from, from + 1 + random(most)).join('')
  return piece === '' || /['"]|[\ud800-\udfff]/u.test(piece) ? undefined : piece
}

/** Where that makes no other letters. */
function inSomeCase(text: string, random: Random): string {
  if (!/^[\0-\x7f]*$/.test(text)) return text
  return random(3) === 0 ? text.toUpperCase() : random(2) === 0 ? text.toLowerCase() : text
}
