/** A part of a view with a heading, and the table that stands behind a chart. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { Asked } from '../state/answer.ts'
import { ErrorNote, Spinner } from '../ui/notes.tsx'

export type PanelProps = {
  readonly title: string
  readonly more?: ComponentChildren
  readonly isBusy?: boolean
  readonly children: ComponentChildren
}

export function Panel({ title, more, isBusy = false, children }: PanelProps) {
  const id = useId()
  return (
    <section class={`panel ${isBusy ? 'is-busy' : ''}`} aria-labelledby={id} aria-busy={isBusy}>
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
        {more}
      </div>
      {children}
    </section>
  )
}

/** What was asked for, or why it is not there. */
export function Given<T>({
  asked,
  children,
}: {
  readonly asked: Asked<T>
  readonly children: (value: T) => ComponentChildren
}) {
  const { value, problem, again } = asked
  return (
    <>
      {problem && <ErrorNote problem={problem} onRetry={again} />}
      {value === undefined ? problem === undefined && <Spinner /> : children(value)}
    </>
  )
}

export function BehindChart({ children }: { readonly children: ComponentChildren }) {
  return (
    <details class="chart-table">
      <summary>As a table</summary>
      {children}
    </details>
  )
}

/** Names and values, the most important first. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
