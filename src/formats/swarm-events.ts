/** A run's `events.jsonl`: a session of its own, each record an event under its own kind, whole. */
import { PRIMARY } from '../transcript/entry.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asObject, asString, type Json } from '../transcript/json.ts'
import { readRecords, type JsonRecord } from '../transcript/records.ts'
import type { Session, Status } from '../transcript/session.ts'
import type { SourceFile } from '../transcript/source.ts'
import type { ReadItem } from './format.ts'
import type { LineEntry } from './swarm-lines.ts'
import { createPlacer } from './swarm-place.ts'

export async function* readEvents(file: SourceFile): AsyncGenerator<readonly ReadItem[]> {
  const { place, oversized } = createPlacer()
  let session: Session | undefined
  // Not in the frame that waits for the next: it would hold on to the last record meanwhile.
  const toItems = (record: JsonRecord): readonly ReadItem[] => {
    const isFirst = session === undefined
    session = foldEvent(session, record.value, file)
    const entry = place(toRunEvent(record.value), file.path, record)
    return isFirst
      ? [
          { type: 'session', session },
          { type: 'entry', entry },
        ]
      : [{ type: 'entry', entry }]
  }
  for await (const { records, damage } of readRecords(file)) {
    const items = records.flatMap(toItems)
    for (const one of damage) {
      items.push({ type: 'damage', damage: one })
      if (one.kind === 'too-large' && session !== undefined) {
        items.push({ type: 'entry', entry: oversized(one) })
      }
    }
    yield items
  }
  if (session !== undefined) yield [{ type: 'session', session }]
}

function toRunEvent(raw: Json): LineEntry {
  const event = asObject(raw)
  const record = asString(event?.['kind'])
  const at = parseInstant(asString(event?.['ts']))
  return {
    source: PRIMARY,
    kind: 'event',
    ...(at !== undefined && { at }),
    blocks: [{ type: 'unknown', raw }],
    metadata: { ...(record !== undefined && { record }), swarm: { in: 'events' } },
  }
}

const ENDS: ReadonlyMap<string, Status> = new Map([
  ['succeeded', 'completed'],
  ['completed', 'completed'],
  ['failed', 'failed'],
  ['canceled', 'canceled'],
  ['cancelled', 'canceled'],
])

/** A run whose events do not say that it ended was interrupted, as far as anyone knows. */
function foldEvent(session: Session | undefined, value: Json, file: SourceFile): Session {
  const event = asObject(value)
  const run = asString(event?.['run_id'])
  const { at } = toRunEvent(value)
  const opened: Session = session ?? {
    id: uuidFrom('swarm', 'events', run ?? '', file.path),
    ...(run !== undefined && { run: { id: run } }),
    ...(at !== undefined && { startedAt: at }),
    status: 'interrupted',
  }
  const end = endOf(asString(event?.['kind']), asString(asObject(event?.['payload'])?.['status']))
  const error = end === undefined ? undefined : asString(asObject(event?.['payload'])?.['error'])
  return {
    ...opened,
    ...(at !== undefined && { endedAt: at }),
    ...(end !== undefined && { status: end }),
    ...(error !== undefined && { error }),
  }
}

function endOf(kind: string | undefined, status: string | undefined): Status | undefined {
  if (kind === 'run_canceled') return 'canceled'
  return kind === 'run_completed' ? ENDS.get(status ?? '') : undefined
}
