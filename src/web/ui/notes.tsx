/** What stands where there is nothing yet, nothing at all, or something went wrong. */
import type { ComponentChildren } from 'preact'
import type { Problem } from '../api.ts'
import { oneLine, visible } from '../text/visible.ts'
import { Button } from './button.tsx'

export function Spinner({ says = 'Loading …' }: { readonly says?: string }) {
  return (
    <span class="spinner" role="status">
      {says}
    </span>
  )
}

export function EmptyState({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ComponentChildren
}) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

export type ErrorNoteProps = { readonly problem: Problem; readonly onRetry?: () => void }

/** Questions that nobody wants an answer to any more have not failed: nothing is shown for them. */
export function ErrorNote({ problem, onRetry }: ErrorNoteProps) {
  if (problem.code === 'aborted') return null
  return (
    <div class="error-note" role="alert">
      <strong>{visible(oneLine(problem.message, 500))}</strong>
      {problem.hint !== undefined && <span>{visible(oneLine(problem.hint, 500))}</span>}
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  )
}
