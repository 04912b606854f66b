/**
 * Templates of secrets: `[hex:32]` is 32 random digits, `[uuid]` a UUID, `[jwt]` a token of three parts; `«…»` holds the secret where it is
 * not all of the text, and `¶` is a line end. Each value is made when it is asked for, the same for the same seed.
 */
import { scrambled } from '../fake-keys.ts'

export type Value = {
  readonly kind: string
  /** The vendor, or the program, file or language that carries it. */
  readonly carrier: string
  readonly text: string
  /** Where the secret lies in the text. */
  readonly start: number
  readonly end: number
  /** What is random in it: none of it may be left. */
  readonly parts: readonly string[]
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const CAPITALS = LETTERS.toUpperCase()
const DIGITS = '0123456789'
const ALPHABETS: { readonly [name: string]: string } = {
  an: CAPITALS + LETTERS + DIGITS,
  lo: LETTERS + DIGITS,
  low: LETTERS,
  let: CAPITALS + LETTERS,
  UP: CAPITALS + DIGITS,
  B32: `${CAPITALS}234567`,
  hex: `${DIGITS}abcdef`,
  HEX: `${DIGITS}ABCDEF`,
  dig: DIGITS,
  url: `${CAPITALS + LETTERS + DIGITS}_-`,
  b64: `${CAPITALS + LETTERS + DIGITS}+/`,
}
const SYMBOLS = '!#%*+-.:=?@^_~'
const FIELD = /\[(?:([a-zA-Z0-9]+):(\d+)|(uuid|jwt))\]|[«»]|¶/g

/** All values of a table: a line each, a carrier and a template. */
export function valuesOf(kind: string, table: string, seed = 1): Value[] {
  return table
    .trim()
    .split('\n')
    .map((line, i) => {
      const space = line.indexOf(' ')
      return makeValue(kind, line.slice(0, space), line.slice(space + 1), seed * 100_000 + i * 50)
    })
}

export function makeValue(kind: string, carrier: string, template: string, seed: number): Value {
  let text = ''
  let copied = 0
  let start = 0
  let end: number | undefined
  let next = seed
  const parts: string[] = []
  for (const match of template.matchAll(FIELD)) {
    text += template.slice(copied, match.index)
    copied = match.index + match[0].length
    const [field, alphabet, length, name] = match
    if (field === '«') start = text.length
    else if (field === '»') end = text.length
    else if (field === '¶') text += '\n'
    else {
      next += 1
      const made = makeField(alphabet ?? (name as string), Number(length), next)
      text += made
      // What stands outside of the secret, such as the id of a key, may stay.
      if (!template.includes('«') || (end === undefined && isInside(template, match.index))) parts.push(made)
    }
  }
  text += template.slice(copied)
  const fixed = /«([^»[]{12,})»/.exec(template)?.[1]
  if (fixed !== undefined) parts.push(fixed)
  return { kind, carrier, text, start, end: end ?? text.length, parts }
}

function isInside(template: string, at: number): boolean {
  return template.lastIndexOf('«', at) > template.lastIndexOf('»', at)
}

function makeField(name: string, length: number, seed: number): string {
  const hex = (count: number, offset: number) => scrambled(count, seed + offset, ALPHABETS['hex'])
  if (name === 'uuid') return [hex(8, 1), hex(4, 2), `4${hex(3, 3)}`, `a${hex(3, 4)}`, hex(12, 5)].join('-')
  if (name === 'jwt') return makeToken(seed)
  if (name === 'pw') return makePassword(length, seed)
  const alphabet = ALPHABETS[name]
  if (alphabet === undefined) throw new TypeError(`no alphabet is called ${name}`)
  return scrambled(length, seed, alphabet)
}

function makeToken(seed: number): string {
  const encode = (text: string) => Buffer.from(text).toString('base64url')
  const head = encode('{"alg":"HS256","typ":"JWT"}')
  const body = encode(`{"sub":"${scrambled(12, seed)}","iat":${1_700_000_000 + (seed % 10_000)}}`)
  return [head, body, scrambled(43, seed + 1, ALPHABETS['url'])].join('.')
}

/** Letters and digits with a symbol after every fourth. */
function makePassword(length: number, seed: number): string {
  const symbols = scrambled(length, seed + 7, SYMBOLS)
  return Array.from(scrambled(length, seed), (one, i) => (i % 4 === 3 ? symbols[i] : one)).join('')
}
