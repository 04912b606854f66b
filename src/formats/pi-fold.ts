/**
 * The lines of a pi session as entries, and what they say together about the session. Ids are unique though branches are copied; a
 * provider's id that comes again is another call's, for some servers give the same one each time.
 */
import { PRIMARY } from '../transcript/entry.ts'
import { isUuid, uuidFrom } from '../transcript/ids.ts'
import {
  asNumber,
  asObject,
  asString,
  isObject,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { costOf, toDollars } from './dollars.ts'
import { createRecentIds } from './id-set.ts'
import { createLastTurn } from './last-turn.ts'
import { usageOf } from './pi-content.ts'
import { MADE, fromPiLine, type PiEntry } from './pi-lines.ts'
import { fromPiUsage } from './pi-usage.ts'

export const PI = 'pi'

export type PiFold = {
  next(line: Json): PiEntry
  /** An entry that is no line's: its place is taken. */
  skip(): { readonly id: string; readonly sequence: number }
  /** As the header names it. */
  readonly sessionId: string | undefined
  /** Of the file's layout, `3`: pi's own is not in it. */
  readonly version: string | undefined
  current(): Omit<Session, 'id' | 'native'>
}

/** The id that a session of pi's has here. */
export const toSessionId = (sessionId: string): string => uuidFrom(PI, sessionId)

export function createPiFold(): PiFold {
  const seen = createRecentIds()
  const calls = createRecentIds()
  /** The first time that a provider's id came, with that time: at the same time it is the same call. */
  const reports = createRecentIds()
  const lastTurn = createLastTurn()
  let sequence = 0
  let header: JsonObject | undefined
  let model: string | undefined
  /** The model in use, and who provides it: calls for a summary do not name theirs. */
  let current: { readonly model?: string; readonly provider?: string } = {}
  let title: string | undefined
  let cost: number | undefined
  let startedAt: string | undefined
  let endedAt: string | undefined

  /** The line's own id where it is the first to have it; any other is told by its place. */
  const toId = (stated: Json | undefined): string => {
    let id = typeof stated === 'string' && stated !== '' ? stated : `${PRIMARY}/${sequence}`
    if (seen.has(id)) id = `${PRIMARY}/${sequence}`
    while (seen.has(id)) id += '~'
    seen.add(id)
    return id
  }

  /** The same wherever the line was copied to; undefined for what is no answer. */
  const toCallId = (line: JsonObject): string | undefined => {
    const message = asObject(line['message'])
    const usage = message && usageOf(message)
    if (message?.['role'] !== 'assistant' || usage === undefined) return undefined
    const when = asNumber(message['timestamp']) ?? asString(line['timestamp'])
    const stated = asString(message['responseId']) || undefined
    if (stated === undefined || stated.startsWith(MADE)) {
      const { provider, model: named } = message
      if (when === undefined) return undefined
      return `${MADE}${uuidFrom(toJson([when, provider ?? null, named ?? null, stated ?? null, usage]))}`
    }
    const report = `${stated}\n${when}`
    if (reports.has(report)) return stated
    if (calls.has(stated)) return `${MADE}${uuidFrom(report)}`
    calls.add(stated)
    reports.add(report)
    return stated
  }

  /** A call that is no answer of the agent's: for a summary, by a tool, to keep a cache warm. */
  const asideOf = (line: JsonObject): Partial<PiEntry> => {
    const message = asObject(line['message'])
    const raw = usageOf(message ?? line)
    if (raw === undefined || !ASIDE.has((message?.['role'] ?? line['type']) as Json)) return {}
    const named = asString(line['model']) || current.model
    const provider = asString(line['provider']) || current.provider
    const key = uuidFrom(toJson([line['timestamp'] ?? null, line['id'] ?? null, raw]))
    return {
      usage: fromPiUsage(raw, undefined),
      ...(named !== undefined && { model: named }),
      call: { ...(provider !== undefined && { provider }), messageId: `${MADE}${key}` },
    }
  }

  const observe = (line: JsonObject, entry: PiEntry): void => {
    const { at, model: named, call } = entry
    lastTurn.see(entry)
    if (named !== undefined && entry.role === 'assistant')
      current = { model: named, ...(call?.provider !== undefined && { provider: call.provider }) }
    else if (line['type'] === 'model_change') current = changeOf(line)
    if (at !== undefined) {
      if (startedAt === undefined || at < startedAt) startedAt = at
      if (endedAt === undefined || at > endedAt) endedAt = at
    }
    model ??= named
    if (line['type'] === 'session') header ??= line
    else if (line['type'] === 'session_info') title = asString(line['name']) || title
    const raw = usageOf(asObject(line['message']) ?? line)
    const stated = costOf(asObject(raw?.['cost'])?.['total'])
    if (stated !== undefined) cost = (cost ?? 0) + stated
  }

  return {
    next(line) {
      const isHeader = isObject(line) && line['type'] === 'session'
      // The header's id is the session's, not an entry's.
      const id = toId(isObject(line) && !isHeader ? line['id'] : undefined)
      const place = { id, source: PRIMARY, sequence }
      const entry = fromPiLine(line, place, isObject(line) ? toCallId(line) : undefined)
      sequence += 1
      if (isObject(line)) observe(line, Object.assign(entry, asideOf(line)))
      return entry
    },
    skip() {
      const place = { id: toId(undefined), sequence }
      sequence += 1
      return place
    },
    get sessionId() {
      return asString(header?.['id']) || undefined
    },
    get version() {
      const version = asNumber(header?.['version'])
      return version === undefined ? undefined : String(version)
    },
    current() {
      const cwd = asString(header?.['cwd']) || undefined
      const named = model ?? (asString(header?.['modelId']) || undefined)
      const parent = parentOf(header)
      return {
        agent: PI,
        ...(title !== undefined && { title }),
        ...(named !== undefined && { model: named }),
        ...(cwd !== undefined && { cwd }),
        ...(parent !== undefined && { parent: { session: toSessionId(parent), relation: 'fork' } }),
        ...(startedAt !== undefined && { startedAt }),
        ...(endedAt !== undefined && { endedAt }),
        ...(cost !== undefined && { reportedCost: toDollars(cost) }),
        // A log has no last word: a session that stopped reads like one that is done.
        status: 'completed',
        ...lastTurn.facts(),
      }
    },
  }
}

/** Lines, and roles of messages, whose usage is that of a call of their own. */
const ASIDE: ReadonlySet<Json> = new Set(['usage', 'compaction', 'branch_summary', 'toolResult'])

function changeOf(line: JsonObject): { readonly model?: string; readonly provider?: string } {
  const model = asString(line['modelId']) ?? asString(line['model'])
  const provider = asString(line['provider'])
  return { ...(model !== undefined && { model }), ...(provider !== undefined && { provider }) }
}

/** The session that this one was branched from: both versions name its file, `<time>_<uuid>.jsonl`. */
function parentOf(header: JsonObject | undefined): string | undefined {
  const path = asString(header?.['parentSession']) ?? asString(header?.['branchedFrom'])
  const name = path
    ?.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
    .replace(/\.jsonl$/, '')
  const uuid = name?.slice(-36)
  return uuid !== undefined && isUuid(uuid) ? uuid : undefined
}
