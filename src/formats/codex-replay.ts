/**
 * Where a rollout replays another's history. A fork, or a subagent that was given its parent's context, begins with a copy of the
 * parent's records, token counts included, written anew in one burst: they were paid for in the parent's file. The copy ends where
 * the thread's own first turn begins.
 */
import { toMillis } from '../transcript/instant.ts'
import { asNumber, asObject, asString, type JsonObject } from '../transcript/json.ts'
import { isUuid } from '../transcript/ids.ts'

export type ReplayFold = {
  /** True for a record that is a copy of another file's. In the order of the file. */
  observe(line: JsonObject, at: string | undefined): boolean
  /** The thread's history is in another file and not copied into this one. */
  readonly continues: boolean
}

/** Records of one burst are written within this of each other, in milliseconds. */
const BURST_MS = 1000

export function createReplayFold(): ReplayFold {
  let own: JsonObject | undefined
  let state: 'before' | 'replaying' | 'own' = 'before'
  let openedAt: number | undefined
  let lastAt: number | undefined
  let continues = false

  const isOver = (line: JsonObject, millis: number | undefined): boolean => {
    const start = asNumber(own?.['subagent_history_start_ordinal'])
    const ordinal = asNumber(line['ordinal'])
    if (start !== undefined && ordinal !== undefined) return ordinal >= start
    const begun = isOwnTurn(line, own)
    if (begun !== undefined) return begun
    return (
      millis !== undefined &&
      openedAt !== undefined &&
      millis - Math.max(lastAt ?? openedAt, openedAt) > BURST_MS
    )
  }

  return {
    observe(line, at) {
      const millis = at === undefined ? undefined : toMillis(at)
      const meta = line['type'] === 'session_meta' ? asObject(line['payload']) : undefined
      if (own === undefined) {
        if (meta === undefined) return false
        own = meta
        openedAt = millis
        lastAt = millis
        continues = asObject(meta['history_base']) !== undefined
        // A fork's history is there even when the parent's own first record is not copied.
        if (typeof meta['forked_from_id'] === 'string' && !continues) state = 'replaying'
        return false
      }
      if (state === 'before' && meta !== undefined && isOther(meta, own)) state = 'replaying'
      else if (state === 'replaying' && meta === undefined && isOver(line, millis)) state = 'own'
      else if (state === 'before' && isTurnStart(line)) state = 'own'
      if (millis !== undefined) lastAt = millis
      return threadOf(line) === undefined ? state === 'replaying' : threadOf(line) !== own['id']
    },
    get continues() {
      return continues
    },
  }
}

/** The thread whose response a usage record counts: says for itself whether it is a copy. */
function threadOf({ type, payload }: JsonObject): string | undefined {
  return type === 'token_usage_record' ? asString(asObject(payload)?.['thread_id']) : undefined
}

/** The session_meta of another thread. */
function isOther(meta: JsonObject, own: JsonObject): boolean {
  return typeof meta['id'] === 'string' && meta['id'] !== own['id']
}

const STARTS: ReadonlySet<string> = new Set(['task_started', 'turn_started'])

function isTurnStart(line: JsonObject): boolean {
  if (line['type'] === 'turn_context') return true
  return line['type'] === 'event_msg' && STARTS.has(asString(asObject(line['payload'])?.['type']) ?? '')
}

/**
 * Whether a turn began in this thread or is the parent's. Both have UUIDs that begin with their time (version 7): a turn that is
 * older than its thread was copied into it. Where they have not, the second that the turn says it started in tells. Undefined:
 * the record does not say.
 */
function isOwnTurn(line: JsonObject, own: JsonObject | undefined): boolean | undefined {
  if (!isTurnStart(line)) return undefined
  const payload = asObject(line['payload'])
  const turn = timeOf(asString(payload?.['turn_id']))
  const thread = timeOf(asString(own?.['id']))
  if (turn !== undefined && thread !== undefined) return turn >= thread
  const started = asNumber(payload?.['started_at'])
  const created = asString(own?.['timestamp'])
  if (started === undefined || created === undefined) return undefined
  const seconds = Math.floor(toMillis(created) / 1000)
  return Number.isNaN(seconds) ? undefined : started >= seconds
}

/** The 48 bits of milliseconds in a UUID of version 7, as text that sorts by time. */
function timeOf(uuid: string | undefined): string | undefined {
  return uuid !== undefined && isUuid(uuid) && uuid[14] === '7' ? uuid.slice(0, 13).toLowerCase() : undefined
}
