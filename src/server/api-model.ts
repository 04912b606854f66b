/** What answers are made of: the model of sessions and entries, as the API says it. Everything in them has passed the redactor. */
import { z } from 'zod'
import { ROLES, type Entry } from '../transcript/entry.ts'
import { RELATIONS, STATUSES, type Session } from '../transcript/session.ts'
import { QUALITIES } from '../transcript/usage.ts'

const text = z.string()
const count = z.int().min(0)
/** RFC 3339, with 3 to 9 digits of fraction where the source had them. */
const instant = z.string()

export const qualitySchema = z.enum(QUALITIES)

export const usageSchema = z.object({
  input: count.optional(),
  cacheRead: count.optional(),
  cacheWrite5m: count.optional(),
  cacheWrite1h: count.optional(),
  output: count.optional(),
  reasoning: count.optional(),
  quality: qualitySchema,
})
export type ApiUsage = z.infer<typeof usageSchema>

/** `usd`: a decimal text, never a float; null when nothing could be priced. */
export const costSchema = z.object({ usd: text.nullable(), unpriced: z.array(text).readonly() })
export type ApiCost = z.infer<typeof costSchema>

export const parentSchema = z.object({
  session: text,
  citation: text.optional(),
  relation: z.enum(RELATIONS).optional(),
})

/** `from`: milliseconds since 1970. `counts`: entries in each of at most 24 buckets. */
export const activitySchema = z.object({
  from: z.number(),
  bucketMs: z.number(),
  counts: z.array(count).readonly(),
})

/** A row of `hansard list --json`, and what a list on a page shows besides. */
export const sessionRowSchema = z.object({
  id: text,
  title: text.optional(),
  prompt: text.optional(),
  agent: text.optional(),
  models: z.array(text).readonly(),
  cwd: text.optional(),
  /** The folder's name; `project:` finds it. */
  project: text.optional(),
  branch: text.optional(),
  run: text.optional(),
  flow: text.optional(),
  step: text.optional(),
  startedAt: instant.optional(),
  endedAt: instant.optional(),
  durationMs: z.number().optional(),
  status: z.enum(STATUSES),
  stub: z.boolean().optional(),
  parent: parentSchema.optional(),
  entries: count.optional(),
  toolCalls: count.optional(),
  toolsFailed: count.optional(),
  errors: count.optional(),
  filesTouched: count.optional(),
  repeatedCalls: count.optional(),
  rereads: count.optional(),
  calls: count.optional(),
  uncounted: count.optional(),
  usage: usageSchema.optional(),
  cost: costSchema.optional(),
  reportedCost: text.optional(),
  activity: activitySchema.optional(),
})
export type SessionRow = z.infer<typeof sessionRowSchema>

/** The document says what every session and entry has; the types are the model's own. */
const modelled = <T>(schema: z.ZodType): z.ZodType<T> => schema as z.ZodType<T>

export const sessionSchema = modelled<Session & { readonly prompt?: string }>(
  z.looseObject({
    id: text,
    title: text.optional(),
    prompt: text.optional(),
    agent: text.optional(),
    model: text.optional(),
    startedAt: instant.optional(),
    endedAt: instant.optional(),
    status: z.enum(STATUSES),
    parent: parentSchema.optional(),
    totals: z
      .looseObject({
        entries: count,
        toolCalls: count,
        calls: count,
        usage: usageSchema.optional(),
        cost: costSchema.optional(),
      })
      .optional(),
  }),
)

export const entrySchema = modelled<Entry>(
  z.looseObject({
    id: text,
    parent: text.nullable().optional(),
    source: text,
    sequence: count,
    kind: z.enum(['message', 'event']),
    role: z.enum(ROLES).optional(),
    at: instant.optional(),
    blocks: z.array(z.looseObject({ type: text })),
    model: text.optional(),
    usage: z.looseObject({ quality: text }).optional(),
    stopReason: text.optional(),
    durationMs: z.number().optional(),
    call: z.looseObject({}).optional(),
    metadata: z.looseObject({}).optional(),
    origin: z.looseObject({ format: text, file: text, byteOffset: count, byteLength: count }).optional(),
  }),
)
