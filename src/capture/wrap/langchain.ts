/** `hansard/langchain`: `model.invoke(messages, { callbacks: [handler()] })`, or on whatever else takes callbacks. */
import { createHandler, type CallbackHandler } from './langchain-handler.ts'
import { untilExit, type WrapOptions } from './wrap-log.ts'

export { recording, type Recording } from './recording.ts'
export type { CallbackHandler } from './langchain-handler.ts'
export type { WrapOptions } from './wrap-log.ts'

export function handler(options: WrapOptions = {}): CallbackHandler {
  return createHandler(untilExit(options))
}
