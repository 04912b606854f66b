/** Tools of the AI SDK, recorded: what one gave is told when it has, and not only when a model is told. */
import { messageOf } from '../../errors.ts'
import { field, text, toOutput } from './foreign.ts'
import type { WrapLog } from './wrap-log.ts'

/** The same tools, with the same type. */
export function recordTools<T extends object>(tools: T, log: WrapLog): T {
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]: [string, unknown]) => [name, recordTool(name, tool, log)]),
  ) as T
}

type Execute = (input: unknown, options: unknown) => unknown

function recordTool(name: string, tool: unknown, log: WrapLog): unknown {
  const execute = field(tool, 'execute')
  if (typeof tool !== 'object' || tool === null || typeof execute !== 'function') return tool
  const run = execute.bind(tool) as Execute
  const recorded: Execute = (input, options) => {
    const began = performance.now()
    const callId = text(field(options, 'toolCallId'))
    const tell = log.report.guard(
      'a tool result',
      (outcome: { readonly output: string } | { readonly error: string }) =>
        log.toolResult({
          name,
          ...(callId !== undefined && { callId }),
          durationMs: Math.round(performance.now() - began),
          ...outcome,
        }),
    )
    const failed = (error: unknown): never => {
      tell({ error: messageOf(error) })
      throw error
    }
    let given: unknown
    try {
      given = run(input, options)
    } catch (error) {
      return failed(error)
    }
    if (given instanceof Promise)
      return given.then((value: unknown) => {
        tell({ output: toOutput(value) })
        return value
      }, failed)
    // One that gives more and more says in the end what the model is told: the next request has it.
    if (typeof given !== 'object' || given === null || !(Symbol.asyncIterator in given))
      tell({ output: toOutput(given) })
    return given
  }
  return Object.create(Object.getPrototypeOf(tool) as object | null, {
    ...Object.getOwnPropertyDescriptors(tool),
    execute: { value: recorded, enumerable: true, writable: true, configurable: true },
  })
}
