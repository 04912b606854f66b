/** The calls of one unit, where it lies: skimmed where that tells all there is to tell of them, else read by its format. */
import type { Scanned, ScannedSession } from './cost-scanned.ts'
import { callsOf, createClaudeScanner, slotsOf, type ClaudeScanner } from './cost-claude.ts'
import { packCalls } from './cost-packed.ts'
import type { Call } from '../sources/session-facts.ts'

export type UnitToScan = {
  /** Where the archive is, for what was recorded in it; else a folder that is not there. */
  readonly home: string
  readonly agent: string
  readonly root: string
  readonly unit: string
  readonly paths: readonly string[]
  /** Each call by itself; else they may be added up. */
  readonly isDetailed: boolean
}

export type UnitScan = {
  readonly scanned: Scanned
  readonly sessions: readonly ScannedSession[]
  /** Files that this program wrote itself. */
  readonly own?: readonly string[]
  readonly isFailed?: boolean
}

let scanner: ClaudeScanner | undefined

/** Never throws. */
export async function scanUnit(job: UnitToScan): Promise<UnitScan> {
  if (job.agent === 'claude-code') {
    scanner ??= createClaudeScanner()
    const skimmed = scanner(job)
    if (skimmed !== undefined) {
      const { session, cwd } = skimmed
      return {
        scanned: job.isDetailed ? { calls: packCalls(callsOf(skimmed)) } : slotsOf(skimmed),
        sessions: [{ key: session, isStub: false, ...(cwd !== undefined && { cwd }) }],
      }
    }
  }
  // Only now: it brings every format with it.
  const { runUnitJob } = await import('../sources/read-unit.ts')
  const calls: Call[] = []
  const result = await runUnitJob({ ...job, isKept: false }, (some) => void calls.push(...some))
  if (result.type !== 'read')
    return {
      scanned: { slots: [], keys: new Float64Array() },
      sessions: [],
      isFailed: result.type === 'failed',
    }
  return {
    scanned: { calls: packCalls(calls) },
    sessions: result.facts.sessions.map(({ key, session }) => ({
      key,
      isStub: session.stub === true,
      ...(session.cwd !== undefined && { cwd: session.cwd }),
    })),
    ...(result.own && { own: result.own }),
  }
}
