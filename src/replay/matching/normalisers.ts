/**
 * What differs each time an agent runs and says nothing of what it asks: ids, dates, places. Each is named, so that whoever is answered
 * can be told which were needed. All of them read a text once, from its beginning to its end.
 */
import type { Json } from '../../transcript/json.ts'
import { arranged } from './result-order.ts'

/** What no single value shows. */
export const RESULT_ORDER = 'result-order'

export type Normaliser = {
  readonly name: string
  /** Fields that are left out. */
  readonly fields?: ReadonlySet<string>
  readonly text?: (text: string) => string
  readonly number?: (value: number) => Json
  /** How a list reads. */
  readonly list?: (items: readonly Json[]) => readonly Json[]
}

export type NormaliserOptions = {
  /** Folders that stand for the same thing in both runs: where each was started, and whose home it was. */
  readonly roots?: readonly string[]
}

export function createNormalisers({ roots = [] }: NormaliserOptions = {}): readonly Normaliser[] {
  return [
    { name: RESULT_ORDER, list: arranged },
    { name: 'cache-control', fields: new Set(['cache_control']) },
    {
      name: 'user-ids',
      fields: new Set(['user_id', 'user', 'safety_identifier', 'prompt_cache_key', 'device_id']),
    },
    { name: 'metadata', fields: new Set(['client_metadata', 'internal_chat_message_metadata_passthrough']) },
    { name: 'padding', fields: new Set(['obfuscation']) },
    { name: 'billing', text: replacing([[/x-anthropic-billing-header:[^\n]*/g, '<billing>']]) },
    { name: 'paths', text: toPlaces(roots) },
    { name: 'ids', text: replacing(IDS) },
    { name: 'dates', text: replacing(DATES), number: (value) => (isInstant(value) ? '<date>' : value) },
    { name: 'git', text: replacing(GIT) },
    { name: 'durations', text: replacing(DURATIONS) },
  ]
}

/** All of them at once: how a text reads, which fields there are. */
export type Way = {
  readonly text: (text: string) => string
  readonly number: (value: number) => Json
  readonly list: (items: readonly Json[]) => readonly Json[]
  readonly isLeftOut: (field: string) => boolean
}

export function wayOf(normalisers: readonly Normaliser[]): Way {
  const texts = normalisers.flatMap(({ text }) => text ?? [])
  const numbers = normalisers.flatMap(({ number }) => number ?? [])
  const lists = normalisers.flatMap(({ list }) => list ?? [])
  const fields = new Set(normalisers.flatMap((one) => [...(one.fields ?? [])]))
  return {
    text: (text) => texts.reduce((said, read) => read(said), text),
    number: (value) =>
      numbers.reduce<Json>((said, read) => (typeof said === 'number' ? read(said) : said), value),
    list: (items) => lists.reduce((said, read) => read(said), items),
    isLeftOut: (field) => fields.has(field),
  }
}

/** Those that make two values equal which are not, or that change them at all where no single one does. */
export function neededFor(recorded: Json, live: Json, normalisers: readonly Normaliser[]): readonly string[] {
  const read = ({ text, number }: Normaliser, value: Json): Json =>
    typeof value === 'string'
      ? (text?.(value) ?? value)
      : typeof value === 'number'
        ? (number?.(value) ?? value)
        : value
  const alone = normalisers.find((one) => read(one, recorded) === read(one, live))
  if (alone !== undefined) return [alone.name]
  return normalisers
    .filter((one) => read(one, recorded) !== recorded || read(one, live) !== live)
    .map(({ name }) => name)
}

type Replacement = readonly [RegExp, string]

function replacing(all: readonly Replacement[]): (text: string) => string {
  return (text) => all.reduce((said, [shape, instead]) => said.replace(shape, instead), text)
}

/** As providers and agents make them; a digit in it, so that names of functions are none. */
const IDS: readonly Replacement[] = [
  [
    /(?:\b[a-z]{1,10}_)?(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])/gi,
    '<id>',
  ],
  [
    /\b(?:msg|toolu|srvtoolu|call|resp|rs|fc|ctc|req|chatcmpl|cmpl|agent)[-_](?=[A-Za-z_-]{0,40}\d)[\w-]{1,80}/g,
    '<id>',
  ],
  [/\bChunk ID: [0-9a-f]{4,16}\b/g, 'Chunk ID: <id>'],
]

const MONTHS = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}'
const DATES: readonly Replacement[] = [
  [/\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?/g, '<date>'],
  [
    new RegExp(
      `\\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? )?${MONTHS} \\d{1,2}(?:,? \\d{4})?\\b`,
      'g',
    ),
    '<date>',
  ],
  [new RegExp(`\\b\\d{1,2} ${MONTHS},? \\d{4}\\b`, 'g'), '<date>'],
  [/\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?\b/g, '<time>'],
  [/\b1[6-9]\d{8}(?:\d{3})?(?:\.\d{1,9})?\b/g, '<date>'],
]

/** Seconds or milliseconds since 1970, of our days. */
function isInstant(value: number): boolean {
  return (value > 1.6e9 && value < 2e9) || (value > 1.6e12 && value < 2e12)
}

const GIT: readonly Replacement[] = [
  [/\b(?=[0-9a-f]{0,39}[a-f])(?=[0-9a-f]{0,39}\d)[0-9a-f]{7,40}\b/g, '<commit>'],
]

const DURATIONS: readonly Replacement[] = [
  [/\b(?:duration|elapsed)(?:_ms|Ms|_s)?["']?[:=] ?\d{1,9}(?:\.\d{1,9})?/g, '<duration>'],
  [/\b\d{1,9}(?:\.\d{1,9})? ?(?:ms|s|secs?|seconds?|minutes?)\b/g, '<duration>'],
]

const PLACES: readonly Replacement[] = [
  // Whose home it is tells what agents keep there.
  [/(?:\/[\w.-]{1,64}){1,12}(?=\/\.(?:claude|codex|gemini|config|cache|local)\b)/g, '<folder>'],
  [/(?:\/private)?\/var\/folders\/[\w.-]{1,64}\/[\w.-]{1,64}\/T\/[\w.-]{1,128}/g, '<folder>'],
  [/(?:\/private)?\/tmp\/[\w.-]{1,128}/g, '<folder>'],
  [/\/(?:home|Users)\/[\w.-]{1,64}|\/root\b/g, '<folder>'],
]

/** The longest first: a home is the beginning of what lies in it. */
function toPlaces(roots: readonly string[]): (text: string) => string {
  const own = [...new Set(roots)].filter((root) => root.length > 1).sort((a, b) => b.length - a.length)
  // Claude Code names a folder by its path with hyphens.
  const all = own.flatMap((root) => [root, root.replaceAll(/[^A-Za-z0-9]/g, '-')])
  const general = replacing(PLACES)
  return (text) => general(all.reduce((said, root) => said.replaceAll(root, '<folder>'), text))
}
