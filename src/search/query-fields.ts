/**
 * The fields of a query: what may be asked of an entry and its session besides what it says. Values are checked here, days and
 * spans become instants, so that who tests them or puts them into SQL compares and no more.
 */
import { HansardError } from '../errors.ts'
import { ROLES } from '../transcript/entry.ts'
import { fromMillis, parseInstant, toMillis } from '../transcript/instant.ts'
import { STATUSES } from '../transcript/session.ts'

/** A field as it was typed, nothing checked but its name. */
export type FieldToken = {
  readonly type: 'field'
  readonly name: string
  /** `:`, or a comparison. */
  readonly operator: string
  readonly value: string
  readonly quoted: boolean
  /** As it was typed. */
  readonly raw: string
}

/** Any of `values`, in lower case; `*` stands for any text. See `docs/search.md` for which may be part of a longer value. */
export type NameTest = { readonly field: NameField; readonly values: readonly string[] }
/** At or after `from`; before `to`. */
export type TimeTest = { readonly field: 'since' | 'until'; readonly instant: string }
/** Of the session. `cost`: US dollars. `tokens`: all that were read and written. Unknown is neither more nor less. */
export type NumberTest = {
  readonly field: 'cost' | 'tokens'
  readonly operator: '<' | '<=' | '>' | '>=' | '='
  readonly value: number
}
export type FieldTest = NameTest | TimeTest | NumberTest

const NAME_FIELDS = [
  'role',
  'tool',
  'agent',
  'model',
  'project',
  'branch',
  'file',
  'run',
  'flow',
  'step',
  'status',
  'source',
  'has',
] as const
export type NameField = (typeof NAME_FIELDS)[number]

export const FIELD_NAMES: readonly string[] = [...NAME_FIELDS, 'since', 'until', 'cost', 'tokens']
/** What `has:` can ask for. */
export const PARTS = ['error', 'thinking', 'tool', 'image'] as const

const CHOICES: { readonly [field: string]: readonly string[] } = { role: ROLES, status: STATUSES, has: PARTS }

export type FieldOptions = {
  /** Milliseconds since 1970: what `7d` counts from. */
  readonly now?: number
  /** Days begin at midnight in UTC; else where this machine is. */
  readonly utc?: boolean
}

/** Undefined when it is no field after all: nothing follows the colon, or the sign is not one for it. */
export function parseField(token: FieldToken, options: FieldOptions = {}): FieldTest | undefined {
  const { name, operator, value } = token
  if (name === 'cost' || name === 'tokens') return parseNumber(name, token)
  if (operator !== ':' || value.trim() === '') return undefined
  if (name === 'since' || name === 'until') return { field: name, instant: parseTime(name, value, options) }
  const field = NAME_FIELDS.find((one) => one === name)
  if (field === undefined) return undefined
  const values = (token.quoted ? [value] : value.split(',')).map((one) => one.trim().toLowerCase())
  const named = values.filter((one) => one !== '')
  const choices = CHOICES[field]
  const wrong = choices && named.find((one) => !choices.includes(one))
  if (wrong !== undefined) {
    throw invalid(`there is no ${field} “${cut(wrong)}”`, `${field}: takes ${choices?.join(', ')}`)
  }
  return named.length === 0 ? undefined : { field, values: named }
}

const AMOUNT = /^\$?(\d{1,15}(?:\.\d{1,15})?|\.\d{1,15})([km])?$/iu
const SCALES: Readonly<Record<string, number>> = { k: 1e3, m: 1e6 }
const COMPARISONS = ['<', '<=', '>', '>=', '='] as const

function parseNumber(field: 'cost' | 'tokens', { operator, value, raw }: FieldToken): NumberTest | undefined {
  const comparison = COMPARISONS.find((one) => one === operator)
  if (comparison === undefined) return undefined
  const [, digits, scale = ''] = AMOUNT.exec(value.replaceAll('_', '')) ?? []
  if (digits === undefined) {
    throw invalid(
      `${cut(raw)} compares with what is no number`,
      `write it as ${field === 'cost' ? 'cost>0.50' : 'tokens>10k'}`,
    )
  }
  return { field, operator: comparison, value: Number(digits) * (SCALES[scale.toLowerCase()] ?? 1) }
}

const DAY_MS = 86_400_000
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS }
const SPAN = /^(\d{1,6})(m|h|d|w)$/iu
const DAY = /^(\d{4})-(\d{2})(?:-(\d{2}))?$/u

function parseTime(
  field: 'since' | 'until',
  text: string,
  { now = Date.now(), utc = false }: FieldOptions,
): string {
  const value = text.trim().toLowerCase()
  const span = SPAN.exec(value)
  const ago = span && now - Number(span[1]) * (UNITS[span[2] ?? ''] ?? Number.NaN)
  const millis = ago ?? (field === 'since' ? dayOf(value, now, utc)?.[0] : dayOf(value, now, utc)?.[1])
  const instant = millis === undefined ? parseInstant(text.trim().toUpperCase()) : fromMillis(millis)
  if (instant === undefined) {
    throw invalid(
      `${field}:${cut(text)} is no time`,
      `write it as ${field}:2026-01-31, ${field}:2026-01-31T14:30Z, ${field}:7d, ${field}:24h or ${field}:yesterday`,
    )
  }
  return instant
}

/** The first millisecond of a day or month, and of the one after it. */
function dayOf(value: string, now: number, utc: boolean): readonly [number, number] | undefined {
  const midnight = (year: number, month: number, day: number): number =>
    utc ? Date.UTC(year, month, day) : new Date(year, month, day).getTime()
  if (value === 'today' || value === 'yesterday') {
    const at = new Date(now)
    const [year, month, day] = utc
      ? [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
      : [at.getFullYear(), at.getMonth(), at.getDate()]
    const back = value === 'today' ? 0 : 1
    return [midnight(year, month, day - back), midnight(year, month, day - back + 1)]
  }
  const [, year, month, day] = (DAY.exec(value) ?? []).map(Number)
  if (year === undefined || month === undefined || year < 1000) return undefined
  if (day === undefined || Number.isNaN(day)) {
    return month >= 1 && month <= 12 ? [midnight(year, month - 1, 1), midnight(year, month, 1)] : undefined
  }
  // 2026-02-30 is no day, though Date would make one of it.
  const isReal = new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day && month >= 1 && month <= 12
  return isReal ? [midnight(year, month - 1, day), midnight(year, month - 1, day + 1)] : undefined
}

/** Instants compare as text only when they have the same number of digits: this compares the times they name. */
export function isBefore(a: string, b: string): boolean {
  const difference = toMillis(a) - toMillis(b)
  return difference === 0 ? a.slice(19, -1).padEnd(10, '0') < b.slice(19, -1).padEnd(10, '0') : difference < 0
}

const cut = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text)

function invalid(message: string, hint: string): HansardError {
  return new HansardError('invalid-argument', message, { hint })
}
