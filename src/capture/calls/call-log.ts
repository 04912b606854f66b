/**
 * Provider calls as they happen, whoever sees them pass: put in the session that they belong to, and in the archive before the next
 * thing happens. Recording never breaks a call: what fails is said once, and the call goes on without us.
 */
import { randomUUID } from 'node:crypto'
import { defaultHome } from '../../archive/archive.ts'
import { isHansardError } from '../../errors.ts'
import type { Block } from '../../transcript/block.ts'
import type { Json } from '../../transcript/json.ts'
import type { Session } from '../../transcript/session.ts'
import type { record, Recorder, RecordOptions } from '../record.ts'
import { createReporter, toStderr, type Failure } from '../report.ts'
import { createShelves } from './shelves.ts'
import { createSpill } from '../spill.ts'
import type { AnswerHead } from './answer.ts'
import type { Asked, AskedCall, CallStart, OpenCall, ToolOutcome } from './call.ts'
import { LEFT, type Outcome } from './call-outcome.ts'
import { PARTS, type Parts } from './call-parts.ts'
import { createInquiries, type InquiryStart, type OpenInquiry } from './inquiries.ts'
import { createOpenSessions, type Failed } from './open-sessions.ts'
import { createOpenTools } from './open-tools.ts'
import { createPassingCall } from './passing-call.ts'
import { createPendingCalls, type Pending } from './pending-calls.ts'
import { createUnfinishedAnswers } from './unfinished.ts'

export type CallLog = {
  readonly begin: (start: CallStart) => OpenCall
  /** A question about models or tokens: on the tape, for replay, and nowhere else. */
  readonly inquire: (start: InquiryStart) => OpenCall
  /** A call that somebody else has read for us: what was asked, and later what was answered. */
  readonly ask: (asked: Asked) => AskedCall
  /** What a tool gave, before the next request repeats it. */
  readonly toolResult: (result: ToolOutcome) => void
  /** Something that is no call, in the session that a group belongs to; nothing where there is none yet. */
  readonly note: (groups: readonly string[], record: string, raw: Json) => void
  /** Of what was told, how much is not written yet. */
  readonly behind: () => number
  /** When what was told so far is written. */
  readonly settled: () => Promise<void>
  /** While the process goes down: what has come of answers is recorded before this returns. */
  leave(): void
  /** Ends all sessions, when all calls are in them: those that are not over as broken off, by us. */
  end(failed?: Failed): Promise<readonly Session[]>
}

export type CallLogOptions = Omit<RecordOptions, 'native' | 'model' | 'version'>

const UNCOUNTED =
  'chat completions did not say what they used: a stream does when its client asks for stream_options.include_usage'

/** Of groups and of tools that are called: those that nobody asks for again are forgotten in time. */
const MOST_HELD = 10_000

export function createCallLog(given: CallLogOptions = {}, parts: Parts = PARTS): CallLog {
  const options = { ...given, onFailure: once(given.onFailure ?? toStderr) }
  const report = createReporter(options.onFailure)
  const { guard } = report
  const tools = createOpenTools(MOST_HELD)
  const spill = createSpill(options.home ?? defaultHome())
  const tapes = parts.createTapeDeck({ spill })
  const shelves = createShelves(spill)
  const unfinished = createUnfinishedAnswers()
  /** Answers that came to their end and did not say what they took, for nobody had asked for it. */
  let uncounted = 0
  /** Calls that are not over: what to do where nobody waits for them any more. */
  const under = new Set<() => void>()

  const sessions = createOpenSessions({
    async begin({ native, agent, version }, isNamed) {
      const recorder = await recordApart(parts.record, {
        ...options,
        ...(agent !== undefined && options.agent === undefined && { agent }),
        ...(version !== undefined && { version }),
        ...(native && { native }),
        capture: { subagents: 'all', ...options.capture },
      })
      return { recorder, conversation: parts.createConversation(recorder, isNamed) }
    },
    failed: (error) => report.failed({ what: 'a session', error }),
  })

  const inquiries = createInquiries(tapes, (client) => sessions.near(client))
  const pending = createPendingCalls({ sessions, inquiries, tools, report })
  const { ask, track, written } = pending

  /** Gives what is said once: that it is over, by whoever says so first. */
  const onceOver = <A extends readonly unknown[]>(end: (...args: A) => void, left: NoInfer<A>) => {
    const leaveIt = (): void => over(...left)
    const over = (...args: A): void => {
      if (under.delete(leaveIt)) end(...args)
    }
    under.add(leaveIt)
    return over
  }
  const leaveAll = (): void => {
    for (const leaveIt of under) guard('an answer', leaveIt)()
  }

  const around = {
    parts,
    guard,
    ask,
    tapes,
    shelves,
    unfinished,
    onceOver,
    uncounted() {
      uncounted += 1
    },
  }

  return {
    begin: (start) => createPassingCall(start, around),
    inquire(start) {
      let open: OpenInquiry | undefined
      guard('an inquiry', () => {
        open = inquiries.begin(start, parts.clientOf(start.headers, start.body))
      })()
      return {
        response: guard('an inquiry', (head: AnswerHead) => open?.response(head)),
        chunk: guard('an inquiry', (bytes: Buffer, at?: number) => open?.chunk(bytes, at)),
        ended: guard('an inquiry', (_?: number, unread?: string) => {
          if (open !== undefined && unread === undefined) track(open.end(), 'an inquiry')
          else open?.drop()
        }),
        broken: guard('an inquiry', () => open?.drop()),
      }
    },
    ask(asked) {
      let own: Pending | undefined
      guard('a call', () => {
        own = ask(asked, performance.now())
      })()
      const end = (outcome: Outcome): void =>
        own?.settle(
          async () => outcome,
          () => outcome,
        )
      const over = onceOver(end, [{ broken: LEFT, metadata: { brokenBy: LEFT.by } }])
      return {
        answered: guard('an answer', (message, details = {}) => over({ message, ...details })),
        broken: guard('an answer', (by, reason, details = {}) =>
          over({ broken: { by, reason }, ...details }),
        ),
      }
    },
    toolResult: guard('a tool result', (result: ToolOutcome) => {
      const put = async (): Promise<void> => {
        await written()
        const found = tools.take(result)
        if (found === undefined) return
        const { voice, callId, name } = found
        const { output, error, isError, durationMs, metadata } = result
        const block: Block = { type: 'tool-result', callId, name }
        // The next request may have been faster.
        if (voice.known.take([{ role: 'tool', blocks: [block] }]).length === 0) return
        voice.recorder.toolResult({
          callId,
          name,
          ...(output !== undefined && { output }),
          ...(error !== undefined && { error }),
          ...(isError !== undefined && { isError }),
          ...(durationMs !== undefined && { durationMs }),
          ...(metadata && { metadata }),
        })
      }
      track(put(), 'a tool result')
    }),
    note: guard('an event', (names: readonly string[], what: string, raw: Json) => {
      const put = async (): Promise<void> => {
        await written()
        const session = sessions.inGroup(names)
        if (session !== undefined) (await session.begun).recorder.event(what, raw)
      }
      track(put(), 'an event')
    }),
    behind: pending.behind,
    settled: written,
    leave() {
      leaveAll()
      pending.leave()
    },
    async end(failed) {
      leaveAll()
      while (pending.behind() > 0) await written()
      if (uncounted > 0) report.misuse(`${uncounted} ${UNCOUNTED}`)
      uncounted = 0
      await inquiries.settle(true).catch((error: unknown) => report.failed({ what: 'an inquiry', error }))
      return sessions.end(failed)
    },
  }
}

/** A run may have any number of conversations: in formats that name one after the run, the others are told apart. */
async function recordApart(begin: typeof record, options: RecordOptions): Promise<Recorder> {
  try {
    return await begin(options)
  } catch (error) {
    if (!isHansardError(error) || error.code !== 'run-already-exists') throw error
    const apart = randomUUID().slice(0, 8)
    return begin({ ...options, suffix: options.step === undefined ? apart : `${options.step}-${apart}` })
  }
}

/** What fails in one session fails in the next: it is said of the first. */
function once(tell: (failure: Failure) => void): (failure: Failure) => void {
  const told = new Set<string>()
  return (failure) => {
    const kind = failure.message.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|journal-[\w-]+/g, '…')
    if (told.has(kind)) return
    told.add(kind)
    tell(failure)
  }
}
