/**
 * Which fields of an entry and a session are not looked at as any JSON: ids that others pair by stay exact, names that files are
 * called by stay names, and what is random by nature is only compared with known values. Every other string, of fields that we
 * know and of those that we do not, is looked at by all rules.
 */
import { PRIMARY, ROLES, type Entry } from '../transcript/entry.ts'
import { isObject, type Json } from '../transcript/json.ts'
import { STATUSES, type Session } from '../transcript/session.ts'
import { mapItems, walk, type Fields, type Way, type Ways } from './walk.ts'

export function redactEntry(entry: Entry, ways: Ways): Entry {
  // Fields that we know keep their types: a text stays a text, an object an object.
  return walk(entry, undefined, ways, 0, ENTRY) as unknown as Entry
}

export function redactSession(session: Session, ways: Ways): Session {
  return walk(session, undefined, ways, 0, SESSION) as unknown as Session
}

/** A way for texts; what should be one and is not is looked at as any JSON. */
const forText =
  (redact: (text: string, ways: Ways) => string): Way =>
  (value, ways, depth) =>
    typeof value === 'string' ? redact(value, ways) : walk(value, undefined, ways, depth)

/** Ids that entries, calls and results are paired by. */
const asItIs = forText((text) => text)
/** Signed, encrypted or an image: random by nature, and worthless when changed. */
const opaque = forText((text, { exact }) => exact(text))
const safeId = forText((text, { id }) => id(text))
/** A word of ours cannot be a secret, whatever a caller calls one. */
const wordOf = (...words: readonly string[]): Way => {
  const ours = new Set(words)
  return forText((text, ways) => (ours.has(text) ? text : ways.text(text)))
}
const INSTANT = /^\d{4}-\d\d-\d\d[T ][\d:.,]{5,18} ?(?:Z|[+-][\d:]{4,5}Z?)?$/i
const instant = forText((text, ways) => (INSTANT.test(text) ? text : ways.text(text)))
const SUBAGENT = 'subagent:'
const source = forText((text, { id }) => {
  if (text === PRIMARY) return text
  return text.startsWith(SUBAGENT) ? SUBAGENT + id(text.slice(SUBAGENT.length)) : id(text)
})

/** A record within a record. */
const record =
  (name: string, fields: Fields): Way =>
  (value, ways, depth) =>
    walk(value, name, ways, depth, fields)

const names: Way = (value, ways, depth) => {
  if (!isObject(value)) return walk(value, undefined, ways, depth)
  const fields = new Map(Object.keys(value).map((format) => [format, safeId]))
  return walk(value, undefined, ways, depth, fields)
}

/** Blocks of types that are not ours are any JSON, and kept: a reader makes something of them. */
const blocks: Way = (value, ways, depth) =>
  Array.isArray(value)
    ? mapItems(value as readonly Json[], (item) => block(item, ways, depth + 1))
    : walk(value, undefined, ways, depth)

const block: Way = (value, ways, depth) => {
  if (value === undefined) return null
  const type = isObject(value) ? value['type'] : undefined
  return walk(value, undefined, ways, depth, typeof type === 'string' ? BLOCKS.get(type) : undefined)
}

const isOurs: readonly [string, Way] = ['type', asItIs]
const BLOCKS: ReadonlyMap<string, Fields> = new Map<string, Fields>([
  ['text', new Map([isOurs])],
  ['thinking', new Map([isOurs, ['signature', opaque], ['redacted', opaque]])],
  ['tool-call', new Map([isOurs, ['callId', asItIs]])],
  ['tool-result', new Map([isOurs, ['callId', asItIs], ['output', blocks]])],
  ['image', new Map([isOurs, ['data', opaque]])],
  ['error', new Map([isOurs])],
  ['unknown', new Map([isOurs])],
])

const USAGE: Fields = new Map([['quality', wordOf('reported', 'partial', 'estimated', 'unavailable')]])

const ENTRY: Fields = new Map([
  ['id', asItIs],
  ['parent', asItIs],
  ['source', source],
  ['kind', wordOf('message', 'event')],
  ['role', wordOf(...ROLES)],
  ['at', instant],
  ['blocks', blocks],
  ['usage', record('usage', USAGE)],
  [
    'call',
    record(
      'call',
      new Map([
        ['requestId', asItIs],
        ['messageId', asItIs],
      ]),
    ),
  ],
  ['metadata', record('metadata', new Map([['parentSource', source]]))],
])

const SESSION: Fields = new Map([
  ['id', asItIs],
  ['status', wordOf(...STATUSES)],
  ['startedAt', instant],
  ['endedAt', instant],
  ['names', names],
  [
    'run',
    record('run', new Map(['id', 'flow', 'step', 'agentKey', 'engine'].map((key) => [key, safeId] as const))),
  ],
  ['thread', safeId],
  ['native', record('native', new Map([['sessionId', safeId]]))],
  [
    'parent',
    record(
      'parent',
      new Map([
        ['session', safeId],
        ['citation', safeId],
      ]),
    ),
  ],
  ['reportedUsage', record('usage', USAGE)],
])
