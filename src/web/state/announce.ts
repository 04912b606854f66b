/** One voice for what changes without being asked for: read out by screen readers, seldom enough to be listened to. */
import { signal } from '@preact/signals'

export const announced = signal('')

const PAUSE_MS = 2000
let waiting: ReturnType<typeof setTimeout> | undefined

/** Of several within two seconds the last is said. */
export function announce(text: string): void {
  clearTimeout(waiting)
  waiting = setTimeout(() => void (announced.value = text), announced.value === '' ? 0 : PAUSE_MS)
}
