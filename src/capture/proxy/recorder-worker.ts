/** The thread that records: a file of its own, for threads are started by a file's name. */
import { parentPort, workerData } from 'node:worker_threads'
import type { CallLogOptions } from '../calls/call-log.ts'
import { serveRecorder } from './serve-recorder.ts'

if (parentPort !== null) serveRecorder(parentPort, workerData as CallLogOptions)
