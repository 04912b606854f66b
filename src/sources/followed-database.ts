/**
 * One database that is followed: its kept rows stay loaded, and the sessions that rows came to are read anew. Of every other session no
 * more is held than what it adds to what is said of the whole.
 */
import { posix } from 'node:path'
import type { HeldRows } from '../archive/held-rows.ts'
import type { DatabaseFollowing, SessionTaking } from '../formats/format.ts'
import { nextTurn } from '../transcript/next-turn.ts'
import type { SourceDatabase } from '../transcript/source.ts'
import type { Added, Counted, Followed, FollowedUnit } from './followed-units.ts'
import { loadFormat } from './load-format.ts'
import { keptIn } from './open-unit.ts'
import type { Call, CountedDrift, Mention, SessionFacts } from './session-facts.ts'
import { createUnitReading } from './unit-facts.ts'
import { placeName } from './unit-place.ts'
import { safeNames, withNames, withoutSecretsIn } from './unit-secrets.ts'

/** Of its kept rows, which are there once more while it is held. */
const MOST_BYTES = 512 * 1024 * 1024
/** Names of drift that are counted: of more, some are not. */
const MOST_DRIFT = 1000

/** What one session adds to what is said of all. */
type Said = {
  readonly key: string
  readonly entries: number
  readonly damage: number
  readonly drift: readonly CountedDrift[]
  readonly mentions: readonly Mention[]
}

/** Undefined for a unit that is no such database, or is to be read whole. */
export async function followDatabase(unit: FollowedUnit): Promise<Followed | undefined> {
  const [file, ...others] = unit.files
  const format = await loadFormat(unit.format)
  if (file?.bytes === undefined || others.length > 0 || format.followDatabase === undefined) return undefined
  const place = keptIn(unit.home).place(unit.agent, unit.root)
  const isOther = place.namedFormat(file.path) !== undefined || place.versions(file.path).length > 0
  if (isOther || file.bytes > MOST_BYTES) return undefined
  const rows = await place.holdRows(file.path)
  if (rows === undefined) return undefined
  return createFollowed(rows, format.followDatabase({ path: posix.basename(file.path) }), unit)
}

function createFollowed(
  rows: HeldRows,
  following: DatabaseFollowing,
  { home, ...unit }: FollowedUnit,
): Followed {
  const known = new Map<string, Said>()
  const names = safeNames(home)
  const name = placeName({ home, ...unit, paths: [] })
  let isFirst = true
  let isEverSure = true

  return {
    async more({ files: [file] }, signal) {
      const isIn = await rows.more(
        (table) => following.told(table),
        (table, row) => following.note(table, row),
      )
      if (!isIn || rows.bytes() !== file?.bytes) return undefined
      const sessions: SessionFacts[] = []
      const calls: Call[] = []
      let isSure = true
      const begin = (id: string): SessionTaking => {
        // All are on bills that the last pass made.
        const take = (some: readonly Call[]): void => {
          if (!isFirst) for (const call of withNames(some, names)) calls.push(call)
        }
        const reading = createUnitReading(take, name)
        return {
          drift: reading.drift,
          add: (items) => reading.add(items),
          end() {
            const { damage, drift, ...told } = reading.end()
            reading.close()
            const { sessions: own, mentions } = withoutSecretsIn(told, home)
            const [one] = own
            if (own.length !== 1 || one === undefined) return void (isSure = false)
            known.set(id, { key: one.key, entries: one.entries, damage, drift, mentions })
            if (!isFirst) sessions.push(one)
          },
        }
      }
      const ids = await following.read(inTurns(rows.database, signal), begin).catch((error: unknown) => {
        if (signal?.aborted === true) return undefined
        throw error
      })
      if (signal?.aborted === true) return undefined
      const said = ids?.flatMap((id) => known.get(id) ?? []) ?? []
      const all = isSure && rows.isSound() && said.length === ids?.length ? addUp(said) : undefined
      if (all === undefined) {
        isEverSure = false
        return undefined
      }
      isFirst = false
      const { counted, ...whole } = all
      return { added: { facts: { sessions, ...whole }, calls, bill: undefined, isAnew: true }, counted }
    },
    isOnDisk: true,
    isSure: () => isEverSure,
    close: () => rows.close(),
  }
}

/** Batches read in a row: what has changed, or ends it, must not wait until all of it is read. */
const BATCHES_A_TURN = 20

/** The same, read beside what else is to be done. Ends with an error when it is to stop. */
function inTurns(database: SourceDatabase, signal: AbortSignal | undefined): SourceDatabase {
  let batches = 0
  return {
    ...database,
    async *rows(table, options) {
      for await (const batch of database.rows(table, options)) {
        yield batch
        batches += 1
        if (batches % BATCHES_A_TURN !== 0) continue
        await nextTurn()
        signal?.throwIfAborted()
      }
    },
  }
}

type AddedUp = Omit<Added['facts'], 'sessions'> & { readonly counted: Counted }

/** What all sessions say together, in their order. Undefined where a reading of the whole would tell two of them apart, or not all. */
function addUp(said: readonly Said[]): AddedUp | undefined {
  if (new Set(said.map(({ key }) => key)).size < said.length) return undefined
  const drift = new Map<string, CountedDrift>()
  const mentions = new Map<string, Mention>()
  let damage = 0
  for (const one of said) {
    damage += one.damage
    for (const met of one.drift) {
      const key = JSON.stringify([met.kind, met.name, met.version])
      drift.set(key, { ...met, count: met.count + (drift.get(key)?.count ?? 0) })
    }
    for (const mention of one.mentions)
      mentions.set(mention.session, { ...mentions.get(mention.session), ...mention })
  }
  if (drift.size >= MOST_DRIFT) return undefined
  return {
    mentions: [...mentions.values()],
    drift: [...drift.values()],
    damage,
    counted: { sessions: said, damage },
  }
}
