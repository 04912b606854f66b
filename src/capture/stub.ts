/** Stub mode: an engine that asks nobody anything still leaves a transcript, the three lines that the seed of swarm gives it. */
import { STUB_MODEL, stubEntries } from '../formats/swarm-stub.ts'
import type { Session } from '../transcript/session.ts'
import type { SourceRecorder } from './recorder.ts'

export function sayStub(primary: SourceRecorder, { run, startedAt }: Session, role = 'unknown'): void {
  const { step = 'unknown', agentKey = 'unknown' } = run ?? {}
  for (const { role: speaker, blocks } of stubEntries({ step, agentKey, role, at: startedAt ?? '' })) {
    if (speaker !== undefined) primary.message(speaker, blocks, { model: STUB_MODEL })
  }
}
