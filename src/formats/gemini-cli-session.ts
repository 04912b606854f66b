/** What Gemini CLI says about a whole session, gathered from its header, the patches to it, and the messages as they pass. */
import { uuidFrom } from '../transcript/ids.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asString, rest, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { asId } from './placing.ts'

export const ID = 'gemini-cli'

export type GeminiFacts = {
  /** The header with every patch to it, the last of a key counting; a resumed session began when its first header says. */
  readonly header: JsonObject
  readonly sessionId: string | undefined
  readonly model: string | undefined
  readonly firstAt: string | undefined
  readonly lastAt: string | undefined
}

export type GeminiFold = {
  patch(header: JsonObject): void
  message(message: JsonObject): void
  facts(): GeminiFacts
}

export function createGeminiFold(): GeminiFold {
  let header: JsonObject = {}
  let sessionId: string | undefined
  let model: string | undefined
  let firstAt: string | undefined
  let lastAt: string | undefined
  return {
    patch(more) {
      const { messages: _, ...said } = more
      // A copied log may name its own session later; the first name is the file's.
      sessionId ??= asId(said['sessionId'])
      const { startTime } = header
      header = { ...header, ...said, ...(parseInstant(startTime) && { startTime }) }
    },
    message({ model: named, timestamp }) {
      model ??= asString(named)
      const at = parseInstant(timestamp)
      if (at === undefined) return
      if (firstAt === undefined || at < firstAt) firstAt = at
      if (lastAt === undefined || at > lastAt) lastAt = at
    },
    facts: () => ({ header, sessionId, model, firstAt, lastAt }),
  }
}

type Known = {
  /** Tells files apart that name no session, or the same one. */
  readonly path: string
  readonly taken: ReadonlySet<string>
  readonly cwd: string | undefined
  /** The session whose folder a subagent's file lies in: the only place that says so. */
  readonly parent: string | undefined
  /** The call that started this session, where the one that made it was read before. */
  readonly startedBy?: Session['parent'] | undefined
}

export function toGeminiSession(facts: GeminiFacts, { path, taken, cwd, parent, startedBy }: Known): Session {
  const { header, sessionId, model, firstAt, lastAt } = facts
  const id = uuidFrom(ID, sessionId ?? path)
  const title = asString(header['summary'])
  const startedAt = parseInstant(header['startTime']) ?? firstAt
  const endedAt = later(parseInstant(header['lastUpdated']), lastAt)
  const more = rest(header, KNOWN)
  const isSubagent = header['kind'] === 'subagent' && parent !== undefined && parent !== sessionId
  return {
    id: taken.has(id) ? uuidFrom(ID, sessionId ?? '', path) : id,
    ...(sessionId !== undefined && { native: { agent: ID, sessionId } }),
    agent: ID,
    ...(title !== undefined && title !== '' && { title }),
    ...(model !== undefined && { model }),
    ...(cwd !== undefined && { cwd }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    // A log has no last word: a session that stopped reads like one that is done.
    status: 'completed',
    ...(isSubagent && { parent: { session: uuidFrom(ID, parent), relation: 'subagent' } }),
    ...(startedBy !== undefined && { parent: startedBy }),
    ...(more !== undefined && { metadata: { [ID]: more } }),
  }
}

const KNOWN: ReadonlySet<string> = new Set(['sessionId', 'startTime', 'lastUpdated', 'summary'])

function later(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a > b ? a : b
}
