/**
 * The door to the disk: nothing passes it unredacted, and nothing large passes it inline. A redactor that fails withholds the
 * content and lets the entry's envelope through, so that the record shows that something was said.
 */
import type { Blobs } from '../archive/blob-store.ts'
import { moveToBlobs, sessionToBlobs } from '../archive/blobs.ts'
import type { Redactor } from '../redact/redactor.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'

export type Door = {
  session(session: Session): Session
  /** Facts of a session as the journal writes them: large ones are apart. */
  facts<T extends Partial<Session>>(facts: T): T
  /** Where the formats' files go, as the journal may say it. */
  roots<T extends { readonly root: string }>(roots: readonly T[]): readonly T[]
  /** What formats may write, and what the journal writes: the same but for blobs. */
  entry(entry: Entry, isCut?: boolean): { readonly whole: Entry; readonly stored: Entry }
}

export function createDoor(redactor: Redactor | undefined, blobs: Pick<Blobs, 'write'>): Door {
  return {
    session: (session) => (redactor === undefined ? session : redactor.session(session)),
    facts: (facts) => orInline(facts, () => sessionToBlobs(facts, blobs)),
    roots: (roots) =>
      roots.map((one) => ({ ...one, root: redactor === undefined ? one.root : redactor.text(one.root) })),
    entry(entry, isCut) {
      const whole = redactor === undefined ? entry : redactor.entry(entry, isCut)
      return { whole, stored: orInline(whole, () => moveToBlobs(whole, blobs)) }
    },
  }
}

/** A blob that cannot be written stays in the line: a long line is better than a lost one. */
function orInline<T>(whole: T, store: () => T): T {
  try {
    return store()
  } catch {
    return whole
  }
}
