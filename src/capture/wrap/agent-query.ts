/**
 * `query` of the Claude Agent SDK, recorded: the same function, with the same type. Hooks of ours are put behind the caller's own and
 * say nothing; messages are handed on as they come. The end is told when the transcripts have been read, so that a home which is
 * removed then has been read.
 */
import { messageOf } from '../../errors.ts'
import type { Reporter } from '../report.ts'
import { createAgentSession, type AgentSession, type AgentSessionOptions } from './agent-session.ts'
import { field, list } from './foreign.ts'

/** Takes `{ prompt, options }`, and gives messages one after the other. */
export type AnyQuery = (params: never) => object

export function recordQuery<Q extends AnyQuery>(
  query: Q,
  options: Omit<AgentSessionOptions, 'failed'>,
  report: Reporter,
): Q {
  const run = query as unknown as (params: unknown) => object
  const failed: AgentSessionOptions['failed'] = (what, error) => report.failed({ what, error })
  const recorded = (params: unknown): object => {
    let session: AgentSession | undefined
    let given = params
    report.guard('a run', () => {
      session = createAgentSession({ ...options, failed })
      given = withHooks(withPrompt(params, session), session)
    })()
    const messages = run(given)
    return session === undefined ? messages : watch(messages, session, report)
  }
  return recorded as unknown as Q
}

/** What is asked is recorded before it is: a text, or messages as the agent takes them. */
function withPrompt(params: unknown, session: AgentSession): unknown {
  const prompt = field(params, 'prompt')
  if (typeof prompt === 'string') {
    session.prompt(prompt)
    return params
  }
  if (typeof prompt !== 'object' || prompt === null || !(Symbol.asyncIterator in prompt)) return params
  const messages = prompt as AsyncIterable<unknown>
  return { ...(params as object), prompt: passed(messages, session) }
}

async function* passed(messages: AsyncIterable<unknown>, session: AgentSession): AsyncGenerator {
  for await (const message of messages) {
    session.prompt(message)
    yield message
  }
}

/** The agent says where its transcripts lie when it and when a subagent stops; and at the start, should it never stop. */
const EVENTS = ['SessionStart', 'Stop', 'SubagentStop'] as const

function withHooks(params: unknown, session: AgentSession): unknown {
  const options = field(params, 'options')
  const hooks = field(options, 'hooks')
  const own = async (input: unknown): Promise<object> => {
    session.hook(input)
    return {}
  }
  const added = Object.fromEntries(
    EVENTS.map((event) => [event, [...list(field(hooks, event)), { hooks: [own] }]]),
  )
  return {
    ...(params as object),
    options: { ...(options as object), hooks: { ...(hooks as object), ...added } },
  }
}

type Messages = AsyncGenerator & Record<PropertyKey, unknown>

function watch(query: object, session: AgentSession, report: Reporter): object {
  const messages = query as Messages
  const ended = async <R>(answer: Promise<R>): Promise<R> => {
    try {
      return await answer
    } catch (error) {
      await session.end({ status: 'failed', error: messageOf(error) })
      throw error
    }
  }
  const next = async (...args: [] | [unknown]): Promise<IteratorResult<unknown>> => {
    const answer = await ended(messages.next(...args))
    if (answer.done === true) await session.end({ status: 'interrupted', error: 'it ended without a result' })
    else report.guard('a message', () => session.message(answer.value))()
    return answer
  }
  /** Whoever reads no further: what there was until then is the session. */
  const stop = async (value: unknown): Promise<IteratorResult<unknown>> => {
    const answer = await ended(messages.return(value))
    await session.end({ status: 'canceled' })
    return answer
  }
  const fail = async (error: unknown): Promise<IteratorResult<unknown>> => ended(messages.throw(error))
  const proxy: object = new Proxy(query, {
    get(target, name) {
      if (name === 'next') return next
      if (name === 'return') return stop
      if (name === 'throw') return fail
      if (name === Symbol.asyncIterator) return () => proxy
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      const bound = value.bind(target) as (...args: unknown[]) => unknown
      if (name !== 'close' && name !== Symbol.asyncDispose) return bound
      return (...args: unknown[]) => {
        const closed = bound(...args)
        const over = session.end({ status: 'canceled' })
        return name === Symbol.asyncDispose ? Promise.all([closed, over]).then(() => undefined) : closed
      }
    },
  })
  return proxy
}
