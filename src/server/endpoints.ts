/** Every path of the API with what it takes and answers: what the OpenAPI document is made of, and what a test goes through. */
import type { z } from 'zod'
import {
  entriesSchema,
  entryRowSchema,
  exportQuerySchema,
  findQuerySchema,
  findSchema,
  healthSchema,
  outlineSchema,
  placeQuerySchema,
  placeSchema,
  rangeQuerySchema,
  rawSchema,
  searchQuerySchema,
  searchSchema,
  sessionAnswerSchema,
  sessionsQuerySchema,
  sessionsSchema,
  textQuerySchema,
  typingQuerySchema,
  typingSchema,
  textSchema,
  treeSchema,
} from './api.ts'
import {
  cacheSchema,
  costAnswerSchema,
  costQuerySchema,
  insightSchema,
  statsQuerySchema,
  statsSchema,
  topQuerySchema,
  topSchema,
} from './api-cost.ts'
import { diffQuerySchema, diffSchema } from './api-diff.ts'
import { syncReportSchema } from './api-live.ts'
import { compareSchema, receiptsSchema, runSchema, runsQuerySchema, runsSchema } from './api-runs.ts'

export type Endpoint = {
  readonly method: 'get' | 'post'
  /** As hono has it, with `:name` for what varies. */
  readonly path: string
  readonly summary: string
  readonly query?: z.ZodObject
  /** The name of its schema, and the schema; absent for what is not JSON. */
  readonly answer?: readonly [name: string, schema: z.ZodType]
  /** Media types of what is not JSON. */
  readonly types?: readonly string[]
  /** Refusals besides those of every path. */
  readonly failures?: readonly number[]
}

const BASE = '/api/v1'
const SESSION = `${BASE}/sessions/:id`
const RUN = `${BASE}/runs/:id`
const NOT_FOUND = [404, 409]

const get = (
  path: string,
  summary: string,
  more: Omit<Endpoint, 'method' | 'path' | 'summary'>,
): Endpoint => ({
  method: 'get',
  path,
  summary,
  ...more,
})

export const ENDPOINTS: readonly Endpoint[] = [
  get(`${BASE}/health`, 'Whether the server is well, and what is going on in it', {
    answer: ['Health', healthSchema],
  }),
  get(`${BASE}/openapi.json`, 'This document', { types: ['application/json'] }),
  get(`${BASE}/live`, 'What happens, as server-sent events; goes on after Last-Event-ID', {
    types: ['text/event-stream'],
    failures: [429],
  }),
  get(`${BASE}/sessions`, 'Sessions that match a query, in an order, page by page', {
    query: sessionsQuerySchema,
    answer: ['Sessions', sessionsSchema],
  }),
  get(SESSION, 'One session', { answer: ['SessionAnswer', sessionAnswerSchema], failures: NOT_FOUND }),
  get(`${SESSION}/outline`, 'What each of its entries is, in columns', {
    query: rangeQuerySchema,
    answer: ['Outline', outlineSchema],
    failures: NOT_FOUND,
  }),
  get(`${SESSION}/entries`, 'Its entries from one position to another, at most 200', {
    query: rangeQuerySchema,
    answer: ['Entries', entriesSchema],
    failures: NOT_FOUND,
  }),
  get(`${SESSION}/entries/:position`, 'One entry in full', {
    answer: ['EntryRow', entryRowSchema],
    failures: NOT_FOUND,
  }),
  get(`${SESSION}/typing`, 'How an answer was typed, where its frames were kept', {
    query: typingQuerySchema,
    answer: ['Typing', typingSchema],
    failures: NOT_FOUND,
  }),
  get(
    `${SESSION}/entries/:position/text`,
    'A text of an entry, piece by piece, at most a million characters',
    {
      query: textQuerySchema,
      answer: ['Text', textSchema],
      failures: NOT_FOUND,
    },
  ),
  get(`${SESSION}/entries/:position/file`, 'A text of an entry as a file', {
    query: textQuerySchema,
    types: ['text/plain'],
    failures: NOT_FOUND,
  }),
  get(`${SESSION}/entries/:position/raw`, 'The record that an entry was read from, as it lies', {
    answer: ['Raw', rawSchema],
    failures: NOT_FOUND,
  }),
  get(`${SESSION}/position`, 'The position of the entry that a citation names', {
    query: placeQuerySchema,
    answer: ['Place', placeSchema],
    failures: NOT_FOUND,
  }),
  get(`${SESSION}/find`, 'Positions of its entries that match a query', {
    query: findQuerySchema,
    answer: ['Find', findSchema],
    failures: NOT_FOUND,
  }),
  get(`${SESSION}/tree`, 'The sessions that it started, and those that they started', {
    answer: ['Tree', treeSchema],
    failures: NOT_FOUND,
  }),
  get(`${SESSION}/insight`, 'Its tools, its context over time, and what it did in vain', {
    answer: ['Insight', insightSchema],
    failures: NOT_FOUND,
  }),
  get(`${SESSION}/export`, 'The session as one file', {
    query: exportQuerySchema,
    types: ['text/html', 'text/markdown', 'application/json'],
    failures: NOT_FOUND,
  }),
  get(`${BASE}/search`, 'Entries that match a query, each with the words around', {
    query: searchQuerySchema,
    answer: ['Search', searchSchema],
  }),
  get(`${BASE}/cost`, 'What calls cost, by what is asked for', {
    query: costQuerySchema,
    answer: ['Cost', costAnswerSchema],
  }),
  get(`${BASE}/cost/top`, 'The dearest sessions and calls', {
    query: topQuerySchema,
    answer: ['Top', topSchema],
  }),
  get(`${BASE}/cost/cache`, 'How much was read from caches, by day', {
    query: topQuerySchema,
    answer: ['Cache', cacheSchema],
  }),
  get(`${BASE}/stats`, 'What sessions come to', { query: statsQuerySchema, answer: ['Stats', statsSchema] }),
  get(`${BASE}/diff`, 'Two sessions beside each other: where they part, and what each came to', {
    query: diffQuerySchema,
    answer: ['Diff', diffSchema],
    failures: NOT_FOUND,
  }),
  get(`${BASE}/runs`, 'Runs, the newest first', { query: runsQuerySchema, answer: ['Runs', runsSchema] }),
  get(RUN, 'One run with its steps', { answer: ['Run', runSchema], failures: NOT_FOUND }),
  get(`${RUN}/receipts`, 'What each of its steps used, and how it ended', {
    answer: ['Receipts', receiptsSchema],
    failures: NOT_FOUND,
  }),
  get(`${RUN}/compare/:other`, 'Two runs, step by step', {
    answer: ['Compare', compareSchema],
    failures: NOT_FOUND,
  }),
  get(`${BASE}/blobs/:hash`, 'Content by the hash of its bytes', {
    types: ['application/octet-stream', 'image/png', 'image/jpeg', 'image/gif', 'image/webp'],
    failures: [404],
  }),
  {
    method: 'post',
    path: `${BASE}/sync`,
    summary: 'Takes in what is new, where the server was started with --write',
    answer: ['SyncReport', syncReportSchema],
    failures: [409],
  },
]
