/** How a session, run or step stands: a word, and a mark that differs by shape as well as by colour. */
import type { Status } from '../../transcript/session.ts'

const TONES: Readonly<Record<Status, string>> = {
  running: 'is-live',
  completed: 'is-ok',
  failed: 'is-bad',
  canceled: 'is-warn',
  interrupted: 'is-warn',
}

export function StatusMark({ status }: { readonly status: Status }) {
  return (
    <span class={`status ${TONES[status]}`}>
      <span class="status-dot" aria-hidden="true" />
      {status}
    </span>
  )
}
