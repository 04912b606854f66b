/** What every route has at hand. Routes are added to the app by functions that take it: `registerSessions(app, context)`. */
import type { EventEmitter } from 'node:events'
import type { Hono } from 'hono'
import type { Archive } from '../archive/archive.ts'
import type { PriceRow } from '../cost/prices.ts'
import type { OtlpSink } from '../capture/otlp/otlp-sink.ts'
import type { Redactor } from '../redact/redactor.ts'
import type { Outlines } from '../search/outline.ts'
import type { SearchIndex } from '../search/search.ts'
import type { Apart } from './apart.ts'
import type { Behind } from './behind.ts'
import type { SharedState } from './shared-state.ts'
import type { LiveHub } from './live.ts'

export type ServerOptions = {
  /** What changes something is allowed. */
  readonly write?: boolean
  /** Days begin at midnight in UTC. */
  readonly utc?: boolean
  /** The user's own prices. */
  readonly prices?: readonly PriceRow[]
  /** Logs of sessions that are looked at are followed as they are written. */
  readonly follow?: boolean
  /** The built page; without it only the API answers. */
  readonly webFolder?: string
  /** Makes a sync, for `POST /sync`. */
  readonly sync?: () => Promise<unknown>
  /** Where exports of spans go; without it they are refused. */
  readonly otlp?: OtlpSink
  /** Told of every request that was let in, with what answers it. */
  readonly onAsked?: (response: EventEmitter | undefined) => void
  /** Told of what went wrong in a route, whether on purpose or not. */
  readonly onError?: (error: unknown) => void
}

/** What routes have that ask the archive as a whole. */
export type AskingContext = {
  readonly archive: Archive
  readonly options: ServerOptions
  /** Everything that leaves has passed it. */
  readonly redactor: Redactor
  /** What sync knows; nothing in it is redacted. */
  readonly state: SharedState
  /** Opened with the first search; the same for all. */
  searchIndex(): Promise<SearchIndex>
}

export type AppContext = AskingContext & {
  /** Who answers what takes long. */
  readonly apart: Apart
  /** Who takes in and indexes what agents write. */
  readonly behind: Behind
  /** Entries of sessions by position. */
  readonly outlines: Outlines
  readonly hub: LiveHub
  readonly progress: ServerProgress
}

/** What is going on in the background, for `/health`. */
export type ServerProgress = {
  syncing?: { readonly doing: string; readonly done: number; readonly of?: number } | undefined
  indexing?: { readonly bytes: number; readonly of: number } | undefined
}

export type App = Hono
