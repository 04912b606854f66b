/**
 * The calls of passes that fill a state, packed or as rows, and which passes have calls that are met elsewhere, too: bills that hang on
 * both are settled before the others' calls are rows.
 */
import type { Database } from '../sqlite/driver.ts'
import { hashText } from '../transcript/text-hash.ts'
import type { CallTable } from './call-rows.ts'
import { createKeyHolders, type KeyHolders } from './key-holders.ts'
import { keysOf, sessionsIn, unpackCalls, type PackedCalls } from './packed-calls.ts'
import { insertTable, unlike } from './state-load-calls.ts'
import { putPacked, unpackAll } from './state-packed-calls.ts'
import { prepared } from './state-statements.ts'
import type { UnitFacts } from './session-facts.ts'

/** `shared`: passes with calls that are met elsewhere, too. */
export type Packing = { readonly holders: KeyHolders; readonly shared: Set<number> }

type Loading = {
  readonly database: Database
  /** The highest id of a call. */
  lastId: number
  /** Undefined where no call is packed. */
  packing: Packing | undefined
}

type Pass = {
  readonly facts: UnitFacts
  /** All of its calls, where they are packed. */
  readonly packed: PackedCalls | undefined
  readonly calls: readonly CallTable[]
}

/** Keys of calls that are held: of more, none stays packed. */
const MOST_KEYS = 1_000_000

export function createPacking(database: Database): Packing {
  const packing = { holders: createKeyHolders(), shared: new Set<number>() }
  const known = prepared(database, 'SELECT key, reading FROM calls WHERE key IS NOT NULL').lists()
  for (const [key, reading] of known) noteKey(packing, hashText(String(key)), Number(reading))
  return packing
}

export function noteKey({ holders, shared }: Packing, hash: number, reading: number): void {
  const before = holders.note(hash, reading)
  if (before === undefined) return
  shared.add(before)
  shared.add(reading)
}

/** Of a session's calls: how many there are, and the sum of their ids. */
type Billed = { readonly ids: number; readonly count: number }
export const NONE: Billed = { ids: 0, count: 0 }

/**
 * By session what is on its bill: nobody sees the pass before it is whole. `calls`: those in which what findings name has to be looked for;
 * undefined where whoever packed them has.
 */
type Put = { readonly billed: ReadonlyMap<string, Billed>; readonly calls: readonly CallTable[] | undefined }

export function putCalls(loading: Loading, reading: number, { facts, packed, calls }: Pass): Put {
  const billed = new Map<string, { ids: number; count: number }>()
  const add = (sessions: PackedCalls['sessions'], count: number): number => {
    const first = loading.lastId + 1
    loading.lastId += count
    for (const [session, own] of sessions) {
      const known = billed.get(session) ?? NONE
      const ids = known.ids + first * own.count + own.places
      billed.set(session, { ids, count: known.count + own.count })
    }
    return first
  }
  if (packed !== undefined && loading.packing !== undefined) {
    for (const hash of packed.hashes) noteKey(loading.packing, hash, reading)
    putPacked(loading.database, reading, add(packed.sessions, packed.count), packed)
    if (loading.packing.holders.count() > MOST_KEYS) stopPacking(loading)
    return { billed, calls: undefined }
  }
  const tables = packed === undefined ? unlike(calls) : [unpackCalls(packed)]
  for (const table of tables) {
    const sessions = sessionsIn(table)
    insertTable(loading.database, { reading, first: add(sessions, table.count) }, table)
    noteTable(loading, reading, { facts, table, sessions })
  }
  return { billed, calls: tables }
}

type Noted = Pick<Pass, 'facts'> & {
  readonly table: CallTable
  readonly sessions: PackedCalls['sessions']
}

function noteTable(loading: Loading, reading: number, { facts, table, sessions }: Noted): void {
  const { packing } = loading
  if (packing === undefined) return
  for (const key of keysOf(table)) noteKey(packing, hashText(key), reading)
  // What hangs on calls of sessions that the pass says nothing of is not told by recordings.
  const known = new Set(facts.sessions.map(({ key }) => key))
  if ([...sessions.keys()].some((key) => !known.has(key)) || packing.holders.count() > MOST_KEYS)
    stopPacking(loading)
}

/** From here on calls are put in as they come. */
function stopPacking(loading: Loading): void {
  loading.packing = undefined
  unpackAll(loading.database)
}
