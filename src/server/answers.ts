/** How routes answer: JSON that nobody keeps, and errors as `{"error":{code,message,hint}}` with the status that fits. */
import type { Context } from 'hono'
import { z } from 'zod'
import { HansardError, isHansardError, type ErrorCode } from '../errors.ts'
import { toJson } from '../transcript/json.ts'

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

export function answer(c: Context, value: unknown, status: 200 | 202 = 200): Response {
  return c.body(toJson(value), status, JSON_TYPE)
}

export type Failure = { readonly code: string; readonly message: string; readonly hint?: string }
export type FailureStatus = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 414 | 429 | 500 | 501

export function fail(c: Context, status: FailureStatus, failure: Failure): Response {
  return c.body(toJson({ error: failure }), status, JSON_TYPE)
}

/** What goes wrong on purpose is said in its own words; of anything else only that it did. */
export function failWith(c: Context, error: unknown, redact: (text: string) => string): Response {
  if (!isHansardError(error))
    return fail(c, 500, { code: 'internal', message: 'something went wrong here', hint: INTERNAL_HINT })
  const { code, message, hint } = error
  return fail(c, STATUS[code] ?? 500, {
    code,
    message: redact(message),
    ...(hint !== undefined && { hint: redact(hint) }),
  })
}

const INTERNAL_HINT = 'what it was stands where hansard serve runs'

const STATUS: { readonly [code in ErrorCode]?: FailureStatus } = {
  'invalid-argument': 400,
  'invalid-id': 400,
  'unsafe-path': 400,
  'not-permitted': 403,
  'read-only': 403,
  'not-found': 404,
  'session-not-found': 404,
  'run-not-found': 404,
  'unknown-format': 404,
  'ambiguous-id': 409,
  locked: 409,
  'too-large': 413,
}

/** The query of a request, checked. Of a name that is given twice the first counts; names that are not known do not. */
export function queryOf<S extends z.ZodObject>(c: Context, schema: S): z.output<S> {
  const given = Object.keys(schema.shape).flatMap((name) => {
    const value = c.req.query(name)
    return value === undefined ? [] : [[name, value] as const]
  })
  const parsed = schema.safeParse(Object.fromEntries(given))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new HansardError(
    'invalid-argument',
    `${issue?.path.join('.') ?? 'the query'}: ${issue?.message ?? 'not valid'}`,
    {
      hint: 'see /api/v1/openapi.json',
    },
  )
}
