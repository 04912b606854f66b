/**
 * Which call of which session started a subagent: a call says the agent's id, which is the name of the agent's own session. Told of
 * sessions that are read together, the starting one first.
 */
import { citation } from '../transcript/entry.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { asArray, asObject, type Json } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { ReadItem } from './format.ts'
import { ID } from './gemini-cli-session.ts'
import { asId } from './placing.ts'

export type SubagentLinks = {
  /** In the order of reading. Gives them with the sessions that they started named: `metadata.spawned`. */
  observe(items: readonly ReadItem[]): readonly ReadItem[]
  /** The session and call that started the session of this name. */
  parentOf(name: string | undefined): Session['parent'] | undefined
}

/** More agents than anybody starts: bounds memory. */
const MOST_LINKS = 100_000

export function createSubagentLinks(): SubagentLinks {
  const links = new Map<string, NonNullable<Session['parent']>>()
  let session: string | undefined
  /** Where the calls stand whose results follow. */
  let asked: NonNullable<Session['parent']> | undefined

  /** The ids of the sessions that were started. */
  const link = (agents: readonly (Json | undefined)[]): readonly string[] =>
    agents.flatMap((agent) => {
      const name = asId(agent)
      if (name === undefined) return []
      if (asked !== undefined && !links.has(name) && links.size < MOST_LINKS) links.set(name, asked)
      return uuidFrom(ID, name)
    })

  const observe = (item: ReadItem): ReadItem => {
    if (item.type === 'session') session = item.session.id
    if (item.type !== 'entry' || session === undefined) return item
    const { entry } = item
    if (entry.role === 'assistant')
      asked = { session, citation: citation(session, entry), relation: 'subagent' }
    const { toolCalls, agentId } = entry.metadata ?? {}
    const ofCalls = entry.role === 'assistant' ? (asArray(toolCalls) ?? []) : []
    const ids = link(entry.role === 'tool' ? [agentId] : ofCalls.map((call) => asObject(call)?.['agentId']))
    const spawned = ids.length > 1 ? [...ids] : ids[0]
    if (spawned === undefined) return item
    return { type: 'entry', entry: { ...entry, metadata: { ...entry.metadata, spawned } } }
  }

  return {
    observe: (items) => items.map(observe),
    parentOf: (name) => (name === undefined ? undefined : links.get(name)),
  }
}
