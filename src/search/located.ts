/** Where an entry lies, as the index knows it, and whether one that was read there is the one that was indexed. */
import type { Entry } from '../transcript/entry.ts'
import { facetsOf, markOfTexts } from './doc-facts.ts'
import { identityOfOwn, idOfPlace } from './entry-identity.ts'
import { textsOf } from './match-texts.ts'
import type { ListedUnit } from './unit-list.ts'

/** Where an entry lies and how it is told from others there. */
export type Located = {
  readonly unit: ListedUnit
  /** The session's key. */
  readonly key: string
  readonly source: string
  /** In the unit's own count. */
  readonly sequence: number
  /** Relative to the unit's place; undefined when the entry names none. */
  readonly file: string | undefined
  readonly version: number | undefined
  readonly byteOffset: number
  readonly byteLength: number
  readonly identity: bigint
  readonly mark: number
}

/** The id under which an entry is the one that was indexed. */
export function idAsIndexed(entry: Pick<Entry, 'id'>, located: Located): string | undefined {
  const { source, identity } = located
  if (identityOfOwn({ source, id: entry.id }) === identity) return entry.id
  return idOfPlace(identity, located)
}

/** The entry under the name it has among the others, if it says what was indexed. */
export function asIndexed(entry: Entry, located: Located): Entry | undefined {
  const { source, sequence, mark, file, version, byteOffset, byteLength } = located
  const id = idAsIndexed(entry, located)
  if (id === undefined) return undefined
  const { origin } = entry
  const named: Entry = {
    ...entry,
    id,
    source,
    sequence,
    ...(origin !== undefined && {
      origin: {
        ...origin,
        file: file ?? origin.file,
        byteOffset,
        byteLength,
        ...(version !== undefined && { version }),
      },
    }),
  }
  const texts = textsOf(named, located.unit.titles.get(located.key))
  return markOfTexts(texts, facetsOf(named)) === mark ? named : undefined
}
