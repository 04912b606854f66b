/** A line that opens to more. The line is a button, so that the keyboard and screen readers have it as well. */
import type { ComponentChildren } from 'preact'

export type FoldProps = {
  readonly isOpen: boolean
  readonly onTurn: () => void
  readonly line: ComponentChildren
  /** At the end of the line. */
  readonly end?: ComponentChildren
  readonly tone?: 'bad' | 'quiet' | 'record'
  readonly children: () => ComponentChildren
}

export function Fold({ isOpen, onTurn, line, end, tone, children }: FoldProps) {
  return (
    <div class={`fold ${tone === undefined ? '' : `is-${tone}`} ${isOpen ? 'is-open' : ''}`}>
      <button type="button" class="fold-line" aria-expanded={isOpen} onClick={onTurn}>
        <span class="fold-sign" aria-hidden="true" />
        <span class="fold-says clip">{line}</span>
        {end !== undefined && <span class="fold-end">{end}</span>}
      </button>
      {isOpen && <div class="fold-body">{children()}</div>}
    </div>
  )
}
