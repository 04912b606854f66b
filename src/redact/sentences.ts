/** Secrets that sentences give away: passwords in other languages, the words of a wallet, a user and a password together. */
import { isAlphanumeric, isEdge } from './edges.ts'
import { FOREIGN_NAMES } from './names.ts'
import { findGroup, type Find, type Rule } from './rule.ts'
import { quotedAt, wordAt } from './value-at.ts'
import { looksRandom } from './values.ts'

const CLOSE = String.raw`(?:\\{0,7}["'\x60])?\)?(?:\*\*|__)?`
const FOREIGN = new RegExp(
  String.raw`(?:${FOREIGN_NAMES.join('|')})${CLOSE}[ \t]{0,3}(?:[:：=]|是|为|為|は|는|은|(?:is|est|es|ist|lautet|è|é|jest|är|er|это)[ \t])?${CLOSE}[ \t]{0,3}`,
  'iuy',
)
/** What follows a name that is too short to look for by itself. */
const SEPARATORS = [':', '：', '是', '为', '為', ' ', '=', '는', '은']
const SHORT = 3

/** `la contraseña es …`, `密码：…`. */
const findForeign: Find = (text, at) => {
  FOREIGN.lastIndex = at
  if (!isEdge(text, at, isAlphanumeric) || !FOREIGN.test(text)) return undefined
  return findRandom(text, FOREIGN.lastIndex)
}

function findRandom(text: string, at: number): ReturnType<Find> {
  const value = quotedAt(text, at) ?? wordAt(text, at)
  if (value === undefined || !looksRandom(text.slice(value.start, value.end))) return undefined
  return { start: value.start, end: value.end, rule: 'password' }
}

function foreignLiterals(name: string): string[] {
  // The scanner ignores the case of ASCII letters only.
  const spellings = [name, name.charAt(0).toUpperCase() + name.slice(1)]
  const literals = name.length > SHORT ? spellings : SEPARATORS.map((separator) => name + separator)
  return literals.map((literal) => literal.replace(/[A-Z]/g, (letter) => letter.toLowerCase()))
}

const MNEMONIC =
  /(?:seed|mnemonic|bip-?39|phrase)[ _-]?(?:words?|phrase)?\\{0,7}["'`]?[ \t]{0,3}(?:is|[:=])[ \t]{0,3}\\{0,7}["'`]?((?:[a-z]{3,8}[ \t]{1,2}){11,23}[a-z]{3,8})/iy

const LOGIN =
  /(?:cred(?:ential)?s?|login|log in)\b[^\n"'`]{0,24}?\b[\w.@-]{2,40}[ \t]?[:/][ \t]?(?=[^\s"'`|<>(){}[\]\\]{8})/iy

/** `credentials: admin/…`. */
const findLogin: Find = (text, at) => {
  LOGIN.lastIndex = at
  return LOGIN.test(text) ? findRandom(text, LOGIN.lastIndex) : undefined
}

export const SENTENCE_RULES: readonly Rule[] = [
  { literals: [...new Set(FOREIGN_NAMES.flatMap(foreignLiterals))], find: findForeign },
  { literals: ['seed', 'mnemonic', 'bip39', 'bip-39', 'phrase'], find: findGroup(MNEMONIC, 'mnemonic') },
  { literals: ['cred', 'login', 'log in'], find: findLogin },
]
