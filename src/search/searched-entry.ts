/**
 * An entry as it is searched: without the secrets that other programs wrote. What is indexed, what is read because it is not
 * indexed yet, and what is shown of a hit all come from here, so that they are the same.
 */
import type { Archive } from '../archive/archive.ts'
import { createRedactor, type Redactor } from '../redact/redactor.ts'
import type { Entry } from '../transcript/entry.ts'

const redactors = new Map<string, Redactor>()

/** With the values of this process's environment among the secrets that are known. */
export function redactorOf(archive: Archive): Redactor {
  const known = redactors.get(archive.home)
  if (known !== undefined) return known
  const made = createRedactor({ key: archive.redactionKey(), env: process.env })
  redactors.set(archive.home, made)
  return made
}

/** For looking into it only: what no search looks at is left out, which is half of the work. */
export function toSearched(entry: Entry, redactor: Redactor): Entry {
  const searched = partOf(entry)
  const redacted = redactor.entry(searched)
  return redacted === searched ? entry : redacted
}

/** The same to be shown: nothing that was not looked at is in it. */
export function toShown(entry: Entry, redactor: Redactor): Entry {
  return redactor.entry(partOf(entry))
}

function partOf({ id, source, sequence, kind, role, at, model, blocks }: Entry): Entry {
  return {
    id,
    source,
    sequence,
    kind,
    blocks,
    ...(role !== undefined && { role }),
    ...(at !== undefined && { at }),
    ...(model !== undefined && { model }),
  }
}
