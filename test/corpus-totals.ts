/**
 * What a synced archive says that sessions used and cost, against a count in memory: every unit read once more, every call of every
 * recording held, and billed by the rules alone, without a table between them.
 */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openArchive } from '../src/archive/archive.ts'
import { costOf, NOT_BILLED } from '../src/cost/cost.ts'
import { importInputs } from '../src/sources/import.ts'
import { loadFormat } from '../src/sources/load-format.ts'
import { readPlaced } from '../src/sources/read-unit.ts'
import { openStateFiles } from '../src/sources/state-files.ts'
import { peekState } from '../src/sources/state.ts'
import { keyOf } from '../src/sources/session-facts.ts'
import { placeName } from '../src/sources/unit-place.ts'
import type { Database } from '../src/sqlite/driver.ts'
import { bestRecording, createBilling, type Bill } from '../src/transcript/billing.ts'
import type { Entry } from '../src/transcript/entry.ts'
import type { Session } from '../src/transcript/session.ts'
import { callKey, createCallFold } from '../src/transcript/totals.ts'
import { COUNTS, hasCounts } from '../src/transcript/usage.ts'

export type TotalsCheck = {
  readonly sessions: number
  readonly calls: number
  readonly tokens: number
  readonly usd: number
  /** Sessions whose bill is another one by either count. */
  readonly differing: readonly string[]
}

export async function checkTotals(root: string): Promise<TotalsCheck> {
  const home = fs.mkdtempSync(join(tmpdir(), 'hansard-totals-'))
  try {
    const archive = openArchive(home, { write: true })
    await importInputs(archive, [{ path: root }])
    const state = await peekState(archive)
    if (state === undefined) throw new Error('nothing was imported')
    try {
      return compare(billsOf(await recordingsOf(state.database, home)), state.database)
    } finally {
      state.close()
    }
  } finally {
    fs.rmSync(home, { recursive: true, force: true })
  }
}

/** One session as one unit has it. */
type Recording = {
  readonly key: string
  readonly by: string
  session: Session
  readonly entries: Entry[]
  count: number
}

async function recordingsOf(database: Database, home: string): Promise<readonly Recording[]> {
  const files = openStateFiles(database)
  const units = database.prepare('SELECT * FROM units WHERE reading IS NOT NULL ORDER BY id').all()
  const all: Recording[] = []
  for (const unit of units) {
    const { agent, root } = files.placeAt(Number(unit['place']))
    const paths = files.filesOf(Number(unit['id'])).map(({ path }) => path)
    const place = { home, agent, root, unit: String(unit['path']), paths, isKept: true }
    const own = new Map<string, Recording>()
    let current: Recording | undefined
    for await (const items of readPlaced(place, await loadFormat(String(unit['format']))))
      for (const item of items) {
        if (item.type === 'session') {
          const { session } = item
          const by = session.recordings?.[0]?.by ?? String(unit['format'])
          const shared = keyOf(session, placeName(place))
          const isTaken = [...own].some(([id, one]) => id !== session.id && one.key === shared)
          current = own.get(session.id) ?? {
            key: isTaken ? session.id : shared,
            by,
            session,
            entries: [],
            count: 0,
          }
          current.session = session
          own.set(session.id, current)
        } else if (item.type === 'entry' && current !== undefined) {
          current.count += 1
          const { model = current.session.model, ...entry } = item.entry
          if (entry.usage !== undefined || entry.call !== undefined)
            current.entries.push({ ...entry, ...(model !== undefined && { model }), blocks: [] })
        }
      }
    all.push(...own.values())
  }
  return all
}

type Billed = Bill & { readonly stub: boolean }

function billsOf(all: readonly Recording[]): readonly Billed[] {
  const sessions = new Map<string, Recording[]>()
  for (const one of all) sessions.set(one.key, [...(sessions.get(one.key) ?? []), one])
  const billing = createBilling()
  const stubs = new Set<string>()
  for (const [key, recordings] of sessions) {
    const chosen = chosenOf(recordings)
    const [fullest] = chosen.toSorted((a, b) => b.count - a.count)
    const facts = recordings.map(({ session }) => session)
    if (fullest?.session.stub === true) stubs.add(key)
    const [startedAt] = facts.flatMap((one) => one.startedAt ?? []).toSorted(inOrder)
    const [endedAt] = facts.flatMap((one) => one.endedAt ?? []).toSorted((a, b) => inOrder(b, a))
    const [parent] = facts
      .flatMap((one) => one.parent ?? [])
      .toSorted((a, b) => inOrder(a.session, b.session))
    billing.session({
      id: key,
      ...(startedAt !== undefined && { startedAt }),
      ...(endedAt !== undefined && { endedAt }),
      ...(parent !== undefined && { parent }),
    })
    for (const one of chosen)
      for (const entry of one.entries)
        if (one === fullest || callKey(entry) !== undefined) billing.add(key, entry)
  }
  return billing.bills().map((bill) => ({ ...bill, stub: stubs.has(bill.session) }))
}

/** Of several formats the one that speaks for the session; all of its recordings. */
function chosenOf(recordings: readonly Recording[]): readonly Recording[] {
  const formats = [...new Set(recordings.map(({ by }) => by))].map((by) => {
    const own = recordings.filter((one) => one.by === by)
    const fold = createCallFold()
    for (const { entries } of own) for (const entry of entries) fold.add(entry)
    const { calls, usage } = fold.totals()
    return { by, calls, entries: Math.max(...own.map(({ count }) => count)), ...(usage && { usage }) }
  })
  const best = bestRecording(formats)
  return recordings.filter(({ by }) => by === best?.by)
}

function compare(bills: readonly Billed[], database: Database): TotalsCheck {
  const sums = new Map<string, { calls: number; tokens: number; pico: bigint }>()
  for (const bill of bills) {
    const { session, usage, stub } = bill
    const sum = sums.get(session) ?? { calls: 0, tokens: 0, pico: 0n }
    sums.set(session, sum)
    if (!hasCounts(usage)) continue
    sum.calls += 1
    for (const count of COUNTS) if (count !== 'reasoning') sum.tokens += usage[count] ?? 0
    const cost = stub ? undefined : costOf(bill)
    if (cost !== undefined && 'pico' in cost && cost.row !== NOT_BILLED) sum.pico += cost.pico
  }
  const listed = database
    .prepare('SELECT key, calls, ifnull(tokens, 0) AS tokens, ifnull(pico, 0) AS pico FROM listing')
    .all()
  const differing = listed.flatMap((row) => {
    const { calls, tokens, pico } = sums.get(String(row['key'])) ?? { calls: 0, tokens: 0, pico: 0n }
    const isSame =
      calls === Number(row['calls']) &&
      tokens === Number(row['tokens']) &&
      pico === BigInt(row['pico'] as number)
    return isSame
      ? []
      : [
          `${String(row['key'])}: ${calls} calls, ${tokens} tokens, ${pico}; listed ${String(row['calls'])}, ${String(row['tokens'])}, ${String(row['pico'])}`,
        ]
  })
  const all = [...sums.values()]
  return {
    sessions: listed.length,
    calls: all.reduce((sum, { calls }) => sum + calls, 0),
    tokens: all.reduce((sum, { tokens }) => sum + tokens, 0),
    usd: Number(all.reduce((sum, { pico }) => sum + pico, 0n)) / 1e12,
    differing,
  }
}

const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
