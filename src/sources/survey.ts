/** A first look at what a source holds: every session's last word on itself, with its totals, without holding an entry. */
import { createTotals, type TotalsFold } from '../archive/priced-totals.ts'
import type { ReadItem } from '../formats/format.ts'
import type { Damage } from '../transcript/damage.ts'
import type { Session } from '../transcript/session.ts'

export type Surveyed = {
  /** With totals: those the source has, else counted here. */
  readonly session: Session
  readonly entries: number
  /** How many of them are messages, not events. */
  readonly messages: number
  readonly damage: readonly Damage[]
}

export type Survey = {
  /** In the order they were opened. */
  readonly sessions: readonly Surveyed[]
  /** Met before any session was opened. */
  readonly damage: readonly Damage[]
}

/** A file of nothing but damage must not fill memory with it. */
const KEPT_DAMAGE = 10_000

type Open = { session: Session; damage: Damage[]; entries: number; messages: number; totals: TotalsFold }

export async function survey(items: AsyncIterable<readonly ReadItem[]>): Promise<Survey> {
  const sessions = new Map<string, Open>()
  const early: Damage[] = []
  let current: Open | undefined
  for await (const batch of items) {
    for (const item of batch) {
      if (item.type === 'entry') {
        if (current === undefined) continue
        current.entries += 1
        if (item.entry.kind === 'message') current.messages += 1
        current.totals.add(item.entry, current.session.model)
      } else if (item.type === 'damage') {
        const damage = current?.damage ?? early
        if (damage.length < KEPT_DAMAGE) damage.push(item.damage)
      } else {
        const { session } = item
        current = sessions.get(session.id) ?? { session, ...EMPTY, damage: [], totals: createTotals() }
        current.session = session
        sessions.set(session.id, current)
      }
    }
  }
  return { sessions: [...sessions.values()].map(toSurveyed), damage: early }
}

const EMPTY = { entries: 0, messages: 0 }

function toSurveyed({ session, damage, entries, messages, totals }: Open): Surveyed {
  const counted = session.totals ?? totals.totals(session.stub)
  return { session: { ...session, totals: counted }, damage, entries, messages }
}
