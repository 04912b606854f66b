/**
 * Tools of the AI SDK, and of any program that runs its own as `execute(input, { toolCallId })`: a result is recorded when the tool has
 * run, and not only with the next request.
 */
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
    let given: unknown
    try {
      given = run(input, options)
    } catch (error) {
      tell({ error: messageOf(error) })
      throw error
    }
    // On disk when the tool's promise resolves.
    if (given instanceof Promise)
      return given.then(
        async (value: unknown) => {
          tell({ output: toOutput(value) })
          await log.settled()
          return value
        },
        async (error: unknown) => {
          tell({ error: messageOf(error) })
          await log.settled()
          throw error
        },
      )
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
