/**
 * Days, weeks and months of instants, in this machine's time or in UTC. The state adds calls up by the beginning of their instants,
 * as few characters of it as tell the day here, so that not every call has to be looked at.
 */
import type { Period } from './cost-by.ts'

export type Calendar = {
  /** How many characters of an instant tell its day. */
  readonly characters: number
  /** True where days begin on the hour or half past it, in UTC. */
  readonly isOfHalfHours: boolean
  /** `2026-11-09`, of a week that of its Monday, or `2026-11`; undefined for what is no instant. */
  key(period: Period, beginning: string): string | undefined
  /** Milliseconds since 1970 at which the period of this moment began. */
  startOf(period: Period, millis: number): number
}

const [DAY, HOUR, MINUTE] = ['2026-11-09', '2026-11-09T10', '2026-11-09T10:00'].map(({ length }) => length)

export function createCalendar(utc: boolean): Calendar {
  const isUtc = utc || offsets().every((offset) => offset === 0)
  // Clocks are set by whole hours nearly everywhere, and then at whole hours of UTC.
  const isWhole = isUtc || offsets().every((offset) => offset % 60 === 0)
  const toDate = (millis: number): readonly [number, number, number] => {
    const at = new Date(millis)
    return isUtc
      ? [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
      : [at.getFullYear(), at.getMonth(), at.getDate()]
  }
  const firstDay = (period: Period, millis: number): readonly [number, number, number] => {
    const [year, month, day] = toDate(millis)
    if (period === 'day') return [year, month, day]
    return period === 'month' ? [year, month, 1] : [year, month, day - sinceMonday(year, month, day)]
  }
  return {
    isOfHalfHours: isUtc || offsets().every((offset) => offset % 30 === 0),
    characters: (isUtc ? DAY : isWhole ? HOUR : MINUTE) ?? 0,
    key(period, beginning) {
      const millis = beginningMillis(beginning)
      if (Number.isNaN(millis)) return undefined
      // A day before the first of a month is one of the month before.
      const day = new Date(Date.UTC(...firstDay(period, millis))).toISOString()
      return day.slice(0, period === 'month' ? 7 : 10)
    },
    startOf(period, millis) {
      const day = firstDay(period, millis)
      return isUtc ? Date.UTC(...day) : new Date(...day).getTime()
    },
  }
}

/** Of an instant that was cut after its day, hour or minute. */
export function beginningMillis(beginning: string): number {
  return Date.parse(`${beginning}${'0000-01-01T00:00:00.000Z'.slice(beginning.length)}`)
}

function sinceMonday(year: number, month: number, day: number): number {
  return (new Date(Date.UTC(year, month, day)).getUTCDay() + 6) % 7
}

/** In minutes, in winter and summer, over the years that there are agents in. */
function offsets(): readonly number[] {
  const years = Array.from({ length: 20 }, (_, n) => 2020 + n)
  return years.flatMap((year) => [0, 6].map((month) => new Date(year, month, 1).getTimezoneOffset()))
}
