/**
 * Units read on as many threads as the machine has, where there are enough of them to be worth a thread's start; else here. The
 * results are the same.
 */
import os from 'node:os'
import { nextTurn } from '../transcript/next-turn.ts'
import { runUnitJob, type UnitJob } from './read-unit.ts'
import { createUnitPass, takeWhole, type ReadUnit, type Taker } from './unit-pass.ts'
import { workerScript } from './worker-script.ts'

export type Readers = {
  /** Waits for a free reader, then reads. */
  read(job: UnitJob, taker: Taker): Promise<ReadUnit>
  /** How many read at a time. */
  readonly threads: number
  /** How many are given to read at a time, for none to wait for its next. */
  readonly width: number
  close(): Promise<void>
}

/** A thread's start and its own copy of the program take as long as reading some MB. */
const WORTH_BYTES = 16 * 1024 * 1024
/** Each has a heap of its own, and all of them together stay under 300 MB on any machine. */
const MOST_THREADS = 2

export async function createReaders(bytes: number): Promise<Readers> {
  return bytes < WORTH_BYTES ? createHere() : (await loadReaders())()
}

/** Readers for much, to be started without waiting for anything. */
export async function loadReaders(): Promise<() => Readers> {
  const script = workerScript('unit-worker', import.meta.url)
  const threads = Math.min(os.availableParallelism(), MOST_THREADS)
  if (threads < 2 || script === undefined) return createHere
  const { createThreads } = await import('./reader-threads.ts')
  return () => {
    try {
      return createThreads(script, threads)
    } catch {
      // The system has no thread to spare.
      return createHere()
    }
  }
}

const createHere = (): Readers => ({ read: readHere(), threads: 1, width: 1, close: async () => {} })

/** Units read in a row, in this thread, and batches of one that has many files. */
const READ_A_TURN = 50

function readHere(): Readers['read'] {
  let read = 0
  const turn = async (): Promise<void> => {
    read += 1
    if (read % READ_A_TURN === 0) await nextTurn()
  }
  return async (job, taker) => {
    await turn()
    const { onCalls, onSessions, end } = createUnitPass(job, taker)
    return takeWhole(end(await runUnitJob(job, onCalls, { onSessions, isTaken: turn })), taker)
  }
}
