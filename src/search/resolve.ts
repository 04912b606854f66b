/**
 * A hit's entry. Most of what searches find are lines of logs that can be read by themselves, which is done here, for what searches look
 * at; whatever cannot be, and whatever is asked for whole, is read by `resolve-whole.ts`, which brings all that reads logs with it.
 */
import type { Archive } from '../archive/archive.ts'
import { openKeptReader, type KeptReader } from '../archive/kept-find.ts'
import { claudeLineAlone, type Alone } from '../formats/claude-code-alone.ts'
import type { Entry } from '../transcript/entry.ts'
import { parseJson, type Json } from '../transcript/json.ts'
import { asIndexed, idAsIndexed, type Located } from './located.ts'
import { redactorOf } from './searched-entry.ts'
import type { ListedUnit } from './unit-list.ts'

export type { Located } from './located.ts'

/** The record that the entry was read from, uncompressed; undefined when there is none, or it is gone. */
export async function readRecord(archive: Archive, located: Located): Promise<Buffer | undefined> {
  return (await import('./resolve-whole.ts')).readRecord(archive, located)
}

/** As it was indexed, without secrets; undefined when it is no longer there. */
export async function readEntry(archive: Archive, located: Located): Promise<Entry | undefined> {
  const redactor = redactorOf(archive)
  const entry = await (await import('./resolve-whole.ts')).readWhole(archive, located, redactor)
  return entry && redactor.entry(entry)
}

/**
 * Several at once, of which only what searches look at need be there, each given as it is read. Those of a unit that cannot be read by
 * themselves, and those of one that is small, are read in one pass over it. When it is late, what is left is not read.
 */
export async function readTogether(
  archive: Archive,
  wanted: readonly Wanted[],
  { isLate, onUnreadable }: Reading,
): Promise<void> {
  const redactor = redactorOf(archive)
  const byUnit = new Map<string, Wanted[]>()
  for (const one of wanted) {
    if (isLate()) return
    const entry = readLineOf(archive, one)
    const { name } = one.located.unit
    if (entry !== undefined) one.take(redactor.entry(entry))
    else byUnit.set(name, [...(byUnit.get(name) ?? []), one])
  }
  if (byUnit.size === 0) return
  const { readUnitOf } = await import('./resolve-together.ts')
  for (const some of byUnit.values()) {
    if (isLate()) return
    await readUnitOf(archive, some, { isLate, onUnreadable })
  }
}

export type Reading = {
  readonly isLate: () => boolean
  readonly onUnreadable: (unit: ListedUnit, error: unknown) => void
}

export type Wanted = {
  readonly located: Located
  /** That it is the same entry is enough, whether or not each of its texts was indexed as it is read. */
  readonly isShown: boolean
  /** Without secrets. Not called for what is no longer there. */
  readonly take: (entry: Entry) => void
}

function readLineOf(archive: Archive, { located, isShown }: Wanted): Entry | undefined {
  const alone = readLine(archive, located)
  if (alone === undefined || !isShown) return alone && asIndexed(alone, located)
  return idAsIndexed(alone, located) === undefined ? undefined : alone
}

/** Lines that say all that is searched of them by themselves, by the format of their log. */
const ALONE: ReadonlyMap<string, (line: Json) => Alone | undefined> = new Map([
  ['claude-code', claudeLineAlone],
])
/** A line that is longer is read with care for memory. */
const LONGEST_LINE = 1024 * 1024

function readLine(archive: Archive, located: Located): Entry | undefined {
  const { unit, file, version, byteOffset, byteLength, source, sequence } = located
  const { agent, root, isKept } = unit.place
  const toAlone = ALONE.get(unit.format)
  if (toAlone === undefined || !isKept || file === undefined || byteLength > LONGEST_LINE) return undefined
  try {
    const bytes = readerOf(archive)({ agent, root, path: file, version, byteOffset, byteLength })
    const line = bytes && parseJson(bytes.toString('utf8'))
    const alone = line === undefined ? undefined : toAlone(line)
    return alone && { ...alone, source, sequence }
  } catch {
    // What goes wrong is met again, and told, where the entry is read whole.
    return undefined
  }
}

const readers = new WeakMap<Archive, KeptReader>()

function readerOf(archive: Archive): KeptReader {
  const known = readers.get(archive)
  if (known !== undefined) return known
  const made = openKeptReader(archive)
  readers.set(archive, made)
  return made
}
