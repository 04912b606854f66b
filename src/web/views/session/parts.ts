/** What every part of an entry is given to draw itself. */
import type { EntryRow } from '../../../server/api.ts'
import type { Shown } from './shown.ts'
import type { SessionStore } from './store.ts'

export type PartProps = {
  readonly row: EntryRow
  /** Which block of the entry. */
  readonly at: number
  readonly store: SessionStore
  readonly shown: Shown
}
