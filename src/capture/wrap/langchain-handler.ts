/**
 * LangChain's callbacks, recorded: what a model is asked and answers, what tools are given and give. Calls of one run, and of one
 * thread of LangGraph, are one session.
 */
import { messageOf } from '../../errors.ts'
import { isUuid } from '../../transcript/ids.ts'
import type { WireRequest } from '../../wire/request.ts'
import type { AskedCall } from '../calls/call.ts'
import { field, list, text, toInput, toOutput, toPlainFields } from './foreign.ts'
import { fromLangChain, toAnswer } from './langchain-message.ts'
import type { WrapLog } from './wrap-log.ts'

/** As LangChain calls its handlers. They are awaited, which keeps the order and has an answer on disk before it is handed on. */
export type CallbackHandler = {
  readonly name: string
  readonly awaitHandlers: boolean
  readonly raiseError: boolean
  readonly ignoreLLM: boolean
  readonly ignoreChain: boolean
  readonly ignoreAgent: boolean
  readonly ignoreRetriever: boolean
  readonly ignoreCustomEvent: boolean
  copy(): CallbackHandler
  handleChainStart(chain: unknown, inputs: unknown, runId: string, ...more: unknown[]): void
  handleChatModelStart(
    model: unknown,
    messages: unknown,
    runId: string,
    parentRunId?: string,
    extra?: unknown,
    tags?: unknown,
    metadata?: unknown,
  ): void
  handleLLMStart(
    model: unknown,
    prompts: string[],
    runId: string,
    parentRunId?: string,
    extra?: unknown,
    tags?: unknown,
    metadata?: unknown,
  ): void
  handleLLMEnd(output: unknown, runId: string): Promise<void>
  handleLLMError(error: unknown, runId: string): void
  handleToolStart(
    tool: unknown,
    input: string,
    runId: string,
    parentRunId?: string,
    tags?: unknown,
    metadata?: unknown,
    runName?: string,
    toolCallId?: string,
  ): void
  handleToolEnd(output: unknown, runId: string): Promise<void>
  handleToolError(error: unknown, runId: string): void
}

/** Runs that never end are forgotten in time. */
const MOST_RUNS = 10_000

type Tool = {
  readonly name: string | undefined
  readonly input: string
  readonly callId: string | undefined
  readonly began: number
}

export function createHandler(log: WrapLog): CallbackHandler {
  const parents = new Map<string, string>()
  const calls = new Map<string, AskedCall>()
  const tools = new Map<string, Tool>()
  const { guard } = log.report
  const written = (what: string, work: (said: unknown, runId: string) => void) => {
    const told = guard(what, work)
    return async (said: unknown, runId: string): Promise<void> => {
      told(said, runId)
      await log.settled()
    }
  }

  const rootOf = (runId: string): string => {
    let root = runId
    for (let steps = 0; steps < 100; steps += 1) {
      const above = parents.get(root)
      if (above === undefined) return root
      root = above
    }
    return root
  }
  const begin = (
    request: WireRequest,
    runId: string,
    parentRunId: unknown,
    metadata: unknown,
    about: Readonly<Record<string, unknown>>,
  ): void => {
    learn(parents, runId, parentRunId)
    const thread =
      text(field(metadata, 'thread_id')) ??
      text(field(metadata, 'session_id')) ??
      text(field(metadata, 'conversation_id'))
    // A call that stands alone tells by its history whether it goes on with another.
    const hasParent = typeof parentRunId === 'string'
    const groups = [
      ...(hasParent ? [`langchain run ${rootOf(runId)}`] : []),
      ...(thread === undefined ? [] : [`langchain thread ${thread}`]),
    ]
    hold(
      calls,
      runId,
      log.ask({ request, groups, client: { agent: 'langchain' }, about: toPlainFields(about) }),
    )
  }
  const endTool = (runId: string, outcome: { readonly output?: unknown; readonly error?: unknown }): void => {
    const tool = tools.get(runId)
    tools.delete(runId)
    const { output, error } = outcome
    const callId = text(field(output, 'tool_call_id')) ?? tool?.callId
    const content = field(output, 'content')
    const isError = error !== undefined || field(output, 'status') === 'error'
    log.toolResult({
      ...(callId !== undefined && { callId }),
      ...(tool?.name !== undefined && { name: tool.name }),
      ...(tool !== undefined && callId === undefined && { input: toInput(tool.input) }),
      ...(error === undefined ? { output: toOutput(content ?? output) } : { error: messageOf(error) }),
      ...(isError && { isError }),
      ...(tool !== undefined && { durationMs: Math.round(performance.now() - tool.began) }),
    })
  }

  const handler: CallbackHandler = {
    name: 'hansard',
    awaitHandlers: true,
    raiseError: false,
    ignoreLLM: false,
    ignoreChain: false,
    ignoreAgent: false,
    ignoreRetriever: true,
    ignoreCustomEvent: true,
    copy: () => handler,
    handleChainStart: guard('a run', (_, __, runId, ...more) =>
      // Where the run above it stands has changed from version to version.
      learn(
        parents,
        runId,
        more.find((one) => typeof one === 'string' && isUuid(one)),
      ),
    ),
    handleChatModelStart: guard('a call', (model, messages, runId, parentRunId, extra, _, metadata) => {
      const all = list(list(messages)[0]).map(fromLangChain)
      const system = all.filter(({ role }) => role === 'system').flatMap(({ blocks }) => blocks)
      const parameters = toPlainFields(record(field(extra, 'invocation_params')))
      const name = text(parameters['model']) ?? text(field(metadata, 'ls_model_name'))
      const request: WireRequest = {
        ...(system.length > 0 && { system: { blocks: system } }),
        messages: all.filter(({ role }) => role !== 'system'),
        ...(Object.keys(parameters).length > 0 && { parameters }),
        ...(name !== undefined && { model: name }),
        unknown: [],
      }
      begin(request, runId, parentRunId, metadata, {
        api: 'langchain',
        upstream: field(metadata, 'ls_provider') ?? list(field(model, 'id')).at(-1),
        model: name,
      })
    }),
    handleLLMStart: guard('a call', (model, prompts, runId, parentRunId, _, __, metadata) =>
      begin(
        {
          messages: prompts.map((prompt) => ({ role: 'user', blocks: [{ type: 'text', text: prompt }] })),
          unknown: [],
        },
        runId,
        parentRunId,
        metadata,
        {
          api: 'langchain',
          upstream: field(metadata, 'ls_provider') ?? list(field(model, 'id')).at(-1),
          model: field(metadata, 'ls_model_name'),
        },
      ),
    ),
    handleLLMEnd: written('an answer', (output, runId) => {
      calls.get(runId)?.answered(toAnswer(output))
      calls.delete(runId)
    }),
    handleLLMError: guard('an answer', (error, runId) => {
      const isAbort = field(error, 'name') === 'AbortError'
      calls.get(runId)?.broken(isAbort ? 'client' : 'upstream', messageOf(error))
      calls.delete(runId)
    }),
    handleToolStart: guard('a tool call', (tool, input, runId, parentRunId, _, __, runName, toolCallId) => {
      learn(parents, runId, parentRunId)
      const name = text(runName) ?? text(field(tool, 'name')) ?? text(list(field(tool, 'id')).at(-1))
      hold(tools, runId, { name, input, callId: text(toolCallId), began: performance.now() })
    }),
    handleToolEnd: written('a tool result', (output, runId) => endTool(runId, { output })),
    handleToolError: guard('a tool result', (error, runId) => endTool(runId, { error })),
  }
  return handler
}

function learn(parents: Map<string, string>, runId: string, parentRunId: unknown): void {
  if (typeof parentRunId === 'string' && parentRunId !== runId) hold(parents, runId, parentRunId)
}

function hold<T>(held: Map<string, T>, key: string, value: T): void {
  held.set(key, value)
  if (held.size > MOST_RUNS) held.delete(held.keys().next().value as string)
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
