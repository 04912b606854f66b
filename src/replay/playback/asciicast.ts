/**
 * A session as a recording of a terminal, in version 3 of asciinema's format: a header, then `[seconds since the last, code, data]` line
 * by line. Times are as recorded; the header tells the player how long a wait may be. What is foreign in the text is shown, never sent.
 */
import type { Session } from '../../transcript/session.ts'
import { visibleLine } from '../escape.ts'
import type { Frame } from './timeline.ts'

export type CastOptions = {
  readonly cols?: number
  readonly rows?: number
  /** Milliseconds: longer waits are shortened to this by the player. */
  readonly idleMs?: number
}

export type Cast = {
  begin(session: Session): string
  /** `text`: what the entry is shown as, with newlines only. */
  frame(frame: Frame, text: string): string
  end(session: Session): string
}

/** What people look for in it. */
const STOPS: ReadonlySet<string> = new Set(['prompt', 'error', 'compaction'])

export function createAsciicast({ cols = 100, rows = 30, idleMs = 2000 }: CastOptions = {}): Cast {
  /** Microseconds that rounding has left over, so that a long session does not drift. */
  let owed = 0
  const event = (gapMs: number, code: 'o' | 'm' | 'x', data: string): string => {
    const exact = gapMs * 1000 + owed
    const micros = Math.max(0, Math.round(exact))
    owed = exact - micros
    return `${JSON.stringify([micros / 1e6, code, data])}\n`
  }
  return {
    begin({ id, title, startedAt }) {
      const seconds = startedAt === undefined ? Number.NaN : Math.floor(Date.parse(startedAt) / 1000)
      const header = {
        version: 3,
        term: { cols, rows },
        ...(Number.isFinite(seconds) && { timestamp: seconds }),
        idle_time_limit: idleMs / 1000,
        // Players send it to the terminal as it is.
        title: visibleLine(title ?? id),
      }
      return `${JSON.stringify(header)}\n`
    },
    frame({ gapMs, marks, entry }, text) {
      const mark = marks.find((one) => STOPS.has(one))
      const shown = text === '' ? '' : event(gapMs, 'o', text.replaceAll('\n', '\r\n'))
      // Nothing is shown at that moment: the wait is the next one's.
      if (shown === '') owed += gapMs * 1000
      const isStop = shown !== '' && mark !== undefined
      return isStop ? `${shown}${event(0, 'm', `${mark} #${entry.sequence}`)}` : shown
    },
    end: ({ status }) => event(0, 'x', status === 'failed' ? '1' : '0'),
  }
}
