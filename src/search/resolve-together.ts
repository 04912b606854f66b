/** Entries of one unit for several hits: by themselves where that is quicker, else in one pass over the unit. */
import type { Archive } from '../archive/archive.ts'
import type { Entry } from '../transcript/entry.ts'
import { isTooSlow } from './match-regex.ts'
import type { Located, Reading, Wanted } from './resolve.ts'
import { readAmongOthers, readByItself } from './resolve-whole.ts'
import { redactorOf, toShown } from './searched-entry.ts'

/** What is read of a unit in the time that an entry by itself takes. */
const BYTES_AN_ENTRY = 25_000

export async function readUnitOf(
  archive: Archive,
  wanted: readonly Wanted[],
  { isLate, onUnreadable }: Reading,
): Promise<void> {
  const [first] = wanted
  if (first === undefined) return
  const redactor = redactorOf(archive)
  const left = new Map(wanted.map((one) => [one.located, one]))
  const give = (located: Located, entry: Entry): void => {
    left.get(located)?.take(toShown(entry, redactor))
    left.delete(located)
  }
  const { unit } = first.located
  try {
    if (wanted.length === 1 || unit.bytes > wanted.length * BYTES_AN_ENTRY) {
      for (const { located } of wanted) {
        if (isLate()) return
        const entry = await readByItself(archive, located)
        // Where one means something only among the others, so do the rest.
        if (entry === undefined) break
        give(located, entry)
      }
    }
    await readAmongOthers([...left.keys()], redactor, give, isLate)
  } catch (error) {
    if (isTooSlow(error)) throw error
    onUnreadable(unit, error)
  }
}
