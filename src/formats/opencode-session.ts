/** What OpenCode says about a whole session: its own record, and what its messages add as they pass. */
import { uuidFrom } from '../transcript/ids.ts'
import { asObject, asString, rest, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { costOf, toDollars } from './dollars.ts'
import type { IdSet } from './id-set.ts'
import { instantOf } from './opencode-part.ts'
import { asId } from './placing.ts'

export type SessionKnown = {
  /** Whose session it is: OpenCode's, or a fork's that kept its schema. */
  readonly agent: string
  /** The session's own record, where it could be read. */
  readonly info: JsonObject
  /** OpenCode's id for it, from the record or from where its messages lie. */
  readonly sessionId: string | undefined
  /** Tells sessions apart that have no id, or the same one. */
  readonly path: string
  readonly taken: Pick<IdSet, 'has'>
  /** The call that started it, where that was read. */
  readonly citation?: string
}

export type SessionFold = {
  message(info: JsonObject): void
  session(): Session
}

export function createSessionFold({
  agent,
  info,
  sessionId,
  path,
  taken,
  citation,
}: SessionKnown): SessionFold {
  const own = uuidFrom(agent, sessionId ?? path)
  const id = taken.has(own) ? uuidFrom(agent, sessionId ?? '', path) : own
  const parent = parentOf(agent, info, citation)
  const title = asString(info['title'])
  const version = asString(info['version'])
  const more = rest(info, KNOWN)
  let cwd = asString(info['directory'])
  let model: string | undefined
  let startedAt = instantOf(info['time'], 'created')
  let endedAt = instantOf(info['time'], 'updated')
  let cost: number | undefined
  return {
    message(message) {
      const { role, path: where, time, cost: stated } = message
      cwd ??= asString(asObject(where)?.['cwd']) ?? asString(where)
      if (role === 'assistant') {
        model ??= asString(message['modelID'])
        const own = costOf(stated)
        if (own !== undefined) cost = (cost ?? 0) + own
      }
      const createdAt = instantOf(time, 'created')
      const lastAt = instantOf(time, 'completed') ?? createdAt
      if (createdAt !== undefined && (startedAt === undefined || createdAt < startedAt)) startedAt = createdAt
      if (lastAt !== undefined && (endedAt === undefined || lastAt > endedAt)) endedAt = lastAt
    },
    session() {
      return {
        id,
        ...(sessionId !== undefined && { native: { agent, sessionId } }),
        agent,
        ...(title !== undefined && title !== '' && { title }),
        ...(model !== undefined && { model }),
        ...(cwd !== undefined && cwd !== '' && { cwd }),
        ...(version !== undefined && version !== '' && { version }),
        ...(startedAt !== undefined && { startedAt }),
        ...(endedAt !== undefined && { endedAt }),
        // Nothing is written when a session is left: one that stopped reads like one that is done.
        status: 'completed',
        ...(parent !== undefined && { parent }),
        ...(cost !== undefined && { reportedCost: toDollars(cost) }),
        ...(more !== undefined && { metadata: { [agent]: more } }),
      }
    },
  }
}

const KNOWN: ReadonlySet<string> = new Set(['id', 'title', 'version', 'directory', 'parentID', 'time'])

/** A session that another one started names it; one that was forked says so apart from that, where it says so at all. */
function parentOf(agent: string, info: JsonObject, citation: string | undefined): Session['parent'] {
  const starter = asId(info['parentID'])
  if (starter !== undefined)
    return {
      session: uuidFrom(agent, starter),
      ...(citation !== undefined && { citation }),
      relation: 'subagent',
    }
  const forked = asId(asObject(info['forkedFrom'])?.['sessionID'])
  return forked === undefined ? undefined : { session: uuidFrom(agent, forked), relation: 'fork' }
}
