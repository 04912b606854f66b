/**
 * Agent Client Protocol: the JSON-RPC lines between an editor and an agent, of both directions, in the order they were sent. Each of its
 * sessions is one of ours. Which side sent a line shows by its method; an answer, by what it answers.
 */
import type { Json, JsonObject } from '../../transcript/json.ts'
import { asObject, asString, isObject, toJson } from '../../transcript/json.ts'
import { agentIn, type AgentFacts } from './acp-facts.ts'
import { createAcpSession, type AcpSession } from './acp-session.ts'
import type { OpenSession, Stream } from './stream.ts'

/** What the agent asks for: the rest is asked of it. */
const BY_AGENT = /^(?:session\/(?:update|request_permission|elicitation)$|elicitation\/|fs\/|terminal\/)/
/** Answers that are waited for, and sessions at once. */
const MOST_OPEN = 10_000
const MOST_SESSIONS = 1000

type Asked = { readonly method: string; readonly params: JsonObject }

export function createAcpStream(open: OpenSession): Stream {
  const sessions = new Map<string, AcpSession>()
  /** By who asked and the number that they gave. */
  const asked = new Map<string, Asked>()
  /** What is said before there is a session, for the first one. */
  const early: (readonly [string, Json])[] = []
  let agent: AgentFacts = {}

  const sessionOf = async (id: string): Promise<AcpSession> => {
    const known =
      sessions.get(id) ?? (sessions.size >= MOST_SESSIONS ? sessions.values().next().value : undefined)
    if (known !== undefined) return known
    const name = agent.name ?? 'acp'
    const recorder = await open({
      agent: name,
      native: { agent: name, sessionId: id },
      ...(agent.version !== undefined && { version: agent.version }),
    })
    const made = createAcpSession(recorder)
    sessions.set(id, made)
    for (const [record, raw] of early.splice(0)) recorder.event(record, raw)
    return made
  }

  const elsewhere = (record: string, raw: Json): void => {
    const latest = [...sessions.values()].at(-1)
    if (latest !== undefined) return latest.event(record, raw)
    if (early.length < MOST_OPEN) early.push([record, raw])
  }

  const call = async (line: JsonObject, method: string): Promise<void> => {
    const params = asObject(line['params']) ?? {}
    const id = idOf(line['id'])
    if (id !== undefined) {
      asked.set(`${BY_AGENT.test(method) ? 'agent' : 'client'} ${id}`, { method, params })
      if (asked.size > MOST_OPEN) asked.delete(asked.keys().next().value as string)
    }
    const sessionId = asString(params['sessionId'])
    if (sessionId === undefined || sessionId === '') return elsewhere(method, line)
    const session = await sessionOf(sessionId)
    if (method === 'session/prompt') return session.prompt(params)
    if (method === 'session/update') return session.update(asObject(params['update']) ?? params, line)
    session.event(method, line)
  }

  const answer = async (line: JsonObject): Promise<void> => {
    const id = idOf(line['id']) ?? ''
    const result = asObject(line['result'])
    const key = ['client', 'agent'].map((who) => `${who} ${id}`).find((one) => fits(asked.get(one), line))
    const question = key === undefined ? undefined : asked.get(key)
    if (key !== undefined) asked.delete(key)
    if (question === undefined) return elsewhere('answer', line)
    const { method, params } = question
    if (method === 'initialize') agent = agentIn(result)
    const sessionId = asString(params['sessionId']) ?? asString(result?.['sessionId'])
    if (sessionId === undefined || sessionId === '') return elsewhere(`${method} answered`, line)
    const session = await sessionOf(sessionId)
    if (method === 'session/prompt') return session.answered(line)
    if (result !== undefined) session.learn({ ...(line['error'] === undefined && params), ...result })
    session.event(`${method} answered`, line)
  }

  return {
    async take(value) {
      if (!isObject(value)) return elsewhere('unknown', value)
      const method = asString(value['method'])
      if (method !== undefined) return call(value, method)
      if (value['result'] !== undefined || value['error'] !== undefined) return answer(value)
      elsewhere('unknown', value)
    },
    damaged: (what) => elsewhere('damage', what),
    async end() {
      // A stream that never named a session is kept all the same.
      if (sessions.size === 0) {
        const recorder = await open({ agent: agent.name ?? 'acp' })
        for (const [record, raw] of early) recorder.event(record, raw)
        return [await recorder.interrupt('the stream ended before there was a session')]
      }
      return Promise.all([...sessions.values()].map((session) => session.end()))
    },
  }
}

/** Two sides number their questions alike: where both wait for this number, what the answer says tells whose it is. */
function fits(question: Asked | undefined, line: JsonObject): boolean {
  if (question === undefined) return false
  const result = asObject(line['result'])
  const field = ANSWERS.get(question.method)
  return field === undefined || result === undefined || Object.hasOwn(result, field)
}

const ANSWERS: ReadonlyMap<string, string> = new Map([
  ['initialize', 'protocolVersion'],
  ['session/new', 'sessionId'],
  ['session/prompt', 'stopReason'],
  ['session/request_permission', 'outcome'],
  ['fs/read_text_file', 'content'],
])

const idOf = (id: Json | undefined): string | undefined =>
  typeof id === 'string' || typeof id === 'number' ? toJson(id) : undefined
