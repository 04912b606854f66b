/** A first look at what a source holds: every session's last word on itself, without holding an entry. */
import type { ReadItem } from '../formats/format.ts'
import type { Damage } from '../transcript/damage.ts'
import type { Session } from '../transcript/session.ts'
import { createCallFold, type CallFold } from '../transcript/totals.ts'

/** One session as a first pass over the source leaves it: its last facts, its counts, no entries. */
export type Surveyed = {
  readonly session: Session
  readonly entries: number
  readonly damage: readonly Damage[]
}

/** What a source holds, without holding it: damage is kept up to this many a session, and counted beyond. */
const KEPT_DAMAGE = 10_000

/**
 * Every session's last word on itself, in the order they were opened. Where the source states no totals, they are counted here;
 * `fold` lets a caller that knows prices count cost as well.
 */
export async function survey(
  items: AsyncIterable<readonly ReadItem[]>,
  fold: () => Pick<CallFold, 'add' | 'totals'> = createCallFold,
): Promise<{ readonly sessions: readonly Surveyed[]; readonly damage: readonly Damage[] }> {
  type Open = { session: Session; damage: Damage[]; entries: number; fold: Pick<CallFold, 'add' | 'totals'> }
  const sessions = new Map<string, Open>()
  const early: Damage[] = []
  let current: Open | undefined
  for await (const batch of items) {
    for (const item of batch) {
      if (item.type === 'entry') {
        if (current === undefined) continue
        current.entries += 1
        current.fold.add(item.entry)
      } else if (item.type === 'damage') {
        const damage = current?.damage ?? early
        if (damage.length < KEPT_DAMAGE) damage.push(item.damage)
      } else {
        const { session } = item
        current = sessions.get(session.id) ?? { session, damage: [], entries: 0, fold: fold() }
        current.session = session
        sessions.set(session.id, current)
      }
    }
  }
  return {
    sessions: [...sessions.values()].map(({ session, damage, entries, fold }) => ({
      session: session.totals === undefined ? { ...session, totals: fold.totals() } : session,
      damage,
      entries,
    })),
    damage: early,
  }
}
