import { afterEach, describe, expect, it } from 'vitest'
import type { Period } from './cost-by.ts'
import { createCalendar } from './cost-calendar.ts'

const zone = process.env['TZ']
afterEach(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
})

/** The day that a formatter with all the world's clocks gives. */
function createOracle(timeZone: string): (instant: string) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' })
  return (instant) => format.format(Date.parse(instant))
}

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Pacific/Apia',
  'Asia/Tokyo',
]

describe('a calendar', () => {
  it.each(ZONES)(
    'tells the day in %s, at every half hour of a year, by the beginning of an instant',
    (timeZone) => {
      process.env['TZ'] = timeZone
      const calendar = createCalendar(false)
      const oracle = createOracle(timeZone)
      for (let millis = Date.UTC(2026, 0, 1); millis < Date.UTC(2027, 0, 1); millis += 30 * 60_000) {
        for (const instant of [new Date(millis - 1).toISOString(), new Date(millis).toISOString()]) {
          const day = calendar.key('day', instant.slice(0, calendar.characters))
          if (day !== oracle(instant)) expect([instant, day]).toEqual([instant, oracle(instant)])
        }
      }
    },
  )

  it('needs no more of an instant than it must', () => {
    const characters = (timeZone: string, utc = false): number => {
      process.env['TZ'] = timeZone
      return createCalendar(utc).characters
    }
    expect([characters('UTC'), characters('Asia/Kolkata', true)]).toEqual([10, 10])
    expect(characters('America/New_York')).toBe(13)
    expect([characters('Asia/Kolkata'), characters('Australia/Lord_Howe')]).toEqual([16, 16])
  })

  it('gives a week the date of its Monday, also across years, and a month its number', () => {
    const calendar = createCalendar(true)
    const key = (period: Period, beginning: string) => calendar.key(period, beginning)
    expect(key('week', '2026-11-15')).toBe('2026-11-09')
    expect(key('week', '2026-11-16')).toBe('2026-11-16')
    expect(key('week', '2027-01-01')).toBe('2026-12-28')
    expect(key('month', '2026-11-30')).toBe('2026-11')
    expect(key('day', '2026-99-99')).toBeUndefined()
  })

  it('begins days of 23 and 25 hours at midnight', () => {
    process.env['TZ'] = 'Europe/Berlin'
    const calendar = createCalendar(false)
    const startOf = (period: Period, millis: number) => calendar.startOf(period, millis)
    const hours = (day: string): number => {
      const noon = Date.parse(`${day}T12:00:00Z`)
      return (startOf('day', noon + 86_400_000) - startOf('day', noon)) / 3_600_000
    }
    expect([hours('2026-03-29'), hours('2026-10-25'), hours('2026-10-26')]).toEqual([23, 25, 24])
    expect(new Date(startOf('week', Date.parse('2026-10-25T23:30:00Z'))).toISOString()).toBe(
      '2026-10-25T23:00:00.000Z',
    )
    expect(new Date(startOf('month', Date.parse('2026-10-31T22:59:00Z'))).toISOString()).toBe(
      '2026-09-30T22:00:00.000Z',
    )
  })
})
