/** Instants as people say them, in the browser's own time zone. */

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const exact = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'long' })
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
const dayOfYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' })
const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const precise = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

export const exactTime = (ms: number): string => exact.format(ms)
export const clockTime = (ms: number): string => clock.format(ms)
export const preciseTime = (ms: number): string => precise.format(ms)

export function relativeTime(ms: number, now: number): string {
  const ago = now - ms
  if (ago < -MINUTE) return dayOfYear.format(ms)
  if (ago < MINUTE) return 'just now'
  if (ago < HOUR) return `${Math.floor(ago / MINUTE)} min ago`
  if (ago < DAY) return `${Math.floor(ago / HOUR)} h ago`
  if (ago < 7 * DAY) return `${Math.floor(ago / DAY)} d ago`
  return new Date(ms).getFullYear() === new Date(now).getFullYear() ? day.format(ms) : dayOfYear.format(ms)
}
