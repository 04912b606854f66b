/**
 * Notices when a format changes: records, keys and blocks that its vocabulary lacks are told of by name, on the day they turn
 * up. Costs nothing where nobody listens.
 */
import type { JsonObject } from '../transcript/json.ts'
import type { Drift, ReadOptions } from './format.ts'

/** What a reader has seen so far of its format. */
export type Vocabulary = {
  /** The keys of each record type. */
  readonly records: ReadonlyMap<string, ReadonlySet<string>>
  /** Keys that any record may have. */
  readonly common: ReadonlySet<string>
  readonly blocks: ReadonlySet<string>
}

export type DriftWatch = {
  /** A record of the file, under the name that its format tells records apart by. */
  record(type: string, record: JsonObject, version?: string): void
  block(type: string, version?: string): void
}

export function createDriftWatch(
  { records, common, blocks }: Vocabulary,
  { drift }: ReadOptions = {},
): DriftWatch | undefined {
  if (drift === undefined) return undefined
  const tell = (kind: Drift['kind'], name: string, version: string | undefined): void =>
    drift({ kind, name: name.slice(0, NAME_LENGTH), ...(version !== undefined && { version }) })
  return {
    record(type, record, version) {
      const keys = records.get(type)
      if (keys === undefined) return tell('record', type, version)
      for (const key in record) if (!keys.has(key) && !common.has(key)) tell('key', `${type}.${key}`, version)
    },
    block(type, version) {
      if (!blocks.has(type)) tell('block', type, version)
    },
  }
}

/** `user: content message` → a record type with its keys; one line for each. */
export function vocabulary(text: {
  readonly records: readonly string[]
  readonly common?: string
  readonly blocks?: string
}): Vocabulary {
  const records = text.records.map((line): [string, ReadonlySet<string>] => {
    const [type = '', keys = ''] = line.split(/:\s*/, 2)
    return [type, words(keys)]
  })
  return { records: new Map(records), common: words(text.common ?? ''), blocks: words(text.blocks ?? '') }
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((word) => word !== ''))
}

/** A hostile file may call its keys anything. */
const NAME_LENGTH = 120
