/**
 * Any transcript as one journal segment, the same bytes each time. It has no process and no boot, so its writer is called
 * `converted`, and its monotonic times are those the entries state, counted from the first.
 */
import type { FileOperation, Writer } from '../formats/format.ts'
import { isSafeId, uuidFrom } from '../transcript/ids.ts'
import { toMillis } from '../transcript/instant.ts'
import { toJson } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { createLineEncoder, NO_HASH } from './line.ts'
import { toRecordJson } from './record-json.ts'
import type { JournalRecord, SessionChange } from './record.ts'
import { segmentName } from './segment.ts'

const CONVERTED = 'converted'
/** Where a session does not say when it began, nor any entry when it was made. */
const NO_TIME = '1970-01-01T00:00:00.000Z'

export const writeJournal: Writer = {
  root: '.hansard',
  ignored: () => 'sessions',
  begin(session, context) {
    const folder = `sessions/${isSafeId(session.id) ? session.id : uuidFrom('journal', session.id)}`
    const writer = freeName((name) => context.taken(`${folder}/${segmentName(name)}`))
    const path = `${folder}/${segmentName(writer)}`
    const encode = createTextEncoder()
    const at = session.startedAt ?? NO_TIME
    if (session.startedAt === undefined) context.filled(undefined, 'at')
    let entries = 0
    let lines = 0
    const append = (record: JournalRecord, time: string | undefined): readonly FileOperation[] => {
      lines += 1
      const entry = record.t === 'entry' ? record.entry : undefined
      const json = toRecordJson(record, () => context.lost(entry, 'content that no line can hold as JSON'))
      return [{ op: 'append', path, text: encode(json, time) }]
    }
    return {
      start() {
        const by = `${context.version} convert`
        return append({ t: 'session', session, writer, boot: CONVERTED, by, at }, session.startedAt)
      },
      entry(given) {
        entries += 1
        const { origin: _, ...entry } = given
        return append({ t: 'entry', entry }, entry.at)
      },
      end(ended) {
        const counts = { entries, lines }
        const change = changes(session, ended)
        return append({ t: 'end', session: change, counts, at: ended.endedAt ?? at }, ended.endedAt)
      },
    }
  },
}

function freeName(isTaken: (name: string) => boolean): string {
  let name = CONVERTED
  for (let n = 1; isTaken(name); n += 1) name = `${CONVERTED}.${n}`
  return name
}

/** What the end says otherwise than the start did. */
function changes(before: Session, after: Session): SessionChange {
  const said = new Map<string, unknown>(Object.entries(before))
  const changed: [string, unknown][] = Object.entries(after).filter(
    ([key, value]) => value !== undefined && (!said.has(key) || toJson(said.get(key)) !== toJson(value)),
  )
  const now = new Map(Object.entries(after))
  for (const key of said.keys()) if (now.get(key) === undefined) changed.push([key, null])
  return Object.fromEntries(changed)
}

function createTextEncoder(): (json: string, time: string | undefined) => string {
  const encoder = createLineEncoder()
  let seq = 0
  let p = NO_HASH
  let mt = 0
  let first: number | undefined
  return (json, time) => {
    if (time !== undefined) {
      const micros = toMillis(time) * 1000
      first ??= micros
      mt = Math.max(mt, micros - first)
    }
    const length = encoder.encode(json, { seq, mt, p })
    seq += 1
    p = encoder.hash()
    return encoder.bytes().toString('utf8', 0, length)
  }
}
