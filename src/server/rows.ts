/** A session as a row of a list, without secrets: what `hansard list --json` says of it, and what a page shows besides. */
import type { Redactor } from '../redact/redactor.ts'
import { toListedRow, type RowSession } from '../search/session-row.ts'
import type { ListedSession } from '../sources/state-sessions.ts'
import type { SessionRow } from './api-model.ts'

export function toSessionRow({ did, ...session }: RowSession, redactor: Redactor): SessionRow {
  const listed = withoutSecrets(session, redactor)
  const { agent, native, cwd, git, stub, reportedCost } = listed
  return {
    ...toListedRow({ ...listed, ...(did && { did }) }),
    agent: agent ?? native?.agent,
    project: cwd === undefined ? undefined : folderName(cwd),
    branch: git?.branch,
    stub,
    reportedCost,
  }
}

/** `prompt` is the list's own word, which a redactor of sessions does not know. */
export function withoutSecrets(session: ListedSession, redactor: Redactor): ListedSession {
  const { prompt, ...facts } = session
  return { ...redactor.session(facts), ...(prompt !== undefined && { prompt: redactor.text(prompt) }) }
}

function folderName(path: string): string {
  return (
    path
      .split(/[\\/]/)
      .filter((part) => part !== '')
      .at(-1) ?? path
  )
}
