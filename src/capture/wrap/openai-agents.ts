/** `hansard/openai-agents`: `addTraceProcessor(processor())`. */
import { createProcessor, type TracingProcessor } from './agents-processor.ts'
import { untilExit, type WrapOptions } from './wrap-log.ts'

export { recording, type Recording } from './recording.ts'
export type { TracingProcessor } from './agents-processor.ts'
export type { WrapOptions } from './wrap-log.ts'

export function processor(options: WrapOptions = {}): TracingProcessor {
  return createProcessor(untilExit(options))
}
