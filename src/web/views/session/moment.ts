/** `?when=` names an entry by its time, as bills do: its position takes the place of it once the session's times are known. */
import { useEffect } from 'preact/hooks'
import { route, setParams } from '../../router.ts'
import { announce } from '../../state/announce.ts'
import { entryAt } from './columns.ts'
import type { SessionStore } from './store.ts'

export function useMoment({ columns, length }: SessionStore): void {
  const when = route.value.params.get('when')
  const isKnown = columns.value.length > 0 && columns.value.length >= length.value
  useEffect(() => {
    if (when === null || !isKnown) return
    const position = entryAt(columns.peek(), Date.parse(when))
    setParams({ when: undefined }, position === undefined ? {} : { position })
    if (position === undefined) announce('There is no entry of that time')
  }, [when, isKnown])
}
