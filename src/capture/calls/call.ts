/** A provider call, as whoever sees it pass tells of it. */
import type { Json, JsonObject } from '../../transcript/json.ts'
import type { CallApi } from '../../wire/call-apis.ts'
import type { WireMessage } from '../../wire/message.ts'
import type { RequestFacts } from '../../wire/tape-requests.ts'
import type { ToolResult } from '../recorder.ts'
import type { AnswerHead } from './answer.ts'
import type { AnswerFacts } from './call-outcome.ts'
import type { Headers } from './client.ts'
import type { Asking } from './open-sessions.ts'

export type CallStart = {
  readonly api: CallApi
  /** The request's body, parsed. */
  readonly body: Json
  readonly headers: Headers
  /** Where the body does not say it. */
  readonly model?: string
  /** By name. */
  readonly upstream?: string
  /** As it was asked. */
  readonly path?: string
  /** When it was asked, where that was some time ago: as `performance.now()` has it. */
  readonly began?: number
  /** The body was not given to us: nothing in it tells whose call it is. */
  readonly isUnread?: boolean
}

export type OpenCall = {
  response(head: AnswerHead): void
  /** `at`: when it came, as `performance.now()` has it, where that was some time ago. */
  chunk(bytes: Buffer, at?: number): void
  /** `unread`: why the end of it was not given to us, where the client may well have it. */
  ended(at?: number, unread?: string): void
  broken(by: 'client' | 'upstream', reason: string, at?: number): void
}

export type Asked = Asking & {
  /** Which API or framework, which model, and the like. */
  readonly about: JsonObject
  /** The request itself, for replay. */
  readonly wire?: RequestFacts
}

export type AskedCall = {
  answered(message: WireMessage, details?: AnswerFacts): void
  broken(by: 'client' | 'upstream', reason: string, details?: AnswerFacts): void
}

export type ToolOutcome = Pick<ToolResult, 'output' | 'error' | 'isError' | 'durationMs' | 'metadata'> & {
  readonly callId?: string
  /** Without an id: the newest call of this tool with this input. */
  readonly name?: string
  readonly input?: Json
}
