/** Into playing a session, from the entry that is looked at, and back to all of it. The address has the moment, and how fast it is played. */
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { route, setParams } from '../../router.ts'
import { announce } from '../../state/announce.ts'
import type { VirtualHandle } from '../../ui/virtual.tsx'
import type { Going } from './going.ts'
import { createPlayback, SPEEDS } from './playing.ts'
import type { Rows } from './rows.ts'
import type { Shown } from './shown.ts'
import type { SessionStore } from './store.ts'
import { createTypist } from './typist.ts'

export type UsePlaybackOptions = {
  readonly store: SessionStore
  readonly shown: Shown
  readonly going: Going
  readonly rows: Rows
  readonly list: RefObject<VirtualHandle | null>
}

/** Browsers refuse to have the address changed all the time. */
const ADDRESS_MS = 1000

export function usePlayback({ store, shown, going, rows, list }: UsePlaybackOptions) {
  const [playback] = useState(() => createPlayback(store, createTypist(store.id, store.pages)))
  useEffect(() => () => playback.end(), [])
  const isPlayed = playback.moment.value !== undefined
  const { value: speed } = playback.speed
  useLayoutEffect(() => void (shown.isPlayed.value = isPlayed), [isPlayed])
  useEffect(() => shown.follow(playback), [])
  const { params, position } = route.value
  const asked = params.get('play')
  const { length } = store.columns.value
  // Who opens a link to a moment sees it, and plays on.
  useEffect(() => {
    if (asked === null || isPlayed || !store.isOutlined.value || length === 0) return
    playback.speed.value = SPEEDS.find((one) => String(one) === asked) ?? 1
    playback.enter(position ?? 0)
    playback.stop()
  }, [asked, store.isOutlined.value, length > 0])
  useEffect(() => {
    if (isPlayed) setParams({ play: String(speed) })
  }, [isPlayed, speed])
  useEffect(() => {
    if (!isPlayed) return undefined
    const timer = setInterval(() => going.setAddress(playback.moment.peek()), ADDRESS_MS)
    return () => clearInterval(timer)
  }, [isPlayed])
  return {
    playback,
    isPlayed,
    onEnter: (): void => {
      const from = going.at() ?? rows.at(list.current?.top() ?? 0).position
      shown.selected.value = undefined
      playback.enter(from)
      announce('Playing')
    },
    onLeave: (): void => {
      const at = playback.moment.peek()
      playback.leave()
      setParams({ play: undefined })
      announce('Everything is shown')
      if (at !== undefined) requestAnimationFrame(() => going.goTo(at))
    },
  }
}
