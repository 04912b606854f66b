/**
 * Calls from being asked to being written, in the order in which they pass: the next waits for what is being written, for it may go on
 * with what that said. What fails is reported, and nothing waits for it.
 */
import { randomUUID } from 'node:crypto'
import { nextTurn } from '../../transcript/next-turn.ts'
import { createRequestPacker } from '../../wire/tape-requests.ts'
import type { Reporter } from '../report.ts'
import type { Asked } from './call.ts'
import { writeOutcome, type Outcome, type Place } from './call-outcome.ts'
import type { Inquiries } from './inquiries.ts'
import type { OpenSessions } from './open-sessions.ts'
import type { OpenTools } from './open-tools.ts'

/** A call that was asked. */
export type Pending = {
  readonly call: string
  /** Undefined until it is known. */
  readonly place: () => Place | undefined
  /** Records how it ended: when that is known, or with what is known when nobody can wait. */
  readonly settle: (outcome: () => Promise<Outcome>, now: () => Outcome, at?: number) => void
}

export type PendingCalls = {
  readonly ask: (asked: Asked, began: number) => Pending
  /** Something else that is being written; `what` it is, should it fail. */
  readonly track: (work: Promise<void>, what: string) => void
  /** When what was told so far is written. */
  readonly written: () => Promise<void>
  /** How much is not. */
  readonly behind: () => number
  /** Writes what is over with what is known of it: nothing can be waited for any more. */
  readonly leave: () => void
}

type Around = {
  readonly sessions: OpenSessions
  readonly inquiries: Inquiries
  readonly tools: OpenTools
  readonly report: Reporter
}

export function createPendingCalls({ sessions, inquiries, tools, report }: Around): PendingCalls {
  const packer = createRequestPacker()
  const open = new Set<Promise<void>>()
  /** Calls that are over and not written: what to do where nothing can be waited for any more. */
  const leaving = new Set<() => void>()

  const track = (work: Promise<void>, what: string): void => {
    const over = work.catch((error: unknown) => report.failed({ what, error }))
    open.add(over)
    void over.finally(() => open.delete(over))
  }
  const written = async (): Promise<void> => void (await Promise.all(open))
  /** One after the other, each in a turn of its own: of answers that end together each is in memory some times over. */
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = last.then(nextTurn).then(work)
    last = done.catch(() => {})
    return done
  }

  /** Records what is asked, and gives what records how it ended. */
  const ask = (asked: Asked, began: number): Pending => {
    const call = randomUUID()
    let place: Place | undefined
    const put = async (): Promise<Place> => {
      const session = sessions.of(asked)
      session.calls += 1
      try {
        const { conversation, recorder } = await session.begun
        place = { session, voice: conversation.ask(asked.request, { call, ...asked.about }), whole: recorder }
        const lane = { session: recorder.id, lane: place.voice.recorder.source }
        if (asked.wire && !recorder.asideRedacted(packer.pack(lane, call, asked.wire))) packer.forget(lane)
        if (inquiries.waiting() > 0) track(inquiries.settle(), 'an inquiry')
        return place
      } catch (error) {
        session.calls -= 1
        throw error
      }
    }
    const asking = open.size === 0 ? put() : written().then(put)
    track(
      asking.then(() => {}),
      'a call',
    )

    const settle: Pending['settle'] = (outcome, now, at = performance.now()) => {
      const passedMs = Math.round(at - began)
      const last = (): void => {
        if (place === undefined || !leaving.delete(last)) return
        writeOutcome(now(), place, { call, passedMs, learn: tools.learn })
      }
      leaving.add(last)
      const end = async (): Promise<void> => {
        // That it could not be asked has been said.
        const asked = await asking.catch(() => undefined)
        // Put together when it can be written, and not before: of calls that wait for a slow disk there may be many.
        const told = await outcome()
        if (!leaving.delete(last)) return
        if (asked === undefined) told.tape?.end(call)
        else writeOutcome(told, asked, { call, passedMs, learn: tools.learn })
      }
      track(
        asking.catch(() => {}).then(() => inTurn(end)),
        'an answer',
      )
    }
    return { call, place: () => place, settle }
  }
  return {
    ask,
    track,
    written,
    behind: () => open.size,
    leave() {
      for (const last of leaving) report.guard('an answer', last)()
    },
  }
}
