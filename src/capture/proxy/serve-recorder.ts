/** What the recorder's thread does: it takes what passed, gives the memory back, says what went wrong, and ends when it is told to. */
import type { MessagePort } from 'node:worker_threads'
import type { Session } from '../../transcript/session.ts'
import { createCallLog, type CallLogOptions, type Parts } from '../calls/call-log.ts'
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
/** For requests that are being unpacked when the process goes down. */
const LEAVING_MS = 500

export function serveRecorder(port: MessagePort, options: CallLogOptions, parts?: Parts): void {
  const say = (message: FromRecorder, given: readonly ArrayBuffer[] = []): void =>
    port.postMessage(message, given)
  const onFailure = ({ message, hint }: Failure): void =>
    say({ failure: { message, ...(hint !== undefined && { hint }) } })
  const { guard } = createReporter(onFailure)
  const taken = createTakeOver(createCallLog({ ...options, onFailure }, parts))

  const end = async (): Promise<void> => {
    const alive = setInterval(() => say('alive'), ALIVE_MS)
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
    await Promise.race([taken.settled(), new Promise((over) => setTimeout(over, LEAVING_MS))])
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
    guard('what passed', () => taken.take(message))()
    return say({ took: message.buffer }, [message.buffer])
  })
  say('ready')
}
