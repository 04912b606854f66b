/**
 * Notices when a format changes: records, keys and blocks that its vocabulary lacks are told of by name, on the day they turn
 * up. Costs nothing where nobody listens.
 */
import { beginningOf } from '../transcript/held-text.ts'
import type { JsonObject } from '../transcript/json.ts'
import type { Drift, ReadOptions } from './format.ts'

/** What a reader has seen so far of its format. */
export type Vocabulary = {
  /** The keys of each record type, with those that any may have. */
  readonly records: ReadonlyMap<string, ReadonlySet<string>>
  /** The keys of each kind of block; undefined where they are not watched. */
  readonly blocks: ReadonlyMap<string, ReadonlySet<string> | undefined>
}

export type DriftWatch = {
  /** A record of the file, under the name that its format tells records apart by. */
  record(type: string, record: JsonObject, version?: string): void
  /** With the block itself, its keys are looked at too: told as `block/<type>.<key>`. */
  block(type: string, version?: string, block?: JsonObject): void
}

export function createDriftWatch(
  { records, blocks }: Vocabulary,
  { drift }: ReadOptions = {},
): DriftWatch | undefined {
  if (drift === undefined) return undefined
  const tell = (kind: Drift['kind'], name: string, version: string | undefined): void =>
    drift({ kind, name: cut(name), ...(version !== undefined && { version: cut(version) }) })
  /** By type, known keys where the records before had them: most records have theirs in the order that others have. */
  const inOrder = new Map<string, string[]>()
  const lastOf = (type: string): string[] => {
    const known = inOrder.get(type)
    if (known !== undefined) return known
    const made: string[] = []
    inOrder.set(type, made)
    return made
  }
  return {
    record(type, record, version) {
      const keys = records.get(type)
      if (keys === undefined) return tell('record', type, version)
      const last = lastOf(type)
      let at = 0
      for (const key in record) {
        if (key !== last[at]) {
          if (!keys.has(key)) tell('key', `${type}.${key}`, version)
          else if (at < MOST_IN_ORDER) last[at] = key
        }
        at += 1
      }
    },
    block(type, version, block) {
      const keys = blocks.get(type)
      if (keys === undefined) {
        if (!blocks.has(type)) tell('block', type, version)
        return
      }
      for (const key in block)
        if (key !== 'type' && !keys.has(key)) tell('key', `block/${type}.${key}`, version)
    },
  }
}

/** `user: content message` → a record type with its keys; one line for each. Blocks likewise, or only as words. */
export function vocabulary(text: {
  readonly records: readonly string[]
  readonly common?: string
  readonly blocks?: string | readonly string[]
}): Vocabulary {
  const { records, common = '', blocks = '' } = text
  return {
    records: new Map(
      records.map((line) => {
        const [type, keys] = toKeys(line)
        return [type, new Set([...keys, ...words(common)])]
      }),
    ),
    blocks:
      typeof blocks === 'string'
        ? new Map([...words(blocks)].map((type) => [type, undefined]))
        : new Map(blocks.map(toKeys)),
  }
}

function toKeys(line: string): [string, ReadonlySet<string>] {
  // A kind's own name may have a colon in it: `ask:command`.
  const [type = '', keys = ''] = line.split(/:(?:\s+|$)/, 2)
  return [type, words(keys)]
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((word) => word !== ''))
}

/** Behind that many keys, each is looked up. */
const MOST_IN_ORDER = 64

/** A hostile file may call its keys anything. */
const NAME_LENGTH = 120
const cut = (name: string): string => beginningOf(name, NAME_LENGTH)
