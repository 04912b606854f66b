/**
 * The door to the disk: nothing passes it unredacted, and nothing large passes it inline. A redactor that fails withholds the
 * content and lets the entry's envelope through, so that the record shows that something was said.
 */
import type { Blobs } from '../archive/blob-store.ts'
import { moveToBlobs } from '../archive/blobs.ts'
import type { Redactor } from '../redact/redactor.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'

export type Door = {
  session(session: Session): Session
  /** What formats may write, and what the journal writes: the same but for blobs. */
  entry(entry: Entry): { readonly whole: Entry; readonly stored: Entry }
}

export function createDoor(redactor: Redactor | undefined, blobs: Pick<Blobs, 'write'>): Door {
  return {
    session: (session) => (redactor === undefined ? session : redactor.session(session)),
    entry(entry) {
      const whole = redactor === undefined ? entry : redactor.entry(entry)
      return { whole, stored: store(whole, blobs) }
    },
  }
}

/** A blob that cannot be written stays in the line: a long line is better than a lost one. */
function store(entry: Entry, blobs: Pick<Blobs, 'write'>): Entry {
  try {
    return moveToBlobs(entry, blobs)
  } catch {
    return entry
  }
}
