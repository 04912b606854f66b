/** What stands between an entry and the one before it: what is damaged or missing, a compaction, a long time in which nothing happened. */
import type { EntryRow } from '../../../server/api.ts'
import { oneLine, visible } from '../../text/visible.ts'
import { toDuration } from '../../../replay/clock.ts'
import { shortDuration } from '../../ui/numbers.ts'
import { IDLE_MS } from './playing.ts'
import { isCompaction } from './records.ts'

/** Milliseconds between entries from which on it is said how long nothing happened. */
const PAUSE = 30 * 60_000

export type BetweenProps = {
  readonly row: EntryRow
  readonly before: EntryRow | undefined
  /** It is played back, and waits longer than this are shortened. */
  readonly isPlayed: boolean
}

export function Between({ row, before, isPlayed }: BetweenProps) {
  const gap = Date.parse(row.entry.at ?? '') - Date.parse(before?.entry.at ?? '')
  return (
    <>
      <DamageNotes damage={row.damage ?? []} />
      {isCompaction(row.entry) && !(before !== undefined && isCompaction(before.entry)) && (
        <p class="between" role="note">
          The context was compacted here: the agent goes on with a summary
        </p>
      )}
      {gap > (isPlayed ? IDLE_MS : PAUSE) && (
        <p class="between is-quiet" role="note">
          {isPlayed ? toDuration(gap) : shortDuration(gap)} later
        </p>
      )}
    </>
  )
}

type Damages = NonNullable<EntryRow['damage']>

export function DamageNotes({ damage }: { readonly damage: Damages }) {
  return (
    <>
      {damage.map(({ kind, reason, file, byteOffset }, at) => (
        <p key={at} class="between is-damage" role="note">
          {kind === 'missing' ? 'Entries are missing here' : 'Damage'}: {visible(oneLine(reason, 300))}{' '}
          <span class="quiet">
            {visible(oneLine(file, 200))} at byte {byteOffset}
          </span>
        </p>
      ))}
    </>
  )
}
