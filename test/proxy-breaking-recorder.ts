/** A recorder's thread in which something goes wrong, every time. */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import type { CallLogOptions } from '../src/capture/calls/call-log.ts'
import { serveRecorder } from '../src/capture/proxy/serve-recorder.ts'
import { breaking, type BreakingData } from './proxy-failures.ts'

const { failure, failed, ...options } = workerData as CallLogOptions & BreakingData

const happens = (): never => {
  Atomics.add(failed, 0, 1)
  throw new Error(`${failure} happens`)
}

/** When it has taken something. */
const BEFALLS: Readonly<Record<string, () => void>> = {
  'thread.exits': () => process.exit(3),
  'thread.throws': happens,
  'thread.hangs': () => {
    for (;;) Atomics.wait(failed, 0, Atomics.load(failed, 0))
  },
}

function serve(port: MessagePort): void {
  const made = breaking({ failure, failed })
  serveRecorder(port, { ...options, ...('files' in made && made) }, 'parts' in made ? made.parts : undefined)
  const befalls = BEFALLS[failure]
  if (befalls !== undefined) port.on('message', befalls)
}

if (failure === 'thread.starts-not') happens()
if (parentPort !== null) serve(parentPort)
