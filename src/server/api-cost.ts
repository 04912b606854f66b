/** The contract, continued: what things cost, what sessions come to, and what happened in one. */
import { z } from 'zod'
import { COST_BY } from '../search/cost-by.ts'
import { FINDING_KINDS } from '../sources/work-waste.ts'
import { costSchema, qualitySchema, sessionRowSchema, usageSchema } from './api-model.ts'

const text = z.string()
const count = z.int().min(0)
const list = <T extends z.ZodType>(of: T) => z.array(of).readonly()
const atMost = (most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'a whole number')
    .transform(Number)
    .refine((value) => value >= 1 && value <= most, `from 1 to ${most}`)
const flag = z.enum(['true', 'false']).transform((value) => value === 'true')
/** As in queries: 2026-01-31, 7d, 24h, yesterday. */
const time = text.max(100)

export const costQuerySchema = z.object({
  by: z.enum([...COST_BY, 'block']).optional(),
  since: time.optional(),
  until: time.optional(),
  /** Only calls that are billed to sessions that match. */
  q: text.max(10_000).optional(),
  utc: flag.optional(),
  rollup: flag.optional(),
  limit: atMost(100_000).optional(),
})
export type CostQuery = z.input<typeof costQuerySchema>

const sums = {
  calls: count,
  /** Answers that nobody counted: sums are lower bounds. */
  uncounted: count.optional(),
  usage: usageSchema.optional(),
  cost: costSchema,
}

export const costRowSchema = z.object({
  key: text,
  ...sums,
  /** With `by=session`. */
  title: text.optional(),
  agent: text.optional(),
  startedAt: text.optional(),
  sessions: count.optional(),
  /** With `by=block`. */
  startsAt: text.optional(),
  endsAt: text.optional(),
  isActive: z.boolean().optional(),
})
export type ApiCostRow = z.infer<typeof costRowSchema>

export const costAnswerSchema = z.object({
  by: text,
  basis: z.literal('api-equivalent'),
  prices: z.enum(['configured', 'listed']),
  since: text.optional(),
  until: text.optional(),
  rows: list(costRowSchema),
  /** When there are more than are given. */
  rowCount: count.optional(),
  total: z.object(sums),
  /** Calls that say no time, left out. */
  undated: count.optional(),
  inexact: count.optional(),
})
export type CostAnswer = z.infer<typeof costAnswerSchema>

export const topQuerySchema = z.object({
  since: time.optional(),
  until: time.optional(),
  q: text.max(10_000).optional(),
  utc: flag.optional(),
  limit: atMost(200).optional(),
})
export type TopQuery = z.input<typeof topQuerySchema>

/** The dearest first. */
export const topSchema = z.object({
  sessions: list(sessionRowSchema),
  calls: list(
    z.object({
      session: text,
      title: text.optional(),
      source: text.optional(),
      model: text.optional(),
      at: text.optional(),
      usage: usageSchema.optional(),
      cost: costSchema,
    }),
  ),
})
export type TopAnswer = z.infer<typeof topSchema>

/** `rate`: cache reads among all tokens that were read, from 0 to 1; absent where nothing was counted. */
const cached = {
  usage: usageSchema.optional(),
  uncounted: count.optional(),
  rate: z.number().optional(),
}
export const cacheSchema = z.object({
  days: list(z.object({ key: text, ...cached })),
  total: z.object(cached),
})
export type CacheAnswer = z.infer<typeof cacheSchema>

export const statsQuerySchema = z.object({
  q: text.max(10_000).optional(),
  findings: atMost(100).optional(),
})
export type StatsQuery = z.input<typeof statsQuerySchema>

const measures = z.object({
  entries: z.number().optional(),
  tokens: z.number().optional(),
  usd: text.optional(),
  durationMs: z.number().optional(),
  toolCalls: z.number().optional(),
})

export const toolStatsSchema = z.object({
  tool: text,
  calls: count,
  failed: count,
  failureRate: z.number(),
  sessions: count,
  timed: count,
  totalMs: z.number().optional(),
  averageMs: z.number().optional(),
  repeatedCalls: count,
  rereads: count,
})
export type ApiToolStats = z.infer<typeof toolStatsSchema>

export const findingSchema = z.object({
  session: text,
  title: text.optional(),
  kind: z.enum(FINDING_KINDS),
  tool: text,
  file: text.optional(),
  count,
  citations: list(text),
})
export type ApiFinding = z.infer<typeof findingSchema>

export const statsSchema = z.object({
  sessions: count,
  status: z.record(text, count),
  totals: z.object({
    entries: count,
    ...sums,
    tokens: z.number().optional(),
    durationMs: z.number().optional(),
    toolCalls: count,
    toolsFailed: count,
    toolMs: z.number(),
    repeatedCalls: count,
    rereads: count,
    errors: count,
  }),
  average: measures,
  median: measures,
  known: z.record(text, count),
  tools: list(toolStatsSchema),
  waste: z.record(text, z.object({ sessions: count })),
  findings: list(findingSchema),
})
export type StatsAnswer = z.infer<typeof statsSchema>

/** What fills the context at a position, in tokens as the provider counted them. */
const contextPointSchema = z.object({
  position: count,
  at: text.optional(),
  source: text,
  model: text.optional(),
  input: count,
  /** Of `input`. */
  quality: qualitySchema.optional(),
  cacheRead: count.optional(),
  cacheWrite: count.optional(),
  output: count.optional(),
  /** Characters of each of `parts` since the last compaction: an estimate of what fills it. */
  characters: list(count).optional(),
})

export const insightSchema = z.object({
  tools: list(toolStatsSchema),
  /** What the context is divided into. */
  parts: list(text),
  context: list(contextPointSchema),
  /** Characters of what stands in the transcript, by what it is: an estimate of what fills the context. */
  fills: list(z.object({ what: text, characters: count })),
  compactions: list(count),
  findings: list(findingSchema.extend({ positions: list(count).optional() })),
})
export type InsightAnswer = z.infer<typeof insightSchema>
