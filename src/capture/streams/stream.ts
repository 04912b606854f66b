/**
 * What agents print while they run, taken to a recorder as it comes. A stream is a fold over its lines: every line becomes an entry, a
 * fact of the session, or, where it is not understood, an event that holds it as it was. The folds are those that read such files.
 */
import type { Fold, StreamEnd } from '../../formats/stream-session.ts'
import type { Json, JsonObject } from '../../transcript/json.ts'
import { isObject } from '../../transcript/json.ts'
import type { Session } from '../../transcript/session.ts'
import type { Identity } from '../identity.ts'
import type { Recorder } from '../record.ts'

export const STREAMS = ['claude-stream-json', 'codex-exec-json', 'gemini-stream-json', 'acp'] as const
export type StreamName = (typeof STREAMS)[number]

export type OpenSession = (identity: Pick<Identity, 'agent' | 'native' | 'version'>) => Promise<Recorder>

export type Stream = {
  take(value: Json): void | Promise<void>
  /** A line that is no JSON, or too long to be held. */
  damaged(what: JsonObject): void
  /** Each session that the stream held, ended. */
  end(): Promise<readonly Session[]>
}

/** Lines that are held until one names the session; they are the first of it. */
const MOST_HELD = 20

export type OneSession = {
  readonly agent: string
  /** The session's own id, where a line says it. */
  readonly nameIn: (line: JsonObject) => string | undefined
  readonly fold: (session: Recorder) => Fold
}

/**
 * A stream of one session, which is opened under its own name, so that whatever else recorded the same conversation is known to
 * have: that a line says it is waited for, within reason.
 */
export function oneSession(open: OpenSession, { agent, nameIn, fold: toFold }: OneSession): Stream {
  let opened: { readonly session: Recorder; readonly fold: Fold } | undefined
  const held: ((to: { readonly session: Recorder; readonly fold: Fold }) => void)[] = []

  const openAs = async (id: string | undefined): Promise<NonNullable<typeof opened>> => {
    const native = id === undefined ? undefined : { agent, sessionId: id }
    const session = await open({ agent, ...(native && { native }) })
    opened = { session, fold: toFold(session) }
    for (const one of held.splice(0)) one(opened)
    return opened
  }
  return {
    async take(value) {
      const put: (typeof held)[number] = ({ session, fold }) =>
        isObject(value) ? fold.take(value) : session.event('unknown', value)
      if (opened !== undefined) return put(opened)
      held.push(put)
      const id = isObject(value) ? nameIn(value) : undefined
      if ((id !== undefined && id !== '') || held.length > MOST_HELD) await openAs(id || undefined)
    },
    damaged(what) {
      if (opened === undefined) held.push(({ session }) => session.event('damage', what))
      else opened.session.event('damage', what)
    },
    async end() {
      const { session, fold } = opened ?? (await openAs(undefined))
      return [await finish(session, fold.end())]
    },
  }
}

export function finish(session: Recorder, { status, error, ...ending }: StreamEnd): Promise<Session> {
  if (status === 'completed') return session.end(ending)
  if (status === 'canceled') return session.cancel(error, ending)
  return status === 'failed' ? session.fail(error, ending) : session.interrupt(error, ending)
}
