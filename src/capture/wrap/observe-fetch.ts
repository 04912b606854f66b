/**
 * A `fetch` whose calls to providers are recorded. It asks at once and gives back what came as it came. The end of a body is handed
 * on when the answer is in the journal, so a program that is killed right after its call returned has it on disk. A recorder that
 * fails changes nothing for the caller.
 */
import { messageOf } from '../../errors.ts'
import type { CallStart, OpenCall } from '../calls/call.ts'
import type { CallLog } from '../calls/call-log.ts'
import { nextTurn } from '../../transcript/next-turn.ts'
import type { Reporter } from '../report.ts'
import { observeResponse } from './observe-response.ts'
import { readRequest, type WatchedRequest } from './read-request.ts'

/** Whatever is called like `fetch`: the platform's, a package's, an SDK's own. */
export type AnyFetch = (...args: never[]) => Promise<unknown>

/** Bytes of an answer that wait to be read. More are read on the way, so that memory is bounded. */
const MOST_WAITING = 1024 * 1024

/** Ends of answers whose calls are still being opened: told at once when the process goes down. */
export type PutOff = Set<() => void>

export function observeFetch<F extends AnyFetch>(
  inner: F,
  log: Pick<CallLog, 'begin' | 'settled'>,
  report: Reporter,
  putOff: PutOff,
): F {
  const ask = inner as unknown as (...args: readonly unknown[]) => Promise<unknown>
  const observed = (...args: readonly unknown[]): Promise<unknown> => {
    let request: WatchedRequest | undefined
    report.guard('a call', () => {
      request = readRequest(args)
    })()
    if (request === undefined) return ask(...args)
    const { signal, start } = request
    const answer = ask(...request.args)
    // Looking at it may take as long as sending it: that goes first.
    const call = openLater(log, start, report, putOff)
    const broken = (error: unknown): void =>
      void call.broken(signal?.aborted === true ? 'client' : 'upstream', messageOf(error))
    return answer.then(
      (response) => {
        let seen = response
        report.guard('an answer', () => {
          seen = observeResponse(
            response,
            {
              response: (head) => call.response(head),
              chunk: (bytes) => call.chunk(bytes),
              ended: () => call.ended(),
              failed: broken,
              canceled: (reason) =>
                void call.broken(
                  'client',
                  reason === undefined ? 'the client stopped reading' : messageOf(reason),
                ),
            },
            (why) => void call.broken('client', why),
          )
        })()
        return seen
      },
      (error: unknown) => {
        broken(error)
        throw error
      },
    )
  }
  return Object.assign(observed, { [INNER]: inner }) as unknown as F
}

const INNER = Symbol.for('hansard.recorded')

/** True for what `observeFetch` gave: recorded twice, a call would be in two sessions. */
export function isObserved(fetch: unknown): boolean {
  return typeof fetch === 'function' && INNER in fetch
}

type WatchedCall = Pick<OpenCall, 'response' | 'chunk'> & {
  ended(): Promise<void>
  broken(...how: Parameters<OpenCall['broken']>): Promise<void>
}

/**
 * A call that is begun, and told what happens to it, when the caller is not waiting: the head and the first bytes at once, for they
 * tell when it answered; the rest at the end. `ended` and `broken` resolve when that is written, and never reject.
 */
function openLater(
  log: Pick<CallLog, 'begin' | 'settled'>,
  start: WatchedRequest['start'],
  report: Reporter,
  putOff: PutOff,
): WatchedCall {
  let call: OpenCall | undefined
  let waiting: ((call: OpenCall) => void)[] | undefined = []
  let chunks: { readonly bytes: Buffer; readonly at: number }[] = []
  const began = performance.now()
  let bytes = 0
  let hasBegun = false
  const tell = (what: (call: OpenCall) => void): void => {
    if (call === undefined) waiting?.push(what)
    else what(call)
  }
  const flush = (): void => {
    const whole = chunks
    chunks = []
    bytes = 0
    tell((one) => {
      for (const chunk of whole) one.chunk(chunk.bytes, chunk.at)
    })
  }
  const finish = async (what: (call: OpenCall) => void): Promise<void> => {
    const last = (): void => {
      if (!putOff.delete(last)) return
      flush()
      tell(what)
    }
    putOff.add(last)
    await begun
    last()
    await log.settled()
  }
  const begin = (read: CallStart): void => {
    call = log.begin({ ...read, began })
    for (const what of waiting ?? []) what(call)
    waiting = undefined
  }
  const failed = (error: unknown): void => {
    waiting = undefined
    report.failed({ what: 'a call', error })
  }
  // A body that is still being sent is not waited for: its answer may be over before it is.
  const begun = nextTurn()
    .then(() => {
      const read = start()
      if ('then' in read) read.then(begin).catch(failed)
      else begin(read)
    })
    .catch(failed)
  return {
    response: (head) => tell((one) => one.response(head)),
    chunk(chunk) {
      const at = performance.now()
      if (!hasBegun) {
        hasBegun = true
        return tell((one) => one.chunk(chunk, at))
      }
      chunks.push({ bytes: chunk, at })
      bytes += chunk.length
      if (bytes > MOST_WAITING) flush()
    },
    ended: () => finish((one) => one.ended()),
    broken: (by, reason) => finish((one) => one.broken(by, reason)),
  }
}
