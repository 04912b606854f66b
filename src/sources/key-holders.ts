/** In which pass each call was met first, by the hash of its key: for a million calls at most. */
import { createHashedNumbers } from '../transcript/hashed-numbers.ts'

export type KeyHolders = {
  /** Notes that a pass has it. Gives the pass that had it before, if any; it may have been the same one. */
  note(hash: number, reading: number): number | undefined
  count(): number
}

export function createKeyHolders(): KeyHolders {
  const first = createHashedNumbers()
  return { note: (hash, reading) => first.note(hash, reading), count: () => first.size() }
}
