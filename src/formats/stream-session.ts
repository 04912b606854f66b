/**
 * What agents print while they run, line by line, told to whoever takes it: a recorder while it comes, a reader of the file that it was
 * kept in. One fold serves both. Nothing in a line makes a fold throw.
 */
import type { Block } from '../transcript/block.ts'
import type { Call, Role } from '../transcript/entry.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { asString } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { Usage } from '../transcript/usage.ts'
import type { WireMessage } from '../wire/message.ts'

/** What may be said of any entry beside its content. */
export type StreamDetails = {
  readonly model?: string
  readonly usage?: Omit<Usage, 'quality'> & { readonly quality?: Usage['quality'] }
  readonly stopReason?: string
  readonly durationMs?: number
  readonly call?: Call
  readonly metadata?: JsonObject
  readonly at?: string | Date
  readonly id?: string
}

export type StreamCall = StreamDetails & {
  readonly name: string
  readonly input?: Json
  readonly callId?: string
}

export type StreamResult = StreamDetails & {
  readonly callId?: string
  readonly name?: string
  readonly output?: string | readonly Block[]
  readonly error?: string
  readonly isError?: boolean
}

type StreamSaid = string | readonly Block[]

/** Takes the entries of one source. */
export type StreamSource = {
  readonly source: string
  readonly user: (said: StreamSaid, details?: StreamDetails) => void
  readonly assistant: (said: StreamSaid, details?: StreamDetails) => void
  readonly message: (role: Role, said: StreamSaid, details?: StreamDetails) => void
  readonly answer: (answer: WireMessage, details?: StreamDetails) => void
  readonly toolCall: (call: StreamCall) => string
  readonly toolResult: (result: StreamResult) => void
  readonly error: (error: unknown, details?: StreamDetails) => void
  readonly event: (record: string, raw: Json, details?: StreamDetails) => void
  readonly subagent: (id: string) => StreamSource
}

/** Takes a session: `id` names it here, whatever the agent calls it. */
export type StreamSession = StreamSource & {
  readonly id: string
  update(facts: Partial<Pick<Session, 'model' | 'version'>>): void
  /** US dollars, as the stream states them. */
  addCost(usd: number): void
}

/** How the stream says that the session ended; `interrupted` where it does not. */
export type StreamEnd = {
  readonly status: 'completed' | 'failed' | 'canceled' | 'interrupted'
  readonly error?: string
  readonly stopReason?: string
  readonly at?: string
}

export type Fold = {
  take(value: JsonObject): void
  /** True while lines that were taken wait for others, to be told together. */
  holds(): boolean
  end(): StreamEnd
}

/** Pieces past this are written without waiting for the rest of their message. */
const MOST_GATHERED = 64 * 1024

export type Gathering = {
  /** Kept until something else is said. */
  add(source: StreamSource, kind: 'text' | 'thinking' | 'user', text: string, details: StreamDetails): void
  /** What has been gathered is told. */
  flush(): void
  isOpen(): boolean
}

/**
 * Messages that come in pieces, put together: one entry for what was said in one go. A fold flushes before it tells anything else,
 * so that the order stays.
 */
export function createGathering(): Gathering {
  let open: { source: StreamSource; kind: 'text' | 'thinking' | 'user'; details: StreamDetails } | undefined
  let pieces: string[] = []
  let length = 0
  const flush = (): void => {
    if (open === undefined) return
    const text = pieces.join('')
    const { source, kind, details } = open
    open = undefined
    pieces = []
    length = 0
    if (kind === 'user') source.user(text, details)
    else source.assistant(kind === 'text' ? text : [{ type: 'thinking', text }], details)
  }
  return {
    add(source, kind, text, details) {
      if (open !== undefined && (open.source !== source || open.kind !== kind)) flush()
      open ??= { source, kind, details }
      pieces.push(text)
      length += text.length
      if (length > MOST_GATHERED) flush()
    },
    flush,
    isOpen: () => open !== undefined,
  }
}

/** An id that may stand in a source's name: hostile ones are cut. */
export function toSourceId(id: string): string {
  return id.slice(0, 128)
}

/** When a line says that it was printed, where it does. */
export function atOf(value: JsonObject): StreamDetails {
  const at = asString(value['timestamp'])
  return at === undefined || Number.isNaN(Date.parse(at)) ? {} : { at: new Date(at) }
}
