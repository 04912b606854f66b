/**
 * Search as `docs/search.md` promises it, in the plainest way there is: every entry that `show` shows, its texts and their words held in
 * memory and gone through. Shares nothing with the index, nor with what reads queries; slow, and what answers are compared with.
 */
import type { Block } from '../src/transcript/block.ts'
import { citation, type Entry } from '../src/transcript/entry.ts'
import type { Session } from '../src/transcript/session.ts'
import type { Json } from '../src/transcript/json.ts'
import { shownEntries } from './shown-entries.ts'

export type PlainEntry = {
  readonly session: Session
  readonly entry: Entry
  readonly citation: string
  readonly texts: readonly string[]
  /** Any of the texts has it within. */
  has(text: string): boolean
  hasExactly(text: string): boolean
  /** Without the flags `g` and `y`. */
  matches(pattern: RegExp): boolean
  /** Words that stand together, or one. `last`: the last of them may go on. */
  says(words: string, last?: 'whole' | 'begun'): boolean
  /** The same as they are spelled. */
  spells(words: string): boolean
}

/** Everything, as it is shown. */
export async function readPlainly(home: string): Promise<readonly PlainEntry[]> {
  const all: PlainEntry[] = []
  for await (const { session, entry } of shownEntries(home)) all.push(toPlain(entry, session))
  return all
}

/** No text has it. */
const BETWEEN = '\0\u0001\0'

function toPlain(entry: Entry, session: Session): PlainEntry {
  const texts = entry.blocks.flatMap(textsOf)
  if (entry.source === 'primary' && entry.sequence === 0 && session.title !== undefined)
    texts.unshift(session.title)
  const lower = texts.map(toLower).join(BETWEEN)
  let words: Words | undefined
  const told = (): Words => (words ??= wordsOf(texts))
  return {
    session,
    entry,
    texts,
    citation: citation(session.id, entry),
    has: (text) => lower.includes(toLower(text)),
    hasExactly: (text) => texts.some((one) => one.includes(text)),
    matches: (pattern) => texts.some((one) => pattern.test(one)),
    says(asked, last = 'whole') {
      const end = last === 'whole' ? ' ' : ''
      const { parts, wholes, count, unspaced } = wordsAsked(asked)
      if (unspaced !== '') return told().unspaced.includes(unspaced)
      if (told().parts.includes(parts.trimEnd() + end)) return true
      const whole = (wholes.trim() === '' ? parts : wholes).trimEnd() + end
      // Also where it is written without a break.
      return count === 1 && (told().wholes.includes(whole) || told().parts.includes(whole))
    },
    spells(asked) {
      const { spelled, spelledWholes, count } = wordsAsked(asked)
      if (told().spelled.includes(spelled)) return true
      return (
        count === 1 && told().spelledWholes.includes(spelledWholes.trim() === '' ? spelled : spelledWholes)
      )
    },
  }
}

function textsOf(block: Block): string[] {
  switch (block.type) {
    case 'text':
    case 'thinking':
      return typeof block.text === 'string' ? [block.text] : []
    case 'tool-call':
      return [block.name, ...stringsIn(block.input ?? null)]
    case 'tool-result': {
      const output = Array.isArray(block.output) ? block.output.flatMap(textsOf) : block.output
      const said = typeof output === 'string' ? [output] : Array.isArray(output) ? output : []
      return [
        ...(block.name === undefined ? [] : [block.name]),
        ...said,
        ...(block.error === undefined ? [] : [block.error]),
      ]
    }
    case 'image':
      return block.url === undefined || block.url.startsWith('data:') ? [] : [block.url]
    case 'error':
      return [block.message, ...(block.code === undefined ? [] : [block.code])]
    case 'unknown':
      return stringsIn(block.raw)
  }
}

function stringsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap((one: Json) => stringsIn(one))
}

const toLower = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ')

/** Joiners, directions, selectors and skin tones, from one to another. */
const JOINING = '00ad 200c-200f 202a-202e 2060 2066-2069 fe00-fe0f feff 1f3fb-1f3ff'
/** Accents and points. */
const MARKS =
  '0300-036f 0483-0489 0591-05bd 05bf 05c1 05c2 05c4 05c5 05c7 0610-061a 0640 064b-065f 0670 06d6-06dc 06df-06e4 06e7 06e8 06ea-06ed 1ab0-1aff 1dc0-1dff 20d0-20ff fe20-fe2f'
const anyOf = (ranges: string): RegExp =>
  new RegExp(`[${ranges.replace(/[\da-f]+/g, (code) => `\\u{${code}}`).replaceAll(' ', '')}]`, 'gu')
const UNSEEN = anyOf(`${JOINING} ${MARKS}`)
/** Accents stay for what is spelled. */
const UNSEEN_BETWEEN = anyOf(JOINING)
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Bopomofo}\p{scx=Yi}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u
const RUN = /[\p{L}\p{N}\p{M}_]+|[\p{Extended_Pictographic}\p{Regional_Indicator}\u2700-\u27bf]/gu
const LETTERS = /[\p{L}\p{N}\p{M}]/u
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
/** Longer than this is no identifier. Bytes. */
const LONGEST = 80

const ASCII = /^\p{ASCII}*$/u

type Words = {
  /** ` one two `: in order; of identifiers their parts. A sign between texts. */
  readonly parts: string
  /** Of identifiers, all of their parts as one. */
  readonly wholes: string
  readonly spelled: string
  readonly spelledWholes: string
  /** What stands together of scripts without spaces. */
  readonly unspaced: string
  /** Runs of letters and digits. */
  readonly count: number
}

/** The same is asked of every entry. */
let lastAsked: { readonly text: string; readonly words: Words } | undefined

function wordsAsked(text: string): Words {
  if (lastAsked?.text !== text) lastAsked = { text, words: wordsOf([text]) }
  return lastAsked.words
}

function wordsOf(texts: readonly string[]): Words {
  const parts: string[] = []
  const wholes: string[] = []
  const spelled: string[] = []
  const spelledWholes: string[] = []
  let count = 0
  for (const text of texts) {
    for (const [run] of text.replace(UNSEEN_BETWEEN, '').matchAll(RUN)) {
      for (const piece of (ASCII.test(run) ? [run] : run.split(UNSPACED)).filter(
        (one) => LETTERS.test(one) || isPicture(one),
      )) {
        count += 1
        const names = partsOf(piece)
        const folded = names.map(toFolded).filter((one) => one !== '')
        const whole = folded.join('')
        if (Buffer.byteLength(whole) > LONGEST) {
          parts.push(whole)
          spelled.push(piece)
          continue
        }
        parts.push(...folded)
        spelled.push(...names.map((one) => one.normalize('NFC')))
        if (folded.length > 1) {
          wholes.push(whole)
          spelledWholes.push(piece.normalize('NFC'))
        }
      }
    }
    for (const list of [parts, wholes, spelled, spelledWholes]) list.push('¶')
  }
  const listed = (list: readonly string[]): string => ` ${list.slice(0, -1).join(' ')} `
  return {
    parts: listed(parts),
    wholes: listed(wholes),
    spelled: listed(spelled),
    spelledWholes: listed(spelledWholes),
    unspaced: texts.flatMap(unspacedOf).join(' '),
    count,
  }
}

const isPicture = (text: string): boolean =>
  /^[\p{Extended_Pictographic}\p{Regional_Indicator}\u2700-\u27bf]$/u.test(text)

/** `parseSessionId`, `HTTPServer`, `max_tokens`, `utf8Decode`, `URLs`. */
function partsOf(identifier: string): string[] {
  const signs = Array.from(identifier.normalize('NFC'))
  const kinds = signs
    .map((one) => (one !== one.toLowerCase() ? 'U' : /\p{N}/u.test(one) ? 'D' : 'L'))
    .join('')
  const parts: string[] = []
  let part = ''
  for (const [at, sign] of signs.entries()) {
    if (sign === '_') {
      if (part !== '') parts.push(part)
      part = ''
      continue
    }
    const before = signs[at - 1] === '_' ? '' : (kinds[at - 1] ?? '')
    const isPlural = signs[at + 1] === 's' && kinds[at + 2] !== 'L'
    const begins =
      kinds[at] === 'U' &&
      (before === 'L' ||
        ((before === 'U' || before === 'D') && kinds[at + 1] === 'L' && !isPlural && signs[at + 1] !== '_'))
    if (begins && part !== '') {
      parts.push(part)
      part = ''
    }
    part += sign
  }
  return part === '' ? parts : [...parts, part]
}

function toFolded(word: string): string {
  if (ASCII.test(word)) return word.toLowerCase()
  const bare = word.normalize('NFKD').replace(UNSEEN, '')
  const cased = bare.toLowerCase().toUpperCase().toLowerCase().normalize('NFKD').replace(UNSEEN, '')
  return cased.replace(/[øłđħŧıæœ]/gu, (one) => STROKES[one] ?? one)
}

function unspacedOf(text: string): string[] {
  if (ASCII.test(text)) return []
  const runs: string[] = []
  let run = ''
  for (const sign of text.replace(UNSEEN, '').normalize('NFKC')) {
    if (UNSPACED.test(sign) && LETTERS.test(sign)) run += sign
    else if (run !== '') {
      runs.push(run)
      run = ''
    }
  }
  return run === '' ? runs : [...runs, run]
}
