/** Every entry of an archive as `show` shows it, with what is known of its session by then, for what goes through everything. */
import { openSessions } from '../src/sources/sessions.ts'
import type { Entry } from '../src/transcript/entry.ts'
import type { Session } from '../src/transcript/session.ts'

export type ShownEntry = { readonly session: Session; readonly entry: Entry }

export async function* shownEntries(home: string): AsyncGenerator<ShownEntry> {
  const sessions = await openSessions(home)
  try {
    for (const listed of sessions.list({}).sessions) {
      let session: Session = listed
      for await (const items of sessions.read(sessions.find(listed.id))) {
        for (const item of items) {
          if (item.type === 'session') session = { ...item.session, ...listed }
          else if (item.type === 'entry') yield { session, entry: item.entry }
        }
      }
    }
  } finally {
    sessions.close()
  }
}
