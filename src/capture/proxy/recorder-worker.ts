/** The thread that records: a file of its own, for threads are started by a file's name. */
import os from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { CallLogOptions } from '../calls/call-log.ts'
import { serveRecorder } from './serve-recorder.ts'

/** Bytes that pass, and whoever waits for them, go first where there are too few processors. */
const BEHIND_OTHERS = 5

// A thread has a priority of its own on Linux; elsewhere it would be the whole process's.
if (process.platform === 'linux') {
  try {
    os.setPriority(0, os.getPriority(0) + BEHIND_OTHERS)
  } catch {
    // Then it is like any other.
  }
}
if (parentPort !== null) serveRecorder(parentPort, workerData as CallLogOptions)
