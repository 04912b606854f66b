/** The contract, continued: two sessions beside each other, by what was asked and done in each. */
import { z } from 'zod'
import { CHANGE_TYPES, STEP_KINDS } from '../replay/diff/kinds.ts'
import { qualitySchema, sessionRowSchema } from './api-model.ts'

const text = z.string()
const count = z.int().min(0)
const list = <T extends z.ZodType>(of: T) => z.array(of).readonly()

/** Ids, or how they begin. */
export const diffQuerySchema = z.object({ a: text.min(1).max(1000), b: text.min(1).max(1000) })
export type DiffQuery = z.input<typeof diffQuerySchema>

const sideSchema = z.object({
  row: sessionRowSchema,
  entries: count,
  turns: count,
  toolCalls: count,
  toolsFailed: count,
  tokensIn: z.number().optional(),
  tokensOut: z.number().optional(),
  /** Of both: what the source states of the whole session, else what was counted. */
  quality: qualitySchema.optional(),
  error: text.optional(),
  stopReason: text.optional(),
  /** How it begins. */
  lastAnswer: text.optional(),
})
export type DiffSide = z.infer<typeof sideSchema>

/** Where a step is, and what it says: of a long text the part from where the two differ. */
const spotSchema = z.object({
  citation: text,
  position: count,
  text: text.optional(),
  /** Characters before the text that are left out. They are the same in both. */
  skipped: count.optional(),
  /** Characters after it that are left out. */
  cut: count.optional(),
})
export type DiffSpot = z.infer<typeof spotSchema>

const changeSchema = z.object({
  /** `moved`: it says the same at another place; what it says is told once. */
  type: z.enum(CHANGE_TYPES),
  what: z.enum(STEP_KINDS),
  tool: text.optional(),
  a: spotSchema.optional(),
  b: spotSchema.optional(),
})
export type DiffChange = z.infer<typeof changeSchema>

const toolSchema = z.object({ calls: count, failed: count })
const turnSchema = z.object({ role: text, chars: count })

export const diffSchema = z.object({
  a: sideSchema,
  b: sideSchema,
  isSame: z.boolean(),
  /** Steps that are the same but for ids, times, places and the like. */
  alike: z.int(),
  /** Steps that differ, in the order of reading; the first is where the sessions part. */
  changes: list(changeSchema),
  /** Of all of them. */
  counts: z.record(z.enum(CHANGE_TYPES), count),
  /** Every tool that either used. */
  tools: list(z.object({ name: text, a: toolSchema, b: toolSchema })),
  /** Files that only one named, or used in other ways. */
  files: list(z.object({ path: text, a: list(text), b: list(text) })),
  /** devflow's comparison: turns that are not the same, from 1. */
  turns: list(
    z.object({
      turn: count,
      verdict: z.enum(['different', 'different roles', 'missing']),
      a: turnSchema.optional(),
      b: turnSchema.optional(),
    }),
  ),
  /** How many there are besides those that are given. */
  more: z.object({ changes: count, tools: count, files: count, turns: count }),
})
export type DiffAnswer = z.infer<typeof diffSchema>
