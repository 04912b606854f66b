/** The views by name. Each is loaded when it is first shown: `export function XView({ route }: ViewProps)`. */
import type { ComponentType } from 'preact'
import type { Route, ViewName } from '../router.ts'

export type ViewProps = { readonly route: Route }
export type View = ComponentType<ViewProps>

export const VIEW_NAMES: Readonly<Record<ViewName, string>> = {
  sessions: 'Sessions',
  session: 'Session',
  runs: 'Runs',
  cost: 'Cost',
  insight: 'Insight',
  diff: 'Compare',
}

export const LOAD: Readonly<Record<ViewName, () => Promise<View>>> = {
  sessions: async () => (await import('../views/sessions/view.tsx')).SessionsView,
  session: async () => (await import('../views/session/view.tsx')).SessionView,
  runs: async () => (await import('../views/run/view.tsx')).RunView,
  cost: async () => (await import('../views/cost/view.tsx')).CostView,
  insight: async () => (await import('../views/insight/view.tsx')).InsightView,
  diff: async () => (await import('../views/diff/view.tsx')).DiffView,
}
