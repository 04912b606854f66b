/** `hansard/anthropic`: `const client = record(new Anthropic())`. Messages, streamed or not, with all helpers that run tools. */
import { recordClient } from './client-fetch.ts'
import { untilExit, type WrapOptions } from './wrap-log.ts'

export { recording, type Recording } from './recording.ts'
export type { WrapOptions } from './wrap-log.ts'

/** The same client, with the same type. Its calls are recorded from now on. */
export function record<T extends object>(client: T, options: WrapOptions = {}): T {
  return recordClient(client, untilExit(options))
}
