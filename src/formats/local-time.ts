/** Instants in local time, for formats that people read: the hour on the wall, with the offset that makes it an instant again. */
import { HansardError } from '../errors.ts'
import { toMillis } from '../transcript/instant.ts'

export type LocalClock = {
  /** `2026-02-08T14:30:00+08:00`; with its fraction where that is not zero. */
  toIso(instant: string): string
  /** `20260208-1430` */
  toStamp(instant: string): string
}

/** `timeZone` is an IANA name; the system's zone when absent. */
export function createLocalClock(timeZone?: string): LocalClock {
  const format = createFormat(timeZone)
  const local = (instant: string): { readonly text: string; readonly offset: number } => {
    const offset = offsetMinutes(format, toMillis(instant))
    return { text: new Date(toMillis(instant) + offset * 60_000).toISOString(), offset }
  }
  return {
    toIso(instant) {
      const { text, offset } = local(instant)
      const fraction = /\.\d*[1-9]/.exec(instant)?.[0] ?? ''
      return `${text.slice(0, 19)}${fraction}${toOffset(offset)}`
    },
    toStamp: (instant) =>
      local(instant).text.slice(0, 16).replaceAll('-', '').replace('T', '-').replace(':', ''),
  }
}

function createFormat(timeZone: string | undefined): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      ...(timeZone !== undefined && { timeZone }),
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch (cause) {
    throw new HansardError('invalid-argument', `not a time zone: ${JSON.stringify(timeZone)}`, {
      hint: 'use an IANA name such as Europe/Berlin',
      cause,
    })
  }
}

/** Whole minutes east of UTC: what ISO 8601 can say. Zones with seconds in their offset are from before 1972. */
function offsetMinutes(format: Intl.DateTimeFormat, millis: number): number {
  const parts = new Map(format.formatToParts(millis).map(({ type, value }) => [type, Number(value)]))
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
  const wall = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  )
  const minutes = Math.round((wall - millis) / 60_000)
  // Years below 100 are not what Date.UTC takes them for; no zone is further out than this.
  return Math.abs(minutes) <= 18 * 60 ? minutes : 0
}

function toOffset(minutes: number): string {
  const size = Math.abs(minutes)
  const two = (n: number): string => String(n).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}
