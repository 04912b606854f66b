/** Language models of the AI SDK, recorded: what they are asked before they are, what they answer while it is read. */
import { messageOf } from '../../errors.ts'
import type { AskedCall } from '../calls/call.ts'
import { createParts, toAnswer } from './ai-sdk-answer.ts'
import { toRequest } from './ai-sdk-prompt.ts'
import { field, text } from './foreign.ts'
import type { WrapLog } from './wrap-log.ts'

/** For `wrapLanguageModel`: has the shape of its middlewares, whichever version they are of. */
export type Middleware = {
  readonly specificationVersion: 'v3'
  readonly wrapGenerate: <R>(options: Wrapped & { readonly doGenerate: () => PromiseLike<R> }) => Promise<R>
  readonly wrapStream: <R extends { readonly stream: ReadableStream<unknown> }>(
    options: Wrapped & { readonly doStream: () => PromiseLike<R> },
  ) => Promise<R>
}

type Wrapped = { readonly params: unknown; readonly model: unknown }

export function createMiddleware(log: WrapLog): Middleware {
  const ask = ({ params, model }: Wrapped, stream: boolean): AskedCall => {
    const modelId = text(field(model, 'modelId'))
    let call: AskedCall = NOBODY
    log.report.guard('a call', () => {
      const request = toRequest(params, modelId, stream)
      const provider = text(field(model, 'provider'))
      call = log.ask({
        request,
        client: { agent: 'ai-sdk' },
        about: {
          api: 'ai-sdk',
          stream,
          ...(provider !== undefined && { upstream: provider }),
          ...(modelId !== undefined && { model: modelId }),
        },
      })
    })()
    return call
  }
  const broken = (call: AskedCall, params: unknown, error: unknown): void => {
    const isClient = field(field(params, 'abortSignal'), 'aborted') === true
    call.broken(isClient ? 'client' : 'upstream', messageOf(error))
  }
  return {
    specificationVersion: 'v3',
    async wrapGenerate({ doGenerate, params, model }) {
      const answer = doGenerate()
      const call = ask({ params, model }, false)
      try {
        const result = await answer
        log.report.guard('an answer', () => call.answered(toAnswer(result, model)))()
        await log.settled()
        return result
      } catch (error) {
        broken(call, params, error)
        throw error
      }
    },
    async wrapStream({ doStream, params, model }) {
      const answer = doStream()
      const call = ask({ params, model }, true)
      try {
        const result = await answer
        return { ...result, stream: observeParts(result.stream, call, { params, model }, log) }
      } catch (error) {
        broken(call, params, error)
        throw error
      }
    },
  }
}

/** The same model, recorded: for whoever would rather not import `wrapLanguageModel`. */
export function recordModel<T extends object>(model: T, log: WrapLog): T {
  const { wrapGenerate, wrapStream } = createMiddleware(log)
  return new Proxy(model, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      const ask = value.bind(target) as (params: unknown) => PromiseLike<{ stream: ReadableStream<unknown> }>
      if (name === 'doGenerate')
        return (params: unknown) => wrapGenerate({ doGenerate: () => ask(params), params, model: target })
      if (name === 'doStream')
        return (params: unknown) => wrapStream({ doStream: () => ask(params), params, model: target })
      return ask
    },
  })
}

const NOBODY: AskedCall = { answered() {}, broken() {} }

/** Read through, like bytes are: a part is handed on, then looked at. */
function observeParts(
  stream: ReadableStream<unknown>,
  call: AskedCall,
  { params, model }: Wrapped,
  log: WrapLog,
): ReadableStream<unknown> {
  const parts = createParts(model)
  const push = log.report.guard('a part of an answer', (part: unknown) => parts.push(part))
  const finish = log.report.guard('an answer', (error?: unknown) => {
    const message = parts.end(error)
    const isAborted = field(field(params, 'abortSignal'), 'aborted') === true
    const hasNothing = message.blocks.length === 0 && message.usage === undefined
    if (error !== undefined && (hasNothing || isAborted))
      if (hasNothing) return call.broken(isAborted ? 'client' : 'upstream', messageOf(error))
    call.answered(
      error !== undefined && isAborted
        ? { ...message, error: { message: messageOf(error), code: 'broken-by-client' } }
        : message,
    )
  })
  let reader: ReadableStreamDefaultReader<unknown> | undefined
  return new ReadableStream(
    {
      async pull(controller) {
        reader ??= stream.getReader()
        try {
          const { done, value } = await reader.read()
          if (done) {
            finish()
            await log.settled()
            return controller.close()
          }
          controller.enqueue(value)
          push(value)
        } catch (error) {
          finish(error)
          throw error
        }
      },
      cancel(reason) {
        reader ??= stream.getReader()
        const message = parts.end()
        if (message.complete) finish()
        else finish(reason ?? 'the client stopped reading')
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
