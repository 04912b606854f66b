/** The place of this view: says that it is not here yet. */
import type { ViewProps } from '../../shell/views.ts'
import { EmptyState } from '../../ui/notes.tsx'

export function SessionsView({ route }: ViewProps) {
  return (
    <div class="page">
      <EmptyState title="This view is not part of this build">
        <p>
          The same is on the command line: hansard --help lists it.
          {route.id !== undefined && ` (${route.id})`}
        </p>
      </EmptyState>
    </div>
  )
}
