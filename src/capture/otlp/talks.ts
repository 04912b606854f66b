/**
 * The sessions that spans go into: by the conversation that they name, else by their trace, else by the history that they repeat. A
 * session that nobody has told of for a while is ended; what comes later goes on with it in another recording, under the same name.
 */
import { asString } from '../../transcript/json.ts'
import type { Session } from '../../transcript/session.ts'
import type { OtelWho } from '../../wire/otel.ts'
import type { Attributes } from '../../wire/otlp.ts'
import type { RequestMessage } from '../../wire/request.ts'
import { record, type Recorder, type RecordOptions } from '../record.ts'
import { isTrace, type Earlier } from './heard-before.ts'
import { createVoices, type Voices } from './voices.ts'

/** One conversation, as spans tell of it. */
export type Talk = {
  readonly voices: Voices
  /** What was told of it before this process began. */
  readonly before?: Pick<Earlier, 'spans' | 'calls'>
  /** When something of it last happened. */
  lastAt?: string
  /** Begins a recording where none is open. */
  recorder(at: string | undefined): Promise<Recorder>
}

export type Belonging = {
  readonly traceId?: string
  readonly who: OtelWho
  readonly resource: Attributes
}

export type Talks = {
  of(belonging: Belonging, messages: readonly RequestMessage[]): Talk
  /** The one that is there already. */
  known(belonging: Belonging): Talk | undefined
  /** One that was recorded before this process began. */
  adopt(earlier: Earlier): void
  /** Ends recordings of which nothing was heard since then; milliseconds since 1970. */
  endSilent(since: number): void
  end(): Promise<readonly Session[]>
}

export type TalkOptions = Omit<RecordOptions, 'native' | 'model' | 'version' | 'cwd' | 'startedAt'> & {
  readonly now?: () => number
}

/** Recordings open at once, each of which holds a file open; and conversations that are remembered. */
const MOST_OPEN = 256
const MOST_TALKS = 2000
const MOST_GROUPS = 20_000

type Held = Talk & { open?: Promise<Recorder>; heardAt: number; readonly hasName: boolean }

export function createTalks(options: TalkOptions = {}): Talks {
  const { now = Date.now } = options
  /** In the order in which they were last told of. */
  const talks = new Set<Held>()
  const groups = new Map<string, Held>()
  const ending = new Set<Promise<Session | undefined>>()
  const ended: Session[] = []

  const end = (talk: Held): void => {
    const over = talk.open
      ?.then((recorder) => recorder.end(talk.lastAt === undefined ? {} : { at: talk.lastAt }))
      .catch(() => undefined)
    delete talk.open
    if (over === undefined) return
    ending.add(over)
    void over.then((session) => {
      ending.delete(over)
      if (session !== undefined) ended.push(session)
    })
  }
  const begin = (
    identity: Identity,
    { hasName, before }: { readonly hasName: boolean; readonly before?: Earlier },
  ): Held => {
    const talk: Held = {
      voices: before?.voices ?? createVoices(),
      ...(before && { before }),
      heardAt: now(),
      hasName,
      recorder(at) {
        talk.open ??= record({
          capture: { subagents: 'all' },
          ...options,
          ...identity,
          cwd: null,
          ...(at !== undefined && { startedAt: at }),
        })
        const { open } = talk
        // One that could not be begun is tried again with the next span.
        open.catch(() => delete talk.open)
        return open
      },
    }
    return talk
  }
  const makeRoom = (besides: Held): void => {
    let open = 0
    for (const talk of [...talks].toReversed()) {
      if (talk.open !== undefined) open += 1
      if (open > MOST_OPEN && talk !== besides) end(talk)
    }
    for (const talk of talks) {
      if (talks.size <= MOST_TALKS) break
      if (talk.open === undefined && talk !== besides) talks.delete(talk)
    }
  }
  const find = (belonging: Belonging): Held | undefined => {
    const found = groupsOf(belonging)
      .map((group) => groups.get(group))
      .find((talk) => talk !== undefined)
    return found !== undefined && talks.has(found) ? found : undefined
  }
  /** Who names no conversation may still repeat one. */
  const goneOn = ({ who }: Belonging, messages: readonly RequestMessage[]): Held | undefined => {
    if (who.conversation !== undefined) return undefined
    let best: { readonly talk: Held; readonly overlap: number } | undefined
    for (const talk of talks) {
      if (talk.hasName) continue
      const overlap = talk.voices.overlap(messages)
      if (overlap > (best?.overlap ?? 0)) best = { talk, overlap }
    }
    return best?.talk
  }
  return {
    known: find,
    adopt(earlier) {
      const { native, version, calls } = earlier
      const hasName = !isTrace(native.sessionId)
      const identity = { native, agent: native.agent, ...(version !== undefined && { version }) }
      const talk = begin(identity, { hasName, before: earlier })
      talks.add(talk)
      const traces = calls.map(({ trace }) => `trace ${trace}`)
      const name = hasName ? conversationOf(native.agent, native.sessionId) : `trace ${native.sessionId}`
      for (const group of [name, ...traces]) if (!groups.has(group)) groups.set(group, talk)
    },
    of(belonging, messages) {
      const hasName = belonging.who.conversation !== undefined
      const talk = find(belonging) ?? goneOn(belonging, messages) ?? begin(identityOf(belonging), { hasName })
      talk.heardAt = now()
      talks.delete(talk)
      talks.add(talk)
      for (const group of groupsOf(belonging)) {
        groups.set(group, talk)
        if (groups.size > MOST_GROUPS) groups.delete(groups.keys().next().value as string)
      }
      makeRoom(talk)
      return talk
    },
    endSilent(since) {
      for (const talk of talks) if (talk.heardAt < since) end(talk)
    },
    async end() {
      for (const talk of talks) end(talk)
      await Promise.all(ending)
      return ended
    },
  }
}

function groupsOf({ traceId, who, resource }: Belonging): readonly string[] {
  return [
    ...(who.conversation === undefined ? [] : [conversationOf(agentOf(resource), who.conversation)]),
    ...(traceId === undefined ? [] : [`trace ${traceId}`]),
  ]
}

const conversationOf = (agent: string, name: string): string => `conversation ${agent} ${name}`

type Identity = Pick<RecordOptions, 'native' | 'agent' | 'version'>

/** Under this name all recordings of the conversation are one session, whoever made them. */
export function identityOf(belonging: Belonging): Identity {
  const { traceId, who, resource } = belonging
  const agent = agentOf(resource)
  const version = asString(resource.get('service.version'))
  const sessionId = who.conversation ?? traceId
  return {
    agent,
    ...(version !== undefined && version !== '' && { version }),
    ...(sessionId !== undefined && ID.test(sessionId) && { native: { agent, sessionId } }),
  }
}

const ID = /^[\w.:@+=/-]{1,200}$/

/** Agents whose own logs go by another name than their service does. */
const SERVICES: ReadonlyMap<string, string> = new Map([
  ['codex_cli_rs', 'codex'],
  ['codex_exec', 'codex'],
  ['codex-cli', 'codex'],
])

function agentOf(resource: Attributes): string {
  const service = asString(resource.get('service.name')) ?? ''
  const name = service.slice(0, 100)
  return SERVICES.get(name) ?? (name === '' || name.startsWith('unknown_service') ? 'otel' : name)
}
