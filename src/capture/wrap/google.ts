/** `hansard/google`: `const client = record(new GoogleGenAI({}))`. Content, streamed or not, chats, and functions called for you. */
import { recordGoogle } from './google-client.ts'
import { untilExit, type WrapOptions } from './wrap-log.ts'

export { recording, type Recording } from './recording.ts'
export type { WrapOptions } from './wrap-log.ts'

/** The same client, with the same type. Its calls are recorded from now on. */
export function record<T extends object>(client: T, options: WrapOptions = {}): T {
  return recordGoogle(client, untilExit(options))
}
