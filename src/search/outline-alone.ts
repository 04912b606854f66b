/**
 * Which entries can be read from their record alone. It is tried on the first of each sort and now and then again; where it failed
 * once, all of that sort are copied.
 */
import type { Archive } from '../archive/archive.ts'
import type { SessionUnit } from '../sources/session-streams.ts'
import type { Entry } from '../transcript/entry.ts'
import { isNear, readAlone, readBytes, type RecordPlace } from './outline-record.ts'
import type { OutlineRow } from './outline-row.ts'

export type Aloneness = {
  canRead(entry: Entry, row: Row): Promise<boolean>
}

type Row = Omit<OutlineRow, 'source' | 'file'> & {
  readonly source: string
  readonly file: string | undefined
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
  const near = new Map<string, Promise<boolean>>()
  const areNear = (unit: number, file: string): Promise<boolean> => {
    const name = `${unit}\n${file}`
    const known = near.get(name)
    if (known !== undefined) return known
    const found = units[unit] === undefined ? Promise.resolve(false) : isNear(units[unit], file)
    if (near.size > MOST_SORTS) near.clear()
    near.set(name, found)
    return found
  }
  return {
    async canRead(entry, row) {
      const { file, unit, byteLength } = row
      const own = units[unit]
      if (file === undefined || byteLength === 0 || own === undefined) return false
      if (!(await areNear(unit, file))) return false
      const name = sortOf(entry, unit)
      const sort = sorts.get(name) ?? { seen: 0, isAlone: true }
      if (sorts.size < MOST_SORTS) sorts.set(name, sort)
      sort.seen += 1
      if (!sort.isAlone) return false
      const isTried = sort.seen <= TRIED || sort.seen % THEN_EVERY === 0
      if (!isTried || byteLength > LARGEST_TRIED) return true
      const place: RecordPlace = { ...row, file }
      const record = await readBytes(archive, own, place)
      const found = record && (await readAlone(archive, own, place, record, isInline))
      sort.isAlone = found !== undefined
      return sort.isAlone
    },
  }
}

/** What makes readers treat records alike: what they are, and which of the facts are there that may come from elsewhere. */
function sortOf(
  { kind, role, source, blocks, metadata, usage, model, call, at }: Entry,
  unit: number,
): string {
  const types = blocks.slice(0, 8).map(({ type }) => type)
  const record = metadata?.['record']
  const has = [usage, model, call, at].map((fact) => (fact === undefined ? '-' : '+')).join('')
  const from = source === 'primary' ? 'primary' : 'subagent'
  return [unit, from, kind, role, typeof record === 'string' ? record.slice(0, 100) : '', has, ...types].join(
    '\n',
  )
}
