/** Runs: all of them, one on a timeline, or two side by side (`?with=`). */
import '../../charts/charts.css'
import './run.css'
import type { ViewProps } from '../../shell/views.ts'
import { Compare } from './compare.tsx'
import { RunList } from './list.tsx'
import { OneRun } from './one-run.tsx'

export function RunView({ route }: ViewProps) {
  const other = route.params.get('with') ?? undefined
  if (route.id === undefined) return <RunList params={route.params} />
  if (other !== undefined) return <Compare left={route.id} right={other} />
  return <OneRun id={route.id} />
}
