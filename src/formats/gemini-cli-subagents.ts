/**
 * Which call of which session started a subagent: a call says the agent's id, which is the name of the agent's own session. Told of
 * sessions that are read together, the starting one first.
 */
import { citation } from '../transcript/entry.ts'
import { asArray, asObject, type Json } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { ReadItem } from './format.ts'
import { asId } from './placing.ts'

export type SubagentLinks = {
  /** In the order of reading. */
  observe(items: readonly ReadItem[]): void
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

  const link = (agent: Json | undefined): void => {
    const name = asId(agent)
    if (name === undefined || asked === undefined || links.has(name) || links.size >= MOST_LINKS) return
    links.set(name, asked)
  }

  return {
    observe(items) {
      for (const item of items) {
        if (item.type === 'session') session = item.session.id
        if (item.type !== 'entry' || session === undefined) continue
        const { entry } = item
        if (entry.role === 'assistant') {
          asked = { session, citation: citation(session, entry), relation: 'subagent' }
          for (const call of asArray(entry.metadata?.['toolCalls']) ?? []) link(asObject(call)?.['agentId'])
        } else if (entry.role === 'tool') link(entry.metadata?.['agentId'])
      }
    },
    parentOf: (name) => (name === undefined ? undefined : links.get(name)),
  }
}
