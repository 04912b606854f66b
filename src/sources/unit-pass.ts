/**
 * A unit's calls on their way from who reads it to the state: as rows, added up, and packed where they may be. The last batch comes with
 * the result, for most units have no other.
 */
import type { CallTable } from './call-rows.ts'
import { packCalls, type PackedCalls } from './packed-calls.ts'
import type { SessionsPart, UnitJob, UnitResult } from './read-unit.ts'
import { createCallPacker, type OwnBills } from './state-own-bill.ts'
import type { Call } from './session-facts.ts'

/** `bills`: what the calls of the sessions come to that are in the result. */
export type ReadUnit = { readonly result: UnitResult; readonly bills: OwnBills }

/** What takes a unit as it is read. `sessions`: the facts of some, after their calls; the rest comes with the result. */
export type Taker = {
  calls(calls: CallTable): void
  /** All calls of the unit, where the job allows it. */
  packed?(calls: PackedCalls): void
  sessions(part: SessionsPart): void
}

/** A result with the calls that nobody has taken yet. */
export type WholeUnit = { readonly read: ReadUnit; readonly last?: CallTable; readonly packed?: PackedCalls }

export type UnitPass = {
  readonly onCalls: (calls: readonly Call[]) => void
  readonly onSessions: (part: SessionsPart) => void
  readonly end: (result: UnitResult) => WholeUnit
}

/**
 * `taker`: gets all but the last batch. What it cannot take, on a full disk, `end` throws: whoever reads a unit makes of it one that
 * cannot be read.
 */
export function createUnitPass({ mayPack }: UnitJob, taker: Omit<Taker, 'packed'>): UnitPass {
  const packer = createCallPacker()
  let failure: { readonly error: unknown } | undefined
  const take = (work: () => void): void => {
    try {
      if (failure === undefined) work()
    } catch (error) {
      failure = { error }
    }
    if (failure !== undefined) throw failure.error
  }
  let last: CallTable | undefined
  let isFirst = true
  const give = (calls: CallTable | undefined): void => {
    if (last !== undefined) {
      const before = last
      isFirst = false
      take(() => taker.calls(before))
    }
    last = calls
  }
  return {
    onCalls: (calls) => give(packer.pack(calls)),
    onSessions(part) {
      give(undefined)
      isFirst = false
      packer.forget(part.sessions)
      take(() => taker.sessions(part))
    },
    end(result) {
      if (failure !== undefined) throw failure.error
      const read = { result, bills: packer.bills() }
      if (last === undefined) return { read }
      const isWhole = mayPack === true && isFirst && result.type === 'read'
      const packed = isWhole ? packCalls(last, result.facts.sessions) : undefined
      return packed === undefined ? { read, last } : { read, packed }
    },
  }
}

export function takeWhole({ read, last, packed }: WholeUnit, taker: Taker): ReadUnit {
  if (packed !== undefined) taker.packed?.(packed)
  if (last !== undefined) taker.calls(last)
  return read
}
