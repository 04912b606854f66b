/** `hansard/openai`: `const client = record(new OpenAI())`. Chat completions and responses, of OpenAI and all who speak as it does. */
import { recordClient } from './client-fetch.ts'
import { untilExit, type WrapOptions } from './wrap-log.ts'

export { recording, type Recording } from './recording.ts'
export type { WrapOptions } from './wrap-log.ts'

/** The same client, with the same type. Its calls are recorded from now on. */
export function record<T extends object>(client: T, options: WrapOptions = {}): T {
  return recordClient(client, untilExit(options))
}
