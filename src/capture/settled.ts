/** What was said, as a copy that its caller cannot change any more. What JSON cannot say is as the journal keeps it. */
import { toRecordJson } from '../journal/record-json.ts'
import type { JournalRecord } from '../journal/record.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'

export function settledEntry(entry: Entry): Entry {
  return copyOf(entry) ?? asRecorded({ t: 'entry', entry }).entry ?? entry
}

export function settledSession(session: Session): Session {
  return copyOf(session) ?? asRecorded({ t: 'update', session }).session ?? session
}

/** Undefined for a cycle, a BigInt, or what is too deep. */
function copyOf<T>(value: T): T | undefined {
  try {
    return JSON.parse(JSON.stringify(value)) as T
  } catch {
    return undefined
  }
}

/** What `toRecordJson` writes has the shape of what it was given. */
function asRecorded(record: JournalRecord): { readonly entry?: Entry; readonly session?: Session } {
  return JSON.parse(toRecordJson(record)) as { readonly entry?: Entry; readonly session?: Session }
}
