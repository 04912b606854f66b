/** What is going on with a session that one would not see. */
import { ErrorNote } from '../../ui/notes.tsx'
import { exactCount } from '../../ui/numbers.ts'
import type { SessionStore } from './store.ts'

export function Notes({ store }: { readonly store: SessionStore }) {
  const { answer, problem, isGone, length } = store
  const state = answer.value?.outline
  return (
    <>
      {isGone.value && (
        <p class="session-note is-bad" role="alert">
          This session was deleted from the archive. What is on this page stays until it is left.
        </p>
      )}
      {!isGone.value && problem.value !== undefined && (
        <ErrorNote problem={problem.value} onRetry={store.reload} />
      )}
      {state?.state === 'building' && (
        <p class="session-note" role="status">
          This session is read for the first time: {exactCount(state.entries)} of {exactCount(length.value)}{' '}
          entries. The map and the filters come when it is done.
        </p>
      )}
    </>
  )
}
