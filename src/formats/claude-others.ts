/** What is no line of Claude Code's own, as entries of its session: records of other programs, lines over the limit, files beside the log. */
import type { Damage } from '../transcript/damage.ts'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import type { Json } from '../transcript/json.ts'
import type { JsonRecord } from '../transcript/records.ts'
import type { SourceFile } from '../transcript/source.ts'
import { fileName, type Beside } from './claude-beside.ts'
import type { FactsFold } from './claude-facts.ts'
import type { Placing } from './claude-placing.ts'
import type { ReadItem } from './format.ts'
import { oversizedEntry } from './unknown.ts'

/** An entry before it has its place in the session. */
export type Said = Omit<Entry, 'id' | 'source' | 'sequence' | 'origin'>

export type RecordOptions = {
  /** Whose lines these are where they do not say. */
  readonly source?: string
  /** What a record of another dialect says; undefined for one that is not of it either, which is then kept whole. */
  readonly parse?: (value: Json) => readonly Said[] | undefined
}

export type DocumentOptions = {
  readonly source?: string
  /** More of its source may come, which is numbered as if it were not there: it stands behind all of it. */
  readonly isBehind?: boolean
  /** What the event is called. */
  readonly record: string
}

export type Others = {
  /** Of `file`, by its path. */
  record(record: JsonRecord, file: string, options: RecordOptions): readonly ReadItem[]
  oversized(damage: Damage, file: string, options: RecordOptions): ReadItem
  /** A small file, whole, as one event; damage when it cannot be taken in. */
  file(file: SourceFile, options: DocumentOptions, found: Beside): ReadItem
}

type Reading = Pick<Placing, 'nextSequence' | 'toId'> & {
  readonly format: string
  readonly facts: Pick<FactsFold, 'observeTime'>
}

export function createOthers({ format, facts, nextSequence, toId }: Reading): Others {
  const place = (source: string): Pick<Entry, 'id' | 'source' | 'sequence'> => {
    const sequence = nextSequence(source)
    return { id: toId(undefined, source, sequence), source, sequence }
  }
  return {
    record({ value, number, byteOffset, byteLength }, file, { source = PRIMARY, parse }) {
      const origin = { format, file, record: number, byteOffset, byteLength }
      const whole: readonly Said[] = [{ kind: 'event', blocks: [{ type: 'unknown', raw: value }] }]
      return (parse?.(value) ?? whole).map((one) => {
        if (one.at !== undefined) facts.observeTime(one.at)
        return { type: 'entry', entry: { ...place(source), ...one, origin } }
      })
    },
    oversized(damage, file, { source = PRIMARY }) {
      const own = place(source)
      const entry = oversizedEntry(damage, { format, file, source, sequence: own.sequence })
      return { type: 'entry', entry: { ...entry, ...own } }
    },
    file({ path }, { source = PRIMARY, record, isBehind = false }, found) {
      if ('damage' in found) return { type: 'damage', damage: found.damage }
      const { block, byteLength } = found
      const behind = { id: `${source}/${path}`, source, sequence: Number.MAX_SAFE_INTEGER }
      const origin = { format, file: path, record: 1, byteOffset: 0, byteLength }
      const metadata = { record, ...(block.type === 'text' && { file: fileName(path) }) }
      const own = isBehind ? behind : place(source)
      return { type: 'entry', entry: { ...own, kind: 'event', blocks: [block], metadata, origin } }
    },
  }
}
