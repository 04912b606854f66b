/** The contract, continued: runs, which are sessions that belong together, and the receipts of their steps. */
import { z } from 'zod'
import { STATUSES } from '../transcript/session.ts'
import { costSchema, usageSchema } from './api-model.ts'

const text = z.string()
const count = z.int().min(0)
const list = <T extends z.ZodType>(of: T) => z.array(of).readonly()

export const runsQuerySchema = z.object({
  limit: z
    .string()
    .regex(/^\d{1,15}$/, 'a whole number')
    .transform(Number)
    .refine((value) => value >= 1 && value <= 1000, 'from 1 to 1000')
    .optional(),
  offset: z
    .string()
    .regex(/^\d{1,15}$/, 'a whole number')
    .transform(Number)
    .optional(),
})
export type RunsQuery = z.input<typeof runsQuerySchema>

export const runRowSchema = z.object({
  id: text,
  flow: text.optional(),
  flows: list(text).optional(),
  /** Ids, in the order they began. */
  sessions: list(text),
  steps: list(text),
  status: z.enum(STATUSES),
  stub: z.boolean().optional(),
  startedAt: text.optional(),
  endedAt: text.optional(),
  durationMs: z.number().optional(),
  usage: usageSchema.optional(),
  uncounted: count.optional(),
  cost: costSchema.optional(),
  /** Of what a receipt says of a whole step, not of its calls. */
  isCostEstimated: z.boolean().optional(),
})
export type RunRow = z.infer<typeof runRowSchema>

export const runsSchema = z.object({ runs: list(runRowSchema), total: count })
export type RunsAnswer = z.infer<typeof runsSchema>

/** What one step of a run used and how it ended; the receipt as the engine wrote it, where there is one. */
export const runStepSchema = z.object({
  session: text,
  title: text.optional(),
  flow: text.optional(),
  step: text.optional(),
  node: text.optional(),
  agentKey: text.optional(),
  engine: text.optional(),
  status: z.enum(STATUSES),
  stub: z.boolean().optional(),
  startedAt: text.optional(),
  endedAt: text.optional(),
  durationMs: z.number().optional(),
  entries: count.optional(),
  toolCalls: count.optional(),
  error: text.optional(),
  model: text.optional(),
  usage: usageSchema.optional(),
  uncounted: count.optional(),
  cost: costSchema.optional(),
  /** Of what a receipt says of a whole step, not of its calls. */
  isCostEstimated: z.boolean().optional(),
  receipt: z.looseObject({}).optional(),
  /** The receipts of its subagents: the step's usage is the sum of all. */
  agents: list(z.looseObject({})).optional(),
})
export type RunStep = z.infer<typeof runStepSchema>

export const runSchema = z.object({ run: runRowSchema, steps: list(runStepSchema) })
export type RunAnswer = z.infer<typeof runSchema>

export const receiptsSchema = z.object({ run: text, receipts: list(runStepSchema) })
export type ReceiptsAnswer = z.infer<typeof receiptsSchema>

/** Steps of both that are the same step of the same flow, side by side. */
export const compareSchema = z.object({
  left: runRowSchema,
  right: runRowSchema,
  steps: list(
    z.object({
      flow: text.optional(),
      step: text.optional(),
      left: runStepSchema.optional(),
      right: runStepSchema.optional(),
    }),
  ),
})
export type CompareAnswer = z.infer<typeof compareSchema>
