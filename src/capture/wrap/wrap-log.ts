/** What all wrappers record into: one call log, and for those that nobody ends, an end when the program has nothing left to do. */
import { createCallLog, type CallLog, type CallLogOptions } from '../calls/call-log.ts'
import { createReporter, type Reporter } from '../report.ts'
import { isObserved, observeFetch, type AnyFetch } from './observe-fetch.ts'

/** As `record` takes them: who the session is, where it goes, in which formats. */
export type WrapOptions = Omit<CallLogOptions, 'capture'> & {
  /** How deep subagents are recorded: one level unless said otherwise. Deeper ones are counted and named. */
  readonly subagents?: boolean | number | 'all'
}

export type WrapLog = CallLog & {
  readonly report: Reporter
  /** The same fetch, recorded; one that is recorded already, itself. */
  readonly fetch: <F extends AnyFetch>(inner: F) => F
}

export function createWrapLog(options: WrapOptions = {}): WrapLog {
  const { subagents = 1, ...rest } = options
  const log = createCallLog({ ...rest, capture: { subagents } })
  const report = createReporter(options.onFailure)
  return {
    ...log,
    report,
    fetch: (inner) => (isObserved(inner) ? inner : observeFetch(inner, log, report)),
    async end() {
      // What wrappers have put off until nobody waits.
      await new Promise((done) => void setImmediate(done))
      return log.end()
    },
  }
}

/** The same for a line that gives no handle: its sessions end when the program has nothing left to do, or dies. */
export function untilExit(options: WrapOptions = {}): WrapLog {
  const log = createWrapLog(options)
  let isUsed = false
  const end = (): void => {
    if (!isUsed) return
    isUsed = false
    void log.end()
  }
  const used = <A extends readonly unknown[], R>(work: (...args: A) => R) => {
    return (...args: A): R => {
      isUsed = true
      return work(...args)
    }
  }
  if (endings.size === 0) process.on('beforeExit', endAll)
  endings.add(end)
  const watched: CallLog = { ...log, begin: used(log.begin), ask: used(log.ask) }
  return {
    ...log,
    ...watched,
    fetch: (inner) => (isObserved(inner) ? inner : observeFetch(inner, watched, log.report)),
  }
}

/** One listener for all, however many clients a program records. */
const endings = new Set<() => void>()

function endAll(): void {
  for (const end of endings) end()
}
