/** A small label; with `onPress` a switch. Its colour says nothing that its text does not. */
import type { ComponentChildren } from 'preact'

export type Tone = 'ok' | 'warn' | 'bad' | 'live' | 'accent'

export type ChipProps = {
  readonly tone?: Tone
  readonly count?: number
  readonly isPressed?: boolean
  readonly onPress?: () => void
  readonly title?: string
  readonly children: ComponentChildren
}

export function Chip({ tone, count, isPressed = false, onPress, title, children }: ChipProps) {
  const look = `chip ${tone === undefined ? '' : `is-${tone}`}`
  const inside = (
    <>
      <span class="clip">{children}</span>
      {count !== undefined && <span class="chip-count">{count.toLocaleString('en')}</span>}
    </>
  )
  const titled = title === undefined ? {} : { title }
  if (onPress === undefined)
    return (
      <span class={look} {...titled}>
        {inside}
      </span>
    )
  return (
    <button type="button" class={look} aria-pressed={isPressed} onClick={onPress} {...titled}>
      {inside}
    </button>
  )
}
