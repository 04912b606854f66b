/** One recording for all that a program uses, with an end: `const { openai, end } = recording({ agent: 'mine' })`. */
import type { Session } from '../../transcript/session.ts'
import { recordClient } from './client-fetch.ts'
import { recordGoogle } from './google-client.ts'
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
  /** Ends the sessions so far, when the calls that are over are in them. Calls after it begin new ones. */
  end(): Promise<readonly Session[]>
}

export function recording(options: WrapOptions = {}): Recording {
  const log = createWrapLog(options)
  return {
    fetch: log.fetch(globalThis.fetch),
    recordFetch: log.fetch,
    openai: (client) => recordClient(client, log),
    anthropic: (client) => recordClient(client, log),
    google: (client) => recordGoogle(client, log),
    end: () => log.end(),
  }
}
