import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { instant } from '../../test/arbitrary.ts'
import { parseInstant } from '../transcript/instant.ts'
import { createLocalClock } from './local-time.ts'

describe('local time', () => {
  it.each([
    ['UTC', '2026-02-08T06:30:00+00:00', '20260208-0630'],
    ['Asia/Shanghai', '2026-02-08T14:30:00+08:00', '20260208-1430'],
    ['Asia/Kathmandu', '2026-02-08T12:15:00+05:45', '20260208-1215'],
    ['America/St_Johns', '2026-02-08T03:00:00-03:30', '20260208-0300'],
    ['Pacific/Kiritimati', '2026-02-08T20:30:00+14:00', '20260208-2030'],
  ])('of %s is what the clock there says', (zone, iso, stamp) => {
    const clock = createLocalClock(zone)
    expect(clock.toIso('2026-02-08T06:30:00.000Z')).toBe(iso)
    expect(clock.toStamp('2026-02-08T06:30:00.000Z')).toBe(stamp)
  })

  it('follows daylight saving, through the hour that is there twice', () => {
    const clock = createLocalClock('Europe/Berlin')
    expect(clock.toIso('2026-10-25T00:30:00.000Z')).toBe('2026-10-25T02:30:00+02:00')
    expect(clock.toIso('2026-10-25T01:30:00.000Z')).toBe('2026-10-25T02:30:00+01:00')
  })

  it('is an instant again, to the microsecond, in any zone', () => {
    const zones = fc.constantFrom(undefined, 'UTC', 'Asia/Kolkata', 'America/New_York', 'Australia/Lord_Howe')
    fc.assert(
      fc.property(instant, zones, (at, zone) => {
        expect(parseInstant(createLocalClock(zone).toIso(at))).toBe(parseInstant(at))
      }),
    )
  })

  it('refuses a zone that does not exist', () => {
    expect(() => createLocalClock('Mars/Olympus')).toThrow(/not a time zone/)
  })
})
