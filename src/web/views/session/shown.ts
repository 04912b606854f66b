/** What of the transcript is open, and which entry is the current one. Kept apart from rows, which come and go with scrolling. */
import { batch, computed, effect, signal, type ReadonlySignal } from '@preact/signals'
import { route, setParams } from '../../router.ts'
import { isAllRecords, type Columns } from './columns.ts'
import type { Playback } from './playing.ts'

export type Shown = ReturnType<typeof createShown>

export function createShown(columns: ReadonlySignal<Columns>) {
  const selected = signal<number | undefined>(undefined)
  /** Parts of entries that are open, or, with `isAllOpen`, those that are closed. */
  const turned = signal<ReadonlySet<string>>(new Set())
  const isAllOpen = signal(false)
  /** It is being played back: waits that are shortened are said. */
  const isPlayed = signal(false)
  /** Which entry is being typed, and how much of it stands there: two signals, so that all others are not drawn again. */
  const typedAt = signal<number | undefined>(undefined)
  const typed = signal(0)
  const lanes = signal<ReadonlySet<string>>(new Set())
  /** Whether what is no part of the conversation is shown: see records.ts. */
  const hasRecords = computed(() => {
    const { params } = route.value
    // Who asks for events alone asks for them. Where there is nothing else, nothing at all would be shown.
    return params.has('records') || params.getAll('role').includes('event') || isAllRecords(columns.value)
  })
  const key = (position: number, part: string): string => `${position} ${part}`
  return {
    selected,
    isAllOpen,
    isPlayed,
    lanes,
    /** Of a text of an entry, what stands there: all, but while it is typed. `from`: units of the entry's texts before it. */
    typedText(position: number, text: string, from: number): string {
      if (typedAt.value !== position) return text
      return text.slice(0, Math.max(0, typed.value - from))
    },
    /** Ends what it began. */
    follow: ({ moment, typed: length }: Pick<Playback, 'moment' | 'typed'>) =>
      effect(() => {
        const count = length.value
        batch(() => {
          typedAt.value = count === undefined ? undefined : moment.value
          typed.value = count ?? 0
        })
      }),
    hasRecords,
    isOpen: (position: number, part: string): boolean =>
      turned.value.has(key(position, part)) !== isAllOpen.value,
    turn(position: number, part: string): void {
      turned.value = toggled(turned.value, key(position, part))
    },
    setOpen(position: number, part: string, isOpen: boolean): void {
      const name = key(position, part)
      if ((turned.value.has(name) !== isAllOpen.value) !== isOpen) turned.value = toggled(turned.value, name)
    },
    turnAll(): void {
      turned.value = new Set()
      isAllOpen.value = !isAllOpen.value
    },
    turnLane: (source: string): void => void (lanes.value = toggled(lanes.value, source)),
  }
}

/** Records are left out until somebody asks for them. */
export function turnRecords(): void {
  setParams({ records: route.value.params.has('records') ? undefined : '1' })
}

function toggled(set: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(set)
  if (!next.delete(name)) next.add(name)
  return next
}
