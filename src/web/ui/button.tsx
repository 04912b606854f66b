/** What is pressed. An icon alone needs a `label`. */
import type { ComponentChildren, Ref } from 'preact'

export type ButtonProps = {
  readonly onClick?: (event: MouseEvent) => void
  readonly label?: string
  readonly kind?: 'plain' | 'primary' | 'icon'
  /** For what is on or off. */
  readonly isPressed?: boolean
  readonly isExpanded?: boolean
  readonly disabled?: boolean
  readonly title?: string
  readonly class?: string
  readonly children: ComponentChildren
  readonly buttonRef?: Ref<HTMLButtonElement>
}

export function Button(props: ButtonProps) {
  const { kind, isPressed, isExpanded, label, disabled, title = label } = props
  const look = kind === 'icon' ? 'is-plain is-icon' : kind === undefined ? '' : `is-${kind}`
  return (
    <button
      type="button"
      class={`button ${look} ${props.class ?? ''}`}
      onClick={props.onClick}
      ref={props.buttonRef ?? null}
      {...(label !== undefined && { 'aria-label': label })}
      {...(title !== undefined && { title })}
      {...(disabled && { disabled })}
      {...(isPressed !== undefined && { 'aria-pressed': isPressed })}
      {...(isExpanded !== undefined && { 'aria-expanded': isExpanded })}
    >
      {props.children}
    </button>
  )
}
