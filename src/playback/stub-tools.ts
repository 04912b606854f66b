/**
 * Tools of an SDK that give what was recorded and never run: functions, objects with `execute` (the AI SDK's and others'), and objects
 * with `invoke` (LangChain's, the Agents SDK's). They look as before, so that what the model is told of them is the same.
 */
import { HansardError } from '../errors.ts'
import { parseJson, type Json } from '../transcript/json.ts'
import { toValue, type RecordedTools } from './recorded-tools.ts'

export type StubOptions = { readonly onStubbed?: (name: string) => void }

/** Tools by their names. */
export type Tools = { readonly [name: string]: unknown }

export function stubTools<T extends Tools>(
  tools: T,
  recorded: RecordedTools,
  { onStubbed }: StubOptions = {},
): T {
  const answer = (name: string, input: unknown, callId: string | undefined): Json => {
    const said = typeof input === 'string' ? (parseJson(input) ?? input) : ((input ?? {}) as Json)
    const result = recorded.take({ name, input: said, ...(callId !== undefined && { callId }) })
    onStubbed?.(name)
    if (result === undefined)
      throw new HansardError(
        'not-found',
        `the recording has no such call of ${name}, and tools do not run in a replay`,
        {
          hint: 'hansard show lists the calls there are',
        },
      )
    if (result.isError) throw new Error(result.text)
    return toValue(result)
  }
  const stub = (name: string, tool: unknown): unknown => {
    const run = async (input: unknown, options?: unknown, more?: unknown): Promise<Json> =>
      answer(name, inputOf(input, options), callIdOf(input) ?? callIdOf(options) ?? callIdOf(more))
    if (typeof tool === 'function') return run
    if (typeof tool !== 'object' || tool === null) return tool
    const method = ['execute', 'invoke', 'call'].find(
      (one) => one in tool && typeof Reflect.get(tool, one) === 'function',
    )
    if (method === undefined) return tool
    // Of a class or not, it stays what it is but for this.
    return Object.create(tool, { [method]: { value: run, enumerable: true } })
  }
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, stub(name, tool)])) as T
}

/** LangChain gives the whole call, the Agents SDK the context first and the input as text. */
function inputOf(first: unknown, second: unknown): unknown {
  if (typeof first === 'object' && first !== null && 'args' in first && 'name' in first) return first.args
  return typeof second === 'string' ? second : first
}

function callIdOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if ('toolCallId' in value && typeof value.toolCallId === 'string') return value.toolCallId
  if ('toolCall' in value) return callIdOf(value.toolCall)
  if ('callId' in value && typeof value.callId === 'string') return value.callId
  return 'id' in value && 'args' in value && typeof value.id === 'string' ? value.id : undefined
}
