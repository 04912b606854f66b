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
}

export type Survey = {
  /** In the order they were opened. */
  readonly sessions: readonly Surveyed[]
  /** Met before any session was opened. */
  readonly damage: readonly Damage[]
  /** Whether the source comes back to a session after it has opened another. */
  readonly isInterleaved: boolean
}

/** A file of nothing but damage must not fill memory with it. */
const KEPT_DAMAGE = 10_000

type Open = { session: Session; entries: number; messages: number; totals: TotalsFold }

export async function survey(items: AsyncIterable<readonly ReadItem[]>): Promise<Survey> {
  const sessions = new Map<string, Open>()
  const early: Damage[] = []
  let current: Open | undefined
  let isInterleaved = false
  for await (const batch of items) {
    for (const item of batch) {
      if (item.type === 'entry') {
        if (current === undefined) continue
        current.entries += 1
        if (item.entry.kind === 'message') current.messages += 1
        current.totals.add(item.entry, current.session.model)
      } else if (item.type === 'damage') {
        if (current === undefined && early.length < KEPT_DAMAGE) early.push(item.damage)
      } else {
        const { session } = item
        const known = sessions.get(session.id)
        if (known !== undefined && known !== current) isInterleaved = true
        current = known ?? { session, entries: 0, messages: 0, totals: createTotals() }
        current.session = session
        sessions.set(session.id, current)
      }
    }
  }
  return { sessions: [...sessions.values()].map(toSurveyed), damage: early, isInterleaved }
}

function toSurveyed({ session, entries, messages, totals }: Open): Surveyed {
  const counted = session.totals ?? totals.totals(session.stub)
  return { session: { ...session, totals: counted }, entries, messages }
}
