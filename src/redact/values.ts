/** Whether a value looks like a secret, once a name has said that it may be one. There is no hunt for randomness without a name. */
import { looksLikeWords } from './words.ts'

/** Variables, templates, and what documentation writes where a secret goes. */
const STAND_IN =
  /^\$[\w.:>-]*$|^%\w{0,40}%$|^%[a-z]$|^%\(|^@[a-z_][\w./~-]*$|\$[{(]|\{\{|<%|^<[^<>]*>$|^\{[^{}]{0,24}\}$|^(.)\1*$|^(?:string|text|number|boolean|true|false|required|optional|inherit|hidden)$|x{4}|\*{3}|\.{3}|…|(?:^|[^a-z])(?:your|example|placeholder|changeme|change|dummy|redacted|insert|undefined|null|none|process\.env|os\.environ|getenv)(?:$|[^a-z])/i

/** Things that have a shape of their own and are not secrets. */
const HARMLESS = [
  /^(?:toolu|srvtoolu|call|msg|req|chatcmpl|resp|fc|rs|run|thread|step|item|evt|file|batch)_/,
  /^sha(?:1|224|256|384|512)[-:]/i,
  /^data:/i,
  /^(?:~|\.{1,2})\/|^[A-Za-z]:\\|^\\\\/,
  /^[a-z][a-z0-9+.-]{1,20}:\/\//i,
  /^[\d\s.,:_/-]+$/,
  /^0x[\da-f]{1,8}$/i,
  /^[\^~]?v?\d+(?:\.\d+)+(?:[-+.~][\w.+~-]{0,32})?$/,
  /^\d{4}-\d\d-\d\d/,
  // Names of constants and variables, and patterns.
  /^[A-Z]+\d?(?:_[A-Z]+\d?)+$|^[a-z]+(?:_[a-z]+)+$/,
  /\\[sdwSDW]/,
]

/** Harmless when made of words, or short: a random key may have the same characters. */
const CODE = [
  // A path, a constant, a member, a package.
  /^\//,
  /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/,
  /^[A-Za-z_$][\w$]*(?:(?:\.|\?\.|::|->)[A-Za-z_$][\w$]*)+$/,
  /^@?[a-z][a-z0-9-]*\/[a-z0-9/-]+$/,
]

/** Only a strong name makes these a secret: a UUID, a commit, a digest. */
const ID = /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{40}|[0-9a-f]{64})$/i
/** Patterns for texts and files. */
const PATTERN = /[\\^$*?()[\]|].*[\\^$*?()[\]|]/

/** A value that stands for a secret without being one: left alone even under `password`. */
export function isStandIn(value: string): boolean {
  return value.length < 512 && STAND_IN.test(value)
}

/** How far a name is believed: `likely` is as good as `strong`, but for words. */
export type Trust = 'strong' | 'likely' | 'weak'

/** `quoted` values are believed more easily than bare words, which may be code; those of `strong` names more easily than others. */
export function looksSecret(value: string, { quoted, trust }: { quoted: boolean; trust: Trust }): boolean {
  const strong = trust !== 'weak'
  if (value.length < (strong ? 6 : quoted ? 8 : 10) || value.length > 8192) return false
  const head = value.length > 512 ? value.slice(0, 512) : value
  const { digits, lower, upper, symbols, spaces } = census(head)
  if (spaces > 0 || lower + upper === 0) return false
  const isWords = looksLikeWords(head)
  if (isWords && trust === 'likely') return false
  if (strong && looksRandom(head)) return true
  const isLong = head.length >= (quoted || strong ? 8 : 10)
  const enough = quoted ? digits + symbols > 0 : digits >= 2 || (digits > 0 && symbols > 0)
  // Random letters are enough under a strong name; under another they have to be many and mixed.
  const isRandom =
    !isWords && (strong ? digits + symbols > 0 || isLong : head.length >= 20 && lower > 0 && upper > 0)
  if (!(enough && isLong && (strong || !isWords || digits >= 2)) && !isRandom) return false
  if (isStandIn(head) || HARMLESS.some((shape) => shape.test(head)) || (!strong && ID.test(head)))
    return false
  if (!strong && PATTERN.test(head)) return false
  if ((isWords || head.length < 20) && CODE.some((shape) => shape.test(head))) return false
  return entropy(head) >= (head.length < 10 ? 2 : quoted ? 2.5 : 2.8)
}

/** True for what could be nothing but a secret, where no name is sure that it is one. */
export function looksRandom(value: string): boolean {
  const head = value.length > 512 ? value.slice(0, 512) : value
  const { digits, lower, upper, symbols, spaces } = census(head)
  const letters = lower + upper
  if (head.length < 8 || spaces > 0 || letters < 2) return false
  const isMixed = digits > 0 || (lower > 0 && upper > 0 && letters + symbols >= 10)
  if (!isMixed || looksLikeWords(head) || isStandIn(head) || ID.test(head)) return false
  if (HARMLESS.some((shape) => shape.test(head))) return false
  if (head.length < 20 && CODE.some((shape) => shape.test(head))) return false
  return entropy(head) >= (head.length < 12 ? 2.5 : 2.8)
}

type Census = { digits: number; lower: number; upper: number; symbols: number; spaces: number }

/** `_`, `.` and `-` count as nothing: names and secrets both have them. Nor do letters of other alphabets. */
function census(text: string): Census {
  const found = { digits: 0, lower: 0, upper: 0, symbols: 0, spaces: 0 }
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code >= 97 && code <= 122) found.lower += 1
    else if (code >= 65 && code <= 90) found.upper += 1
    else if (code >= 48 && code <= 57) found.digits += 1
    else if (code <= 32) found.spaces += 1
    else if (code !== 45 && code !== 46 && code !== 95 && code < 128) found.symbols += 1
  }
  return found
}

/** Shannon's, in bits per character. */
export function entropy(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}
