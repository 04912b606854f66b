/** One recording for all that a program uses, with an end: `const { openai, end } = recording({ agent: 'mine' })`. */
import type { Session } from '../../transcript/session.ts'
import { createProcessor, type TracingProcessor } from './agents-processor.ts'
import { createMiddleware, recordModel, type Middleware } from './ai-sdk-model.ts'
import { recordTools } from './ai-sdk-tools.ts'
import { recordClient } from './client-fetch.ts'
import { recordGoogle } from './google-client.ts'
import { createHandler, type CallbackHandler } from './langchain-handler.ts'
import { recordPayload } from './litellm-payload.ts'
import type { AnyFetch } from './observe-fetch.ts'
import { createWrapLog, type WrapOptions } from './wrap-log.ts'

export type Recording = {
  /** The platform's fetch, recorded. */
  readonly fetch: typeof globalThis.fetch
  /** Any other fetch, recorded. */
  readonly recordFetch: <F extends AnyFetch>(fetch: F) => F
  readonly openai: <T extends object>(client: T) => T
  readonly anthropic: <T extends object>(client: T) => T
  readonly google: <T extends object>(client: T) => T
  /** A language model of the AI SDK, recorded. */
  readonly model: <T extends object>(model: T) => T
  /** Tools of the AI SDK, by name, whose results are recorded when they have run. */
  readonly tools: <T extends object>(tools: T) => T
  /** For the AI SDK's `wrapLanguageModel`. */
  readonly middleware: Middleware
  /** For LangChain's `callbacks`. */
  readonly langchain: CallbackHandler
  /** For `addTraceProcessor` of `@openai/agents`. */
  readonly agents: TracingProcessor
  /** What LiteLLM gave a callback. */
  readonly litellm: (payload: unknown) => void
  /** Ends the sessions so far, when the calls that are over are in them. Calls after it begin new ones. */
  end(): Promise<readonly Session[]>
  /** The same when what they were for has failed: the sessions, and a step’s receipt, say so. */
  fail(error?: unknown): Promise<readonly Session[]>
}

export function recording(options: WrapOptions = {}): Recording {
  const log = createWrapLog(options)
  return {
    fetch: log.fetch(globalThis.fetch),
    recordFetch: log.fetch,
    openai: (client) => recordClient(client, log),
    anthropic: (client) => recordClient(client, log),
    google: (client) => recordGoogle(client, log),
    model: (model) => recordModel(model, log),
    tools: (tools) => recordTools(tools, log),
    middleware: createMiddleware(log),
    langchain: createHandler(log),
    agents: createProcessor(log),
    litellm: (payload) => recordPayload(payload, log),
    end: () => log.end(),
    fail: (error) => log.end({ error }),
  }
}
