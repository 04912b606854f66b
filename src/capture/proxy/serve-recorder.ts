/** What the recorder's thread does: it takes what passed, gives the memory back, says what went wrong, and ends when it is told to. */
import type { MessagePort } from 'node:worker_threads'
import type { Session } from '../../transcript/session.ts'
import { nextTurn } from '../../transcript/next-turn.ts'
import { createCallLog, type CallLogOptions } from '../calls/call-log.ts'
import { PARTS, type Parts } from '../calls/call-parts.ts'
import { createReporter, type Failure } from '../report.ts'
import { flushOpen } from '../termination.ts'
import type { Parcel } from './parcel.ts'
import { createTakeOver } from './take-over.ts'

/** `sync`: what is written should survive a power cut. `leave`: the process goes down, and waits for this to be set. */
export type ToRecorder = Parcel | 'sync' | 'end' | { readonly leave: Int32Array }
/** `ready`: it listens. `alive`: it is at its end, which may take a while. */
export type FromRecorder =
  | { readonly took: ArrayBuffer }
  | { readonly failure: Pick<Failure, 'message' | 'hint'> }
  | { readonly sessions: readonly Session[] }
  | 'ready'
  | 'alive'

const ALIVE_MS = 1000
/** For requests that are being unpacked, and sessions that are being begun, when the process goes down. */
const LEAVING_MS = 4000

export function serveRecorder(port: MessagePort, options: CallLogOptions, given: Parts = PARTS): void {
  const say = (message: FromRecorder, given: readonly ArrayBuffer[] = []): void =>
    port.postMessage(message, given)
  const onFailure = ({ message, hint }: Failure): void =>
    say({ failure: { message, ...(hint !== undefined && { hint }) } })
  const { guard } = createReporter(onFailure)
  const beginning = new Set<Promise<unknown>>()
  const parts: Parts = { ...given, record: inTurn(given.record, beginning) }
  const taken = createTakeOver(createCallLog({ ...options, onFailure }, parts))

  const waiting: Parcel[] = []
  let isTaking = false
  let taking = Promise.resolve()
  const take = (parcel: Parcel): void => {
    guard('what passed', () => taken.take(parcel))()
    say({ took: parcel.buffer }, [parcel.buffer])
  }
  /**
   * One after the other, and none while much is not written: it takes the least memory as it came, where it came from. Each in a turn of
   * its own: parcels come as fast as they are taken, and sessions that begin, timers and the disk would wait for a thousand of them.
   */
  const takeAll = async (): Promise<void> => {
    isTaking = true
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      take(next)
      if (taken.isBehind()) await taken.caughtUp()
      else if (waiting.length > 0) await nextTurn()
    }
    isTaking = false
  }

  const end = async (): Promise<void> => {
    const alive = setInterval(() => say('alive'), ALIVE_MS)
    await taking
    const sessions = await taken.end().catch((error: unknown) => {
      guard('the end', () => {
        throw error
      })()
      return []
    })
    clearInterval(alive)
    say({ sessions })
    port.close()
  }
  const leave = async (done: Int32Array): Promise<void> => {
    const until = performance.now() + LEAVING_MS
    for (const parcel of waiting.splice(0)) take(parcel)
    do {
      await Promise.race([Promise.all([taken.settled(), ...beginning]), pause(until - performance.now())])
      await nextTurn()
    } while (beginning.size > 0 && performance.now() < until)
    // Behind all others: sessions end with the thread.
    process.on('exit', () => {
      Atomics.store(done, 0, 1)
      Atomics.notify(done, 0)
    })
    guard('an answer', () => taken.leave())()
    process.exit()
  }

  port.on('message', (message: ToRecorder) => {
    if (message === 'sync') return flushOpen()
    if (message === 'end') return void end()
    if ('leave' in message) return void leave(message.leave)
    waiting.push(message)
    if (!isTaking) taking = takeAll()
    return undefined
  })
  say('ready')
}

/**
 * Sessions are begun one in a turn: the disk takes its time for each, and what passes meanwhile is read in between, which takes an eighth
 * of the memory that it takes unread.
 */
function inTurn(record: Parts['record'], beginning: Set<Promise<unknown>>): Parts['record'] {
  let last: Promise<unknown> = Promise.resolve()
  return (options) => {
    const begun = last.then(nextTurn).then(() => record(options))
    const over = begun.then(
      () => {},
      () => {},
    )
    last = over
    beginning.add(over)
    void over.then(() => beginning.delete(over))
    return begun
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, ms))
}
