/**
 * `hansard/fetch`: a fetch that records the calls to providers that go through it, for whatever takes one:
 * `createOpenAI({ fetch: recordedFetch() })`. It has the type of the fetch it is given.
 */
import type { AnyFetch } from './observe-fetch.ts'
import { untilExit, type WrapOptions } from './wrap-log.ts'

export { recording, type Recording } from './recording.ts'
export type { WrapOptions } from './wrap-log.ts'

export function recordedFetch(fetch?: undefined, options?: WrapOptions): typeof globalThis.fetch
export function recordedFetch<F extends AnyFetch>(fetch: F, options?: WrapOptions): F
export function recordedFetch(fetch?: AnyFetch, options: WrapOptions = {}): AnyFetch {
  const log = untilExit(options)
  return log.fetch(fetch ?? globalThis.fetch)
}
