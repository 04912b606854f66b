/**
 * Recordings of every format at any size: the tests' small samples, one of whose texts or lists is made long. A log's first line gets long,
 * a document's longest list goes on.
 */
import { isObject, type Json, type JsonObject } from '../src/transcript/json.ts'
import { SAMPLES, type Sample } from '../test/kept-samples.ts'
import { WIRE_SAMPLES } from '../test/trace-samples.ts'
import { DOCUMENTS, type DocumentKind } from './huge-files.ts'
import { sampleText } from './samples.ts'

const SECOND = '2026-02-02T00:00:00.000Z'
const log = (format: string, path: string, ...records: readonly JsonObject[]): Sample => ({
  format,
  title: 'a log',
  path,
  records,
  isLines: true,
})

const slice = (n: number): JsonObject => ({
  role: 'user',
  content: 'look',
  created_at: '2026-02-02T00:00:00+00:00',
  tool_name: null,
  tool_call_id: null,
  tool_input: null,
  metadata: null,
  entry_id: `00000000-0000-4000-8000-00000000000${n}`,
  source: 'primary',
  sequence: n,
})

/** All samples there are, with those of the seeds' own formats that have other tests. */
export const GROWN: readonly Sample[] = [
  ...SAMPLES,
  ...WIRE_SAMPLES,
  log('weakincentives', 'transcript.jsonl', slice(0), slice(1)),
  log(
    'swarm',
    'step-agent.jsonl',
    { timestamp: SECOND, role: 'user', content: 'look' },
    { timestamp: SECOND, role: 'assistant', content: 'I look.' },
  ),
  ...Object.entries(DOCUMENTS)
    .filter(([format]) => format === 'devflow')
    .map(([format, kind]): Sample => {
      const records = JSON.parse(
        `${kind.begin}${kind.element(0)},${kind.element(1)}${kind.end}`,
      ) as JsonObject
      return { format, title: 'a document', path: kind.path, records, isLines: false }
    }),
]

/** What is no JSON, by its format. */
export const TEXTS: Readonly<Record<string, string>> = {
  aider: '\n# aider chat started at 2026-02-02 00:00:00\n\n> Aider v0.86.0\n\n#### look\n\nI look.\n',
  'provider-sse': [
    'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}\n',
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}\n',
    '',
  ].join('\n'),
}

export function toText({ records, isLines }: Sample): string {
  if (!isLines) return JSON.stringify(records)
  return (records as readonly JsonObject[]).map((record) => `${JSON.stringify(record)}\n`).join('')
}

/** The same with a text in its first record, or in its first element, that is so long. */
export function withLongText(sample: Sample, bytes: number): Sample {
  const text = sampleText(2000, 3).replaceAll(/["\\\n]/g, ' ')
  const long = text.repeat(Math.ceil(bytes / text.length))
  const { records } = sample
  if (!Array.isArray(records)) return { ...sample, records: lengthen(records as JsonObject, long) }
  const [first, ...others] = records as readonly JsonObject[]
  return first === undefined ? sample : { ...sample, records: [lengthen(first, long), ...others] }
}

/** What somebody said or pasted; where nothing is, it goes to the end as something new. */
function lengthen(record: JsonObject, long: string): JsonObject {
  return lengthenText(record, long) ?? { ...record, pasted: long }
}

const TEXT_KEYS: ReadonlySet<string> = new Set([
  'text',
  'content',
  'value',
  'message',
  'instruction',
  'problem',
])

function lengthenText(value: JsonObject, long: string): JsonObject | undefined {
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner === 'string' && TEXT_KEYS.has(key)) return { ...value, [key]: `${inner} ${long}` }
    const changed = isObject(inner)
      ? lengthenText(inner, long)
      : Array.isArray(inner)
        ? lengthenElement(inner as readonly Json[], long)
        : undefined
    if (changed !== undefined) return { ...value, [key]: changed }
  }
  return undefined
}

function lengthenElement(list: readonly Json[], long: string): readonly Json[] | undefined {
  for (const [at, element] of list.entries()) {
    const changed = isObject(element) ? lengthenText(element, long) : undefined
    if (changed !== undefined) return list.with(at, changed)
  }
  return undefined
}

const LIST = '"the list of it"'

/** The sample as a document of any length: its longest list goes on, with ids of their own. Undefined for one that has none. */
export function toKind({ records, path, isLines }: Sample): DocumentKind | undefined {
  if (isLines) return undefined
  const list = longestList(records)
  if (list === undefined) return undefined
  const whole = JSON.stringify(records, (_, value: unknown) => (value === list ? JSON.parse(LIST) : value))
  const [before = '', after = ''] = whole.split(LIST)
  const padding = sampleText(900, 4)
  const elements = list.map((element) =>
    JSON.stringify(isObject(element) ? lengthen(element, padding) : element),
  )
  return {
    path,
    begin: `${before}[\n`,
    element: (n) => withIds(elements[n % elements.length] as string, Math.floor(n / elements.length)),
    end: `]${after}`,
  }
}

/** The longest one of objects, as JSON, that does not lie within another. */
function longestList(value: Json, depth = 0): readonly Json[] | undefined {
  if (Array.isArray(value))
    return value.length > 0 && (value as readonly Json[]).every(isObject) ? value : undefined
  if (!isObject(value) || depth > 2) return undefined
  return Object.values(value)
    .map((inner) => longestList(inner, depth + 1))
    .filter((list) => list !== undefined)
    .toSorted((a, b) => JSON.stringify(b).length - JSON.stringify(a).length)[0]
}

const ID = /"(id|uuid|[a-z_]+_id|[a-z]+Id|ts)":("?)([^",}\]]+)\2/g

function withIds(element: string, n: number): string {
  if (n === 0) return element
  return element.replaceAll(ID, (all, key: string, quote: string, id: string) => {
    if (quote !== '') return `"${key}":"${id}-${n}"`
    return /^\d+$/.test(id) ? `"${key}":${Number(id) + n * 100}` : all
  })
}
