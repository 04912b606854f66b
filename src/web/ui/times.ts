/** Instants as people say them, in the browser's own time zone. */

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Each takes milliseconds to make, and few are needed for what is shown first. */
function later(options: Intl.DateTimeFormatOptions): () => Intl.DateTimeFormat {
  let made: Intl.DateTimeFormat | undefined
  return () => (made ??= new Intl.DateTimeFormat('en', options))
}
const exact = later({ dateStyle: 'full', timeStyle: 'long' })
const day = later({ day: 'numeric', month: 'short' })
const dayOfYear = later({ day: 'numeric', month: 'short', year: 'numeric' })
const weekday = later({ weekday: 'long', month: 'long', day: 'numeric' })
const weekdayOfYear = later({
  weekday: 'long',
  month: 'long',
  day: 'numeric',
  year: 'numeric',
})
const clock = later({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const precise = later({
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

export const exactTime = (ms: number): string => exact().format(ms)
export const clockTime = (ms: number): string => clock().format(ms)
export const preciseTime = (ms: number): string => precise().format(ms)

export function relativeTime(ms: number, now: number): string {
  const ago = now - ms
  if (ago < -MINUTE) return dayOfYear().format(ms)
  if (ago < MINUTE) return 'just now'
  if (ago < HOUR) return `${Math.floor(ago / MINUTE)} min ago`
  if (ago < DAY) return `${Math.floor(ago / HOUR)} h ago`
  if (ago < 7 * DAY) return `${Math.floor(ago / DAY)} d ago`
  return new Date(ms).getFullYear() === new Date(now).getFullYear()
    ? day().format(ms)
    : dayOfYear().format(ms)
}

/** `Today`, `Yesterday`, `Thursday, November 12`, with the year where it is another. */
export function dayName(ms: number, now: number): string {
  const midnight = new Date(now).setHours(0, 0, 0, 0)
  if (ms >= midnight && ms < midnight + DAY) return 'Today'
  if (ms < midnight && ms >= midnight - DAY) return 'Yesterday'
  const isThisYear = new Date(ms).getFullYear() === new Date(now).getFullYear()
  return (isThisYear ? weekday : weekdayOfYear)().format(ms)
}
