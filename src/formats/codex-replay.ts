/**
 * Where a rollout replays another's history. A fork, or a subagent that was given its parent's context, begins with a copy of the
 * parent's records, token counts included, written anew in one burst: they were paid for in the parent's file. The copy ends where
 * the header says that it does, else where the thread's own first turn begins.
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
  /** `spawned`: another thread started this one, and whether it handed over its history is still to be seen. */
  let state: 'before' | 'spawned' | 'replaying' | 'own' = 'before'
  /** The first ordinal that is the thread's own, where the header states it. */
  let start: number | undefined
  let openedAt: number | undefined
  let lastAt: number | undefined
  let continues = false

  const isAfterGap = (millis: number | undefined): boolean =>
    millis !== undefined &&
    openedAt !== undefined &&
    millis - Math.max(lastAt ?? openedAt, openedAt) > BURST_MS

  const isOver = (line: JsonObject, millis: number | undefined): boolean =>
    isOwnTurn(line, own) ?? isAfterGap(millis)

  /** What comes after the first record, by what that record says, else by the turns and the clock. */
  const next = (line: JsonObject, meta: JsonObject | undefined, millis: number | undefined): typeof state => {
    const ordinal = start === undefined ? undefined : asNumber(line['ordinal'])
    if (start !== undefined && ordinal !== undefined) return ordinal >= start ? 'own' : 'replaying'
    if (state === 'own') return state
    if (meta !== undefined) return own !== undefined && isOther(meta, own) ? 'replaying' : state
    if (state === 'replaying') return isOver(line, millis) ? 'own' : state
    if (isTurnStart(line)) return state === 'spawned' && isOwnTurn(line, own) === false ? 'replaying' : 'own'
    if (state === 'before') return state
    if (isAfterGap(millis)) return 'own'
    // Its rules and its task are written before its first turn; an answer cannot be.
    return isOfTurn(line) ? 'replaying' : state
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
        else if (isSpawned(meta) && !continues) state = 'spawned'
        start = asNumber(meta['subagent_history_start_ordinal'])
        return false
      }
      state = next(line, meta, millis)
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

function isSpawned(meta: JsonObject): boolean {
  return (
    typeof meta['parent_thread_id'] === 'string' ||
    asObject(asObject(meta['source'])?.['subagent']) !== undefined
  )
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

const TURN_EVENTS: ReadonlySet<string> = new Set(['token_count', 'agent_message', 'agent_reasoning'])

/** What only a turn leaves behind: what the model said, what tools returned, what it cost. */
function isOfTurn({ type, payload }: JsonObject): boolean {
  const kind = asString(asObject(payload)?.['type']) ?? ''
  if (type === 'compacted') return true
  if (type === 'event_msg') return TURN_EVENTS.has(kind)
  if (type !== 'response_item') return false
  return kind === 'message' ? asObject(payload)?.['role'] === 'assistant' : true
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
