/** What all wrappers record into: one call log, and for those that nobody ends, an end when the program has nothing left to do. */
import type { Session } from '../../transcript/session.ts'
import { createCallLog, type CallLog, type CallLogOptions } from '../calls/call-log.ts'
import type { Failed } from '../calls/open-sessions.ts'
import { createReporter, type Reporter } from '../report.ts'
import { isObserved, observeFetch, type AnyFetch, type PutOff } from './observe-fetch.ts'

/** As `record` takes them: who the session is, where it goes, in which formats. */
export type WrapOptions = CallLogOptions & {
  /** How deep subagents are recorded: one level unless said otherwise. Deeper ones are counted and named. */
  readonly subagents?: boolean | number | 'all'
}

export type WrapLog = CallLog & {
  readonly report: Reporter
  /** The same fetch, recorded; one that is recorded already, itself. */
  readonly fetch: <F extends AnyFetch>(inner: F) => F
}

export function createWrapLog(options: WrapOptions = {}): WrapLog {
  return toWrapLog(options, false)
}

/** The same for a line that gives no handle: its sessions end when the program has nothing left to do, or dies. */
export function untilExit(options: WrapOptions = {}): WrapLog {
  return toWrapLog(options, true)
}

function toWrapLog(options: WrapOptions, isEndless: boolean): WrapLog {
  const { subagents = 1, ...rest } = options
  const report = createReporter(options.onFailure)
  if (isOff(options)) return { ...OFF, report }
  const log = createCallLog({ ...rest, capture: { subagents, ...options.capture } })
  const putOff: PutOff = new Set()
  const end = async (failed?: Failed): Promise<readonly Session[]> => {
    // What wrappers have put off until nobody waits.
    await new Promise((done) => void setImmediate(done))
    const sessions = await log.end(failed)
    forget(used)
    return sessions
  }
  const used: Used = {
    leave() {
      for (const last of putOff) last()
      log.leave()
    },
    ...(isEndless && { end: () => void end() }),
  }
  const noting = <A extends readonly unknown[], R>(work: (...args: A) => R) => {
    return (...args: A): R => {
      remember(used)
      return work(...args)
    }
  }
  const noted: CallLog = { ...log, begin: noting(log.begin), ask: noting(log.ask) }
  return {
    ...noted,
    report,
    fetch: (inner) => (isObserved(inner) ? inner : observeFetch(inner, noted, report, putOff)),
    end,
  }
}

/** True when the caller switched recording off. Wrappers then leave what they are given as it is. */
export function isOff({ capture }: WrapOptions): boolean {
  return capture?.transcript === false
}

const NOTHING = { response() {}, chunk() {}, ended() {}, broken() {}, answered() {} }

const OFF: Omit<WrapLog, 'report'> = {
  begin: () => NOTHING,
  inquire: () => NOTHING,
  ask: () => NOTHING,
  toolResult() {},
  note() {},
  behind: () => 0,
  async settled() {},
  leave() {},
  end: async () => [],
  fetch: (inner) => inner,
}

type Used = {
  /** The process goes down: what has come is written, now. */
  readonly leave: () => void
  /** The program has nothing left to do. */
  readonly end?: () => void
}

/** Logs that hold something: one pair of listeners for all, however many clients a program records. */
const inUse = new Set<Used>()

function remember(log: Used): void {
  if (inUse.size === 0) {
    process.on('beforeExit', endAll)
    // Before sessions say that they were interrupted.
    process.prependListener('exit', leaveAll)
  }
  inUse.add(log)
}

function forget(log: Used): void {
  inUse.delete(log)
  if (inUse.size > 0) return
  process.off('beforeExit', endAll)
  process.off('exit', leaveAll)
}

function endAll(): void {
  for (const log of inUse) log.end?.()
}

function leaveAll(): void {
  for (const log of inUse) log.leave()
}
