/** The list kept up with what the server tells: rows change where they stand; new ones join at the top, or wait to be shown. */
import { useEffect } from 'preact/hooks'
import { on } from '../../live.ts'
import { announce } from '../../state/announce.ts'
import { oneLine } from '../../text/visible.ts'
import type { SessionList } from './list.ts'
import { titleOf } from './row.tsx'

/** New sessions come in groups, after a sync: the list is asked for once. */
const PAUSE_MS = 250

/** `isAtTop`: whether rows that join would move nothing that is looked at. */
export function useLiveRows(list: SessionList, isAtTop: () => boolean): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const later = (): void => {
      clearTimeout(timer)
      timer = setTimeout(() => void list.again(), PAUSE_MS)
    }
    const ends = [
      on('session', ({ row, isNew }) => {
        const isShown = list.change(row)
        if (!isNew || isShown) return
        list.markFresh(row.id)
        announce(`New session: ${oneLine(titleOf(row), 80)}`)
        if (isAtTop()) later()
        else list.waiting.value += 1
      }),
      on('gone', ({ id }) => list.remove(id)),
      on('reset', later),
    ]
    return () => {
      clearTimeout(timer)
      for (const end of ends) end()
    }
  }, [list])
}
