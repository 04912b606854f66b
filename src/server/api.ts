/**
 * The contract of the server: what each path under `/api/v1` takes and answers. The types are for whoever asks; the schemas check
 * what is asked, and the OpenAPI document is made of them. Names may join these, none may leave. What answers are made of is in
 * api-model.ts; costs, statistics and insight in api-cost.ts, comparisons in api-diff.ts, runs in api-runs.ts, live events in api-live.ts.
 */
import { z } from 'zod'
import { ROLES } from '../transcript/entry.ts'
import { STATUSES } from '../transcript/session.ts'
import { SESSION_SORTS } from '../search/session-sorts.ts'
import { costSchema, entrySchema, sessionRowSchema, sessionSchema, usageSchema } from './api-model.ts'

const text = z.string()
const count = z.int().min(0)
const list = <T extends z.ZodType>(of: T) => z.array(of).readonly()
/** Of a query: digits, nothing else that JavaScript takes for a number. */
const digits = z
  .string()
  .regex(/^\d{1,15}$/, 'a whole number')
  .transform(Number)
const atMost = (most: number) => digits.refine((value) => value >= 1 && value <= most, `from 1 to ${most}`)
const query = text.max(10_000).optional()
const flag = z.enum(['true', 'false']).transform((value) => value === 'true')

export const errorSchema = z.object({
  error: z.object({ code: text, message: text, hint: text.optional() }),
})
export type ApiError = z.infer<typeof errorSchema>

const workSchema = z.object({ bytes: z.number(), of: z.number() })

export const healthSchema = z.object({
  status: z.literal('ok'),
  version: text,
  home: text,
  sessions: count,
  /** The search index is behind; searches read the rest. */
  indexing: workSchema.optional(),
  syncing: z.object({ doing: text, done: z.number(), of: z.number().optional() }).optional(),
  readOnly: z.boolean(),
})
export type Health = z.infer<typeof healthSchema>

export const sessionsQuerySchema = z.object({
  q: query,
  sort: z.enum(SESSION_SORTS).optional(),
  reverse: flag.optional(),
  limit: atMost(1000).optional(),
  after: text.max(4096).optional(),
  /** So many are passed over: for who goes to a place in the list. Pages one after another are asked for with `after`. */
  offset: digits.optional(),
})
export type SessionsQuery = z.input<typeof sessionsQuerySchema>

const facetSchema = list(z.object({ value: text, count }))

export const sessionsSchema = z.object({
  sessions: list(sessionRowSchema),
  total: count,
  /** `after` of the next page. */
  next: text.optional(),
  /** Sessions that may match as well: they name more files or tools than are remembered. */
  unsure: count.optional(),
  facets: z.object({
    agent: facetSchema,
    model: facetSchema,
    project: facetSchema,
    status: facetSchema,
    branch: facetSchema,
  }),
})
export type SessionsAnswer = z.infer<typeof sessionsSchema>

const childSchema = z.object({
  id: text,
  title: text.optional(),
  status: z.enum(STATUSES),
  /** The entry of the parent that started it. */
  citation: text.optional(),
  relation: text.optional(),
  entries: count.optional(),
  usage: usageSchema.optional(),
  /** Answers that nobody counted: its cost is a lower bound. */
  uncounted: count.optional(),
  cost: costSchema.optional(),
})
export type ApiChild = z.infer<typeof childSchema>

export const sessionAnswerSchema = z.object({
  session: sessionSchema,
  row: sessionRowSchema,
  children: list(childSchema),
  sources: list(z.object({ source: text, entries: count })),
  /** Entries of all sources. */
  length: count,
  outline: z.object({ state: z.enum(['ready', 'building']), entries: count }),
  /** Places where bytes should be an entry and are none; they stand with the entries that follow them. */
  damage: count.optional(),
})
export type SessionAnswer = z.infer<typeof sessionAnswerSchema>

/** Positions from `from` up to, and without, `to`. */
export const rangeQuerySchema = z.object({ from: digits.optional(), to: digits.optional() })
export type RangeQuery = z.input<typeof rangeQuerySchema>

/** Columns in base64, little-endian, a value for each position from `from` on. */
export const outlineSchema = z.object({
  length: count,
  from: count,
  to: count,
  state: z.enum(['ready', 'building']),
  /** Uint16: see `KIND_FLAGS` of transcript/kinds.ts. */
  kinds: z.base64(),
  /** Float32: US dollars, -1 where unknown. */
  costs: z.base64(),
  /** Float64: milliseconds since 1970, NaN where not said. */
  times: z.base64(),
  sources: list(text),
  /** Uint16: an index into `sources`. */
  sourceOf: z.base64(),
  /** Uint8: how sure the counts of its call are, see `toCallByte` of replay/call-bytes.ts; 0 where it says nothing of one. */
  calls: z.base64(),
})
export type OutlineAnswer = z.infer<typeof outlineSchema>

const damageSchema = z.object({
  kind: text,
  file: text,
  line: count.optional(),
  byteOffset: count,
  byteLength: count,
  reason: text,
})

export const entryRowSchema = z.object({
  position: count,
  citation: text,
  entry: entrySchema,
  /** Texts that were cut: bytes of the whole, by the path of the field, such as `blocks.0.text`. */
  cut: z.record(text, count).optional(),
  cost: costSchema.optional(),
  /** US dollars of all entries up to this one. */
  running: costSchema.optional(),
  /** Tokens of all of them. Its `quality` is that of the sum: each call by its last word so far. */
  usageTotal: usageSchema.optional(),
  /** Answers up to this one that nobody counted: both sums are lower bounds. */
  uncountedTotal: count.optional(),
  /** What is damaged between the entry before and this one. */
  damage: list(damageSchema).optional(),
})
export type EntryRow = z.infer<typeof entryRowSchema>

export const entriesSchema = z.object({
  from: count,
  length: count,
  entries: list(entryRowSchema),
  /** What is damaged after the last entry, where that is among them. */
  damageAtEnd: list(damageSchema).optional(),
})
export type EntriesAnswer = z.infer<typeof entriesSchema>

/** `text`: the record as it lies, without secrets. */
export const rawSchema = z.object({
  file: text,
  byteOffset: count,
  byteLength: count,
  text,
  cut: count.optional(),
})
export type RawAnswer = z.infer<typeof rawSchema>

/** `path`: of a field of the entry, such as `blocks.0.output`. `from` and `to` in UTF-16 code units. */
export const textQuerySchema = z.object({
  path: text.min(1).max(1000),
  from: digits.optional(),
  to: digits.optional(),
})
export type TextQuery = z.input<typeof textQuerySchema>
/** `length`: of the whole. */
export const textSchema = z.object({ length: count, from: count, to: count, text })
export type TextAnswer = z.infer<typeof textSchema>

/** `call`: as the entries of an answer name it. */
export const typingQuerySchema = z.object({ call: text.min(1).max(128) })
export type TypingQuery = z.input<typeof typingQuerySchema>
/** Milliseconds since the one before, and how many UTF-16 code units came. None where the frames were not kept. */
export const typingSchema = z.object({ beats: z.array(z.tuple([z.number(), count])) })
export type TypingAnswer = z.infer<typeof typingSchema>

export const placeQuerySchema = z.object({ source: text.max(1000).optional(), sequence: digits })
export type PlaceQuery = z.input<typeof placeQuerySchema>
export const placeSchema = z.object({ position: count })
export type PlaceAnswer = z.infer<typeof placeSchema>

export const findQuerySchema = z.object({
  q: text.min(1).max(10_000),
  from: digits.optional(),
  limit: atMost(10_000).optional(),
})
export type FindQuery = z.input<typeof findQuerySchema>

export const findSchema = z.object({
  positions: list(count),
  total: count.optional(),
  /** Where to go on; absent when all was looked at. */
  next: count.optional(),
})
export type FindAnswer = z.infer<typeof findSchema>

export type ApiTree = ApiChild & { readonly children: readonly ApiTree[] }
export const treeSchema: z.ZodType<ApiTree> = childSchema.extend({
  get children() {
    return z.array(treeSchema).readonly()
  },
})

export const exportQuerySchema = z.object({
  as: z.enum(['html', 'md', 'text', 'json', 'asciicast']).optional(),
})
export type ExportQuery = z.input<typeof exportQuerySchema>

export const searchQuerySchema = z.object({
  q: text.max(10_000),
  limit: atMost(200).optional(),
  order: z.enum(['ranked', 'newest']).optional(),
  regex: flag.optional(),
  caseSensitive: flag.optional(),
})
export type SearchQuery = z.input<typeof searchQuerySchema>

export const searchHitSchema = z.object({
  session: text,
  source: text,
  sequence: count,
  citation: text,
  /** Among all entries of the session; absent while that is not known. */
  position: count.optional(),
  role: z.enum(ROLES).optional(),
  at: text.optional(),
  title: text.optional(),
  /** How the session began, where it has no title. */
  prompt: text.optional(),
  agent: text.optional(),
  cwd: text.optional(),
  snippet: text.optional(),
  /** Where the matches are in the snippet, in UTF-16 code units. */
  marks: list(z.object({ start: count, end: count })).optional(),
  score: z.number().optional(),
})
export type ApiHit = z.infer<typeof searchHitSchema>

export const searchSchema = z.object({
  hits: list(searchHitSchema),
  total: count.optional(),
  scanned: z.object({ units: count, bytes: count, entries: count }),
  isPartial: z.boolean(),
  /** Where nothing was found: why. */
  searched: z.looseObject({ sessions: count, entries: count }).optional(),
  without: list(z.object({ part: text, found: count, isAll: z.boolean() })).optional(),
  spelling: list(z.object({ word: text, nearest: text })).optional(),
  unreadable: list(z.object({ unit: text, message: text })).optional(),
  tookMs: count,
})
export type SearchAnswer = z.infer<typeof searchSchema>
