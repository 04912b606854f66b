/**
 * Which entries can be read from their record alone. It is tried on the first of each sort and now and then again; where it failed
 * once, all of that sort are copied.
 */
import type { Archive } from '../archive/archive.ts'
import type { SessionUnit } from '../sources/session-streams.ts'
import type { Entry } from '../transcript/entry.ts'
import { isNear, readAlone, readBytes, type RecordPlace } from './outline-record.ts'
import type { Names } from './outline-files.ts'
import type { OutlineRow } from './outline-row.ts'

export type Aloneness = {
  /** At once where it is known. */
  canRead(entry: Entry, row: OutlineRow, names: Names): boolean | Promise<boolean>
}

/** Of each sort so many are tried, and then one of so many. */
const TRIED = 8
const THEN_EVERY = 1024
/** A hostile file may have any number of sorts. */
const MOST_SORTS = 1000
/** What is larger is not read twice to try it. */
const LARGEST_TRIED = 1024 * 1024

export function createAloneness(
  archive: Archive,
  units: readonly SessionUnit[],
  isInline: boolean,
): Aloneness {
  const sorts = new Map<string, { seen: number; isAlone: boolean }>()
  /** By unit and number of file. */
  const near = new Map<string, boolean>()
  const look = async (unit: SessionUnit, name: string, file: string): Promise<boolean> => {
    const found = await isNear(unit, file)
    if (near.size > MOST_SORTS) near.clear()
    near.set(name, found)
    return found
  }
  const attempt = async (own: SessionUnit, place: RecordPlace): Promise<boolean> => {
    const record = await readBytes(archive, own, place)
    const found = record && (await readAlone(archive, own, place, record, isInline))
    return found !== undefined
  }
  const judge = (
    entry: Entry,
    row: OutlineRow,
    own: SessionUnit,
    toPlace: () => RecordPlace,
  ): boolean | Promise<boolean> => {
    const name = sortOf(entry, row.unit)
    const sort = sorts.get(name) ?? { seen: 0, isAlone: true }
    if (sorts.size < MOST_SORTS) sorts.set(name, sort)
    sort.seen += 1
    if (!sort.isAlone) return false
    const isTried = sort.seen <= TRIED || sort.seen % THEN_EVERY === 0
    if (!isTried || row.byteLength > LARGEST_TRIED) return true
    return attempt(own, toPlace()).then((isAlone) => (sort.isAlone = isAlone))
  }
  return {
    canRead(entry, row, { sources, files }) {
      const own = units[row.unit]
      const file = files[row.file - 1]
      if (file === undefined || row.byteLength === 0 || own === undefined) return false
      const name = `${row.unit} ${row.file}`
      const isKnown = near.get(name)
      if (isKnown === false) return false
      const toPlace = (): RecordPlace => ({ ...row, file, source: sources[row.source] ?? '' })
      if (isKnown) return judge(entry, row, own, toPlace)
      return look(own, name, file).then((is) => is && judge(entry, row, own, toPlace))
    },
  }
}

/** What makes readers treat records alike: what they are, and which of the facts are there that may come from elsewhere. */
function sortOf(
  { kind, role, source, blocks, metadata, usage, model, call, at }: Entry,
  unit: number,
): string {
  const record = metadata?.['record']
  let name = `${unit}${source === 'primary' ? 'p' : 's'}${kind}/${role ?? ''}/${typeof record === 'string' ? record.slice(0, 100) : ''}/`
  for (const fact of [usage, model, call, at]) name += fact === undefined ? '-' : '+'
  for (let i = 0; i < blocks.length && i < 8; i += 1) name += `/${blocks[i]?.type}`
  return name
}
