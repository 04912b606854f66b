/**
 * The sessions that calls go into, found by the name that the client gives them, by what they belong to, or by what was said before.
 * A program may hold any number of conversations: those that nobody has asked for longest are ended, each of which holds a file open.
 */
import { randomUUID } from 'node:crypto'
import type { Session } from '../../transcript/session.ts'
import type { WireRequest } from '../../wire/request.ts'
import type { Recorder } from '../record.ts'
import type { Client } from './client.ts'
import type { Conversation } from './conversation.ts'

export type OpenSession = {
  readonly begun: Promise<Begun>
  /** Calls that are under way: it is not ended meanwhile. */
  calls: number
  /** The last call of it had no answer: the next may be the same again. */
  isFailed: boolean
  /** Why it did not come to its end, where a call of it was not over when recording was. */
  left?: string
}

export type Begun = { readonly recorder: Recorder; readonly conversation: Conversation }

export type Asking = {
  readonly request: WireRequest
  readonly client?: Client
  /** What calls of one session share where their history does not tell: a trace, a thread. The first that is known counts. */
  readonly groups?: readonly string[]
}

export type OpenSessions = {
  of(asking: Asking): OpenSession
  inGroup(names: readonly string[]): OpenSession | undefined
  /** Whose is what is no call: the one of its client's name, else the newest of its agent; of anybody where no client is said. */
  near(client?: Client): OpenSession | undefined
  /** With `failed`, sessions whose calls are all over end as failed. */
  end(failed?: Failed): Promise<readonly Session[]>
}

/** What the program that asked failed with. */
export type Failed = { readonly error: unknown }

type Options = {
  /** `isNamed`: the client says which conversation it is. */
  readonly begin: (client: Client, isNamed: boolean) => Promise<Begun>
  readonly failed: (error: unknown) => void
  readonly most?: number
}

type Held = OpenSession & {
  readonly isNamed: boolean
  readonly agent: string | undefined
  heard?: Conversation
}

/** Open at once; a process has a thousand files, if nobody said otherwise. */
const MOST_OPEN = 256
/** Of groups: those that nobody asks for again are forgotten in time. */
const MOST_GROUPS = 10_000

export function createOpenSessions({ begin, failed, most = MOST_OPEN }: Options): OpenSessions {
  /** In the order of their last call. */
  const sessions = new Map<string, Held>()
  const groups = new Map<string, Held>()
  /** In the order in which they end, whichever the disk is done with first. */
  const ended: Promise<Session | undefined>[] = []

  const end = (held: Held, failure?: Failed): void => {
    const over = held.begun
      .then(({ recorder }) => {
        if (held.left !== undefined) return recorder.interrupt(held.left)
        return failure === undefined ? recorder.end() : recorder.fail(failure.error)
      })
      .catch((error: unknown) => {
        failed(error)
        return undefined
      })
    ended.push(over)
  }
  const start = (name: string, client: Client, isNamed: boolean): Held => {
    const held: Held = {
      isNamed,
      agent: client.agent,
      isFailed: false,
      calls: 0,
      begun: begin(client, isNamed),
    }
    held.begun.then(
      ({ conversation }) => (held.heard = conversation),
      // One that could not be begun is tried again with the next call.
      () => sessions.delete(name),
    )
    return held
  }
  const makeRoom = (besides: Held): void => {
    for (const [name, held] of sessions) {
      if (sessions.size <= most) return
      if (held.calls > 0 || held === besides) continue
      sessions.delete(name)
      end(held)
    }
  }
  const nameOf = (wanted: Held | undefined): string | undefined => {
    for (const [name, held] of sessions) if (held === wanted) return name
    return undefined
  }

  return {
    of({ client = {}, request, groups: shared = [] }) {
      const said = nameIn(client)
      const group = shared.find((one) => groups.has(one))
      const known =
        said ?? nameOf(group === undefined ? goneOn(sessions, request, client) : groups.get(group))
      const name = known ?? randomUUID()
      const held = sessions.get(name) ?? start(name, client, said !== undefined)
      sessions.delete(name)
      sessions.set(name, held)
      makeRoom(held)
      for (const one of shared) {
        groups.set(one, held)
        if (groups.size > MOST_GROUPS) groups.delete(groups.keys().next().value as string)
      }
      return held
    },
    inGroup: (names) => names.map((one) => groups.get(one)).find((one) => one !== undefined),
    near(client) {
      const all = [...sessions.values()]
      if (client === undefined) return all.at(-1)
      return sessions.get(nameIn(client) ?? '') ?? all.findLast(({ agent }) => agent === client.agent)
    },
    async end(failure) {
      for (const held of sessions.values()) end(held, failure)
      sessions.clear()
      groups.clear()
      return (await Promise.all(ended)).filter((session) => session !== undefined)
    },
  }
}

function nameIn({ native }: Client): string | undefined {
  return native && `${native.agent} ${native.sessionId}`
}

/** The session that has heard most of it, among those that have no other name. */
function goneOn(
  sessions: ReadonlyMap<string, Held>,
  request: WireRequest,
  { retry = 0 }: Client,
): Held | undefined {
  let best: { readonly held: Held; readonly overlap: number } | undefined
  for (const held of sessions.values()) {
    if (held.isNamed) continue
    const overlap = held.heard?.overlap(request, retry > 0 || held.isFailed) ?? 0
    if (overlap > (best?.overlap ?? 0)) best = { held, overlap }
  }
  return best?.held
}
