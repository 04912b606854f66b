/** Playing a session by keys, as in the terminal. While it plays, the keys that go to an entry go to its moment. */
import { useKeys } from '../../keys.ts'
import { announce } from '../../state/announce.ts'
import { SPEEDS, type Playback, type Stop } from './playing.ts'
import type { Shown } from './shown.ts'

export type PlaybackKeysOptions = {
  readonly playback: Playback
  readonly shown: Shown
  readonly onEnter: () => void
  readonly onLeave: () => void
}

const STEPS: readonly (readonly [key: string, stop: Stop, direction: 1 | -1])[] = [
  ['j', 'entry', 1],
  ['k', 'entry', -1],
  ['n', 'prompt', 1],
  ['p', 'prompt', -1],
  ['e', 'error', 1],
  ['E', 'error', -1],
  ['d', 'edit', 1],
  ['D', 'edit', -1],
  ['t', 'tool', 1],
  ['T', 'tool', -1],
]

export function usePlaybackKeys({ playback, shown, onEnter, onLeave }: PlaybackKeysOptions): void {
  const isOn = playback.moment.value !== undefined
  const faster = (step: 1 | -1) => (): void => {
    const at = SPEEDS.findIndex((one) => one === playback.speed.peek())
    const next = SPEEDS[Math.max(0, Math.min(at + step, SPEEDS.length - 1))] ?? 1
    playback.setSpeed(next)
    announce(next === Infinity ? 'Without waiting' : `${next} times as fast`)
  }
  useKeys('Playback', [
    {
      keys: ['P'],
      says: isOn ? 'Show everything again' : 'Play the session as it happened',
      run: isOn ? onLeave : onEnter,
    },
    ...(isOn
      ? [
          { keys: [' '], says: 'Play, or stop', run: () => (isPressable() ? false : playback.turn()) },
          { keys: ['+', '='], says: 'Faster', run: faster(1) },
          { keys: ['-'], says: 'Slower', run: faster(-1) },
          { keys: ['Escape'], says: 'Show everything again', run: onLeave },
          { keys: ['g g'], run: () => (playback.stop(), playback.seek(0)) },
          { keys: ['G'], run: () => (playback.stop(), playback.seek(Infinity)) },
          ...STEPS.map(([key, stop, direction]) => ({
            keys: [key],
            run: () => stepTo({ playback, shown }, stop, direction),
          })),
        ]
      : []),
  ])
}

/** To the next of a kind; where there is none, that is said. */
export function stepTo(
  { playback, shown }: Pick<PlaybackKeysOptions, 'playback' | 'shown'>,
  stop: Stop,
  direction: 1 | -1,
): void {
  if (!playback.step(stop, direction, shown.hasRecords.peek()))
    announce(direction === 1 ? `No ${stop} after this` : `No ${stop} before this`)
}

/** A button that has the focus takes the space bar itself. */
const isPressable = (): boolean =>
  document.activeElement instanceof HTMLButtonElement || document.activeElement instanceof HTMLAnchorElement
