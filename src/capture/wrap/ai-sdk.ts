/** `hansard/ai-sdk`: `wrapLanguageModel({ model, middleware: middleware() })`, or `record(model)`. */
import { createMiddleware, recordModel, type Middleware } from './ai-sdk-model.ts'
import { untilExit, type WrapOptions } from './wrap-log.ts'

export { recording, type Recording } from './recording.ts'
export type { Middleware } from './ai-sdk-model.ts'
export type { WrapOptions } from './wrap-log.ts'

/** Records what a language model is asked and answers; sees neither more nor less than the model does. */
export function middleware(options: WrapOptions = {}): Middleware {
  return createMiddleware(untilExit(options))
}

/** The same model, with the same type, recorded. */
export function record<T extends object>(model: T, options: WrapOptions = {}): T {
  return recordModel(model, untilExit(options))
}
