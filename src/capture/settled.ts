/** What was said, as the journal has it: a copy that its caller cannot change any more, without what JSON cannot say. */
import { toRecordJson } from '../journal/record-json.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'

export function settledEntry(entry: Entry): Entry {
  return asRecorded(JSON.parse(toRecordJson({ t: 'entry', entry }))).entry ?? entry
}

export function settledSession(session: Session): Session {
  return asRecorded(JSON.parse(toRecordJson({ t: 'update', session }))).session ?? session
}

/** What `toRecordJson` wrote has the shape of what it was given. */
function asRecorded(record: unknown): { readonly entry?: Entry; readonly session?: Session } {
  return record as { readonly entry?: Entry; readonly session?: Session }
}
