/** `hansard/litellm`: what LiteLLM's callbacks give, recorded. LiteLLM's own address is recorded by the proxy, or a recorded fetch. */
import { recordPayload } from './litellm-payload.ts'
import { untilExit, type WrapLog, type WrapOptions } from './wrap-log.ts'

export { recording, type Recording } from './recording.ts'
export type { WrapOptions } from './wrap-log.ts'

let shared: WrapLog | undefined

/** One payload, or a batch of them. Options count with the first. */
export function recordLiteLlmPayload(payload: unknown, options: WrapOptions = {}): void {
  shared ??= untilExit(options)
  recordPayload(payload, shared)
}
