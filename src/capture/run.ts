/** A run: sessions that belong together, a flow and its steps. Each step is a session of its own, with the run's id in common. */
import { randomInt } from 'node:crypto'
import { checkId } from '../transcript/ids.ts'
import { record, type Recorder, type RecordOptions } from './record.ts'

export type RunOptions = Omit<RecordOptions, 'step' | 'node' | 'agentKey'> & { readonly flow: string }

export type StepOptions = Omit<RecordOptions, 'runId' | 'home'> & { readonly step: string }

export type RunRecorder = {
  readonly id: string
  /** Starts recording a step. What is not said here is as the run has it. */
  step(options: StepOptions): Promise<Recorder>
}

export function startRun(options: RunOptions): RunRecorder {
  const id = checkId(options.runId ?? createRunId(options.now?.() ?? Date.now()), 'run id')
  return { id, step: (step) => record({ ...options, ...step, runId: id }) }
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** `run-YYYYMMDD-HHMMSS-xxxxxx`, in UTC: Flow Studio's own rule. */
export function createRunId(now: number): string {
  const [date, time] = new Date(now).toISOString().slice(0, 19).split('T') as [string, string]
  const suffix = Array.from({ length: 6 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  return `run-${date.replaceAll('-', '')}-${time.replaceAll(':', '')}-${suffix}`
}
