/** What several commands take, and how what is typed is read. Text that is none of it is wrong usage. */
import { InvalidArgumentError } from 'commander'
import { parseUsd } from '../../cost/money.ts'
import { PERIODS, type Budget } from '../../search/cost-by.ts'
import { coloursFor } from '../colour.ts'
import { stdout } from '../streams.ts'

const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

export const JSON_FLAG = ['--json', 'one JSON document instead of text'] as const
export const HOME_FLAG = ['--home <dir>', 'the archive (default: HANSARD_HOME, or ~/.hansard)'] as const
export const FORMAT_FLAG = [
  '--format <format>',
  'what the input is in, where it is not to be told by its content',
] as const
export const RAW_FLAG = ['--raw', 'kept sessions as they are, with the secrets that are in them'] as const
export const UTC_FLAG = ['--utc', 'times in UTC instead of local time'] as const

/** For `addHelpText`: called once the flags are read, when it is known whether to paint. */
export function examples(...lines: readonly string[]): () => string {
  return () => `\n${coloursFor(stdout).bold('Examples:')}\n${lines.map((line) => `  ${line}\n`).join('')}`
}

export function toNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It is not a whole number from 1.')
  return Number(text)
}

export function toCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It is not a whole number from 0.')
  return Number(text)
}

export function toMillis(age: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([hdw])$/.exec(age) ?? []
  if (count === undefined)
    throw new InvalidArgumentError('An age is a number of hours, days or weeks: 12h, 30d, 8w.')
  return Number(count) * { h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS }[unit as 'h' | 'd' | 'w']
}

export function toBudget(text: string): Budget {
  const [, amount = '', period] = /^\$?([\d.]{1,20})\/([a-z]{1,5})$/.exec(text) ?? []
  const per = PERIODS.find((one) => one === period)
  const pico = parseUsd(amount)
  if (per === undefined || pico === undefined)
    throw new InvalidArgumentError(
      'A budget is so many US dollars in each period: 50/day, 200/week, 500/month.',
    )
  return { pico, per }
}
