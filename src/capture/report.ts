/**
 * A recorder's failures, each kind said once: an agent's screen is not a log. Reports name what could not be recorded and why, and
 * never hold what was recorded.
 */
import { counted } from '../transcript/counted.ts'
import { isHansardError, messageOf } from '../errors.ts'
import type { Failure as JournalFailure } from '../journal/writer.ts'

export type Failure = { readonly message: string; readonly hint?: string; readonly cause?: unknown }

export type Reporter = {
  readonly failed: (failure: { readonly what: string; readonly error: unknown }) => void
  /** The journal's own reports: the first failure, and when it works again. */
  readonly journal: (failure: JournalFailure) => void
  /** The journal's last word: whether everything is on disk, and how many entries are not. */
  readonly ended: (ending: { readonly path: string; readonly isSafe: boolean; readonly lost: number }) => void
  /** Somebody called us in a way that cannot be: said once per message. */
  readonly misuse: (message: string) => void
  /** The same function, which reports instead of throwing. `what` is what could then not be recorded. */
  readonly guard: <A extends readonly unknown[]>(
    what: string,
    work: (...args: A) => void,
  ) => (...args: A) => void
}

export function createReporter(onFailure: (failure: Failure) => void = toStderr): Reporter {
  const said = new Set<string>()
  const say = (key: string, failure: Failure): void => {
    if (said.has(key)) return
    said.add(key)
    try {
      onFailure(failure)
    } catch {
      // The reporter itself must not be what breaks the agent.
    }
  }
  const failed: Reporter['failed'] = ({ what, error }) => {
    const hint = isHansardError(error) ? error.hint : undefined
    say(`failed ${what}`, {
      message: `${what} could not be written: ${messageOf(error)}`,
      ...(hint && { hint }),
      cause: error,
    })
  }
  return {
    failed,
    journal({ kind, path, message, lost }) {
      if (kind === 'resumed')
        say('journal resumed', {
          message: `recording to ${path} goes on; lost: ${counted(lost, 'entry', 'entries')}`,
        })
      else
        say('journal failing', {
          message: `recording to ${path} fails: ${message}`,
          hint: 'entries wait in memory',
        })
    },
    ended({ path, isSafe, lost }) {
      if (lost > 0)
        say('ended', {
          message: `${counted(lost, 'entry', 'entries')} could not be recorded to ${path}`,
          hint: 'the journal marks where',
        })
      else if (!isSafe)
        say('ended', { message: `the end of ${path} may not be on disk`, hint: 'run hansard recover' })
    },
    misuse: (message) => say(message, { message }),
    guard:
      (what, work) =>
      (...args) => {
        try {
          work(...args)
        } catch (error) {
          failed({ what, error })
        }
      },
  }
}

export function toStderr({ message, hint }: Failure): void {
  process.stderr.write(`hansard: ${message}${hint === undefined ? '' : ` (${hint})`}\n`)
}
