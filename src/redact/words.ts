/** Tells words and names of code from random letters, by how many of the pairs of letters in them are common. */

/** The 260 commonest pairs of letters in English and in names of code: each first letter with the letters that follow it. */
const PAIRS = `aabcdefgiklmnprstuvwy babcdefilorsu cabcdefhiklorstu dabcdefilorsu eabcdefgilmnoprstvwxy fabcdefiloru gaehilnorsu
  haeiortu iabcdefglmnoprstvz kaeis ladeilostuy mabeimopsu nacdefgiknostuv oabcdfgklmnoprstuvw paehiloprstu qu racdegiklmnorstuy
  sacehiklmopstuy tacehiloprstuy uabceilmnprst vaei waeior xpt yaps ze`

const COMMON = new Uint8Array(26 * 26)
for (const [first = '', ...others] of PAIRS.split(/\s+/))
  for (const other of others) COMMON[pairOf(first.charCodeAt(0), other.charCodeAt(0))] = 1

function pairOf(first: number, second: number): number {
  return (first - 97) * 26 + second - 97
}

/** Letters of one word, in a name of code: `tokenURL2` has the parts `token` and `URL`. */
const PART = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g

/** True for words, names of code and paths. Five in a hundred random texts of twelve lower-case letters pass for words, and one of mixed letters. */
export function looksLikeWords(text: string): boolean {
  // Letters of other alphabets are words: keys have none.
  if (/[^\0-\x7f]/.test(text)) return true
  const parts = text.match(PART) ?? []
  let letters = 0
  let pairs = 0
  let common = 0
  for (const part of parts) {
    letters += part.length
    for (let i = 1; i < part.length; i += 1) {
      pairs += 1
      common += COMMON[pairOf(part.charCodeAt(i - 1) | 32, part.charCodeAt(i) | 32)] as number
    }
  }
  return pairs > 0 && common >= pairs * 0.7 && letters >= parts.length * 3
}
