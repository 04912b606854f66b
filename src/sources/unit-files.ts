/** The files of a unit while it is read: a list of them, or, of very many, one that lies on disk, sorted there, for whoever reads it. */
import { createSortedTexts } from '../journal/sorted-texts.ts'
import { madeList } from '../transcript/made-list.ts'
import { nextTurn } from '../transcript/next-turn.ts'
import { createLongList, LONG, openLongList, type LongListIn } from './long-list.ts'
import { collect } from './one-at-a-time.ts'
import type { StateFiles, UnitFile } from './state-files.ts'

export type UnitFiles = {
  /** Sorted by their paths. */
  readonly own: readonly UnitFile[]
  /** For another thread: where they lie if they are very many. */
  readonly listed?: LongListIn
  close(): void
}

/** `long`: from how many on they lie on disk. */
export async function openUnitFiles(
  { fileLists }: Pick<StateFiles, 'fileLists'>,
  unit: number,
  long: number = LONG,
): Promise<UnitFiles> {
  const own: UnitFile[] = []
  const lists = fileLists(unit)
  for (let next = lists.next(); next.done !== true; next = lists.next()) {
    for (const file of next.value) own.push(file)
    if (own.length >= long) return openLong(own, lists)
  }
  return { own: own.sort((one, other) => (one.path < other.path ? -1 : 1)), close: () => {} }
}

/** Until what is left of them is let go: V8 would wait until that is tens of MB. */
const LISTS_AT_A_TIME = 50

async function openLong(first: readonly UnitFile[], rest: Iterable<readonly UnitFile[]>): Promise<UnitFiles> {
  const sorted = createSortedTexts()
  const writer = createLongList()
  try {
    for (const file of first) sorted.add(toText(file))
    let lists = 0
    for (const list of rest) {
      for (const file of list) sorted.add(toText(file))
      // The driver holds something of each answer until then.
      await nextTurn()
      lists += 1
      if (lists % LISTS_AT_A_TIME === 0) collect()
    }
    for (const text of sorted.inOrder()) writer.add(text)
    const list = writer.end()
    const own = madeList(list.length, (index) => toUnitFile(list.at(index)))
    return { own, listed: list.handle, close: () => writer.close() }
  } catch (error) {
    writer.close()
    throw error
  } finally {
    sorted.close()
  }
}

/** The paths of such a list. */
export function pathsIn(listed: LongListIn): readonly string[] {
  const list = openLongList(listed)
  return madeList(list.length, (index) => pathIn(list.at(index)))
}

/** A NUL is in no path, and before all else in the order of texts. */
function toText({ path, size, bytes }: UnitFile): string {
  return `${path}\0${size}\0${bytes ?? ''}`
}

function pathIn(text: string): string {
  return text.slice(0, text.indexOf('\0'))
}

function toUnitFile(text: string): UnitFile {
  const [path = '', size, bytes] = text.split('\0')
  return { path, size: Number(size), bytes: bytes === '' ? undefined : Number(bytes) }
}
