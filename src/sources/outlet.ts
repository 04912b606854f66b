/**
 * What leaves the archive passes the redactor: kept files hold what other programs wrote, secrets and all. Journals were redacted
 * before their first byte was written. `raw` lets everything through, for who asks for it.
 */
import type { Archive } from '../archive/archive.ts'
import type { ReadItem } from '../formats/format.ts'
import { createRedactor, type Redactor } from '../redact/redactor.ts'
import type { ListedSession } from './state-sessions.ts'

export type Outlet = {
  readonly text: (text: string) => string
  session(session: ListedSession): ListedSession
  items(items: AsyncIterable<readonly ReadItem[]>): AsyncIterable<readonly ReadItem[]>
}

export function createOutlet(archive: Archive, raw: boolean): Outlet {
  if (raw) return { text: (text) => text, session: (session) => session, items: (items) => items }
  let made: Redactor | undefined
  const redactor = (): Redactor =>
    (made ??= createRedactor({ key: archive.redactionKey(), env: process.env }))
  return {
    text: (text) => redactor().text(text),
    session(session) {
      const { prompt, ...facts } = session
      return {
        ...redactor().session(facts),
        ...(prompt !== undefined && { prompt: redactor().text(prompt) }),
      }
    },
    async *items(items) {
      for await (const batch of items) yield batch.map((item) => redactItem(item, redactor()))
    },
  }
}

function redactItem(item: ReadItem, redactor: Redactor): ReadItem {
  if (item.type === 'entry') return { type: 'entry', entry: redactor.entry(item.entry) }
  if (item.type === 'session') return { type: 'session', session: redactor.session(item.session) }
  return item
}
