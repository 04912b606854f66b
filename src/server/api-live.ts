/** The contract, continued: what `/live` tells as it happens, as server-sent events. Each has an id; asked with the last one that was had, those since come first. */
import { z } from 'zod'
import { sessionRowSchema } from './api-model.ts'

const text = z.string()
const count = z.int().min(0)

/** A session is new, or another than before. */
export const sessionEventSchema = z.object({ row: sessionRowSchema, isNew: z.boolean() })
/** A session has so many entries now. */
export const entriesEventSchema = z.object({ id: text, length: count })
/** What was deleted. */
export const goneEventSchema = z.object({ id: text })
export const syncEventSchema = z.object({
  state: z.enum(['running', 'done', 'failed']),
  doing: text.optional(),
  done: z.number().optional(),
  of: z.number().optional(),
  sessions: count.optional(),
  entries: count.optional(),
  message: text.optional(),
})
export const indexEventSchema = z.object({
  state: z.enum(['running', 'done', 'failed']),
  bytes: z.number().optional(),
  of: z.number().optional(),
  message: text.optional(),
})
/** Too much has happened since, or the server began anew: whoever hears it asks for everything again. */
export const resetEventSchema = z.object({})

export const liveSchemas = {
  session: sessionEventSchema,
  entries: entriesEventSchema,
  gone: goneEventSchema,
  sync: syncEventSchema,
  index: indexEventSchema,
  reset: resetEventSchema,
} as const

export type LiveEvents = { readonly [name in keyof typeof liveSchemas]: z.infer<(typeof liveSchemas)[name]> }
export type LiveEventName = keyof LiveEvents

/** What a sync answers that was asked for. */
export const syncReportSchema = z.looseObject({
  files: z.record(text, count),
  sessions: count,
  entries: count,
  damage: count,
  bytesRead: count,
})
export type SyncAnswer = z.infer<typeof syncReportSchema>
