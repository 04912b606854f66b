/** Statistics by reading every session of an archive, entry by entry: slow, and nothing to get wrong. */
import { withSessions } from '../src/sources/sessions.ts'
import type { Status } from '../src/transcript/session.ts'
import { callKey } from '../src/transcript/totals.ts'
import { COUNTS } from '../src/transcript/usage.ts'

export type BruteStats = {
  readonly sessions: number
  readonly status: Readonly<Partial<Record<Status, number>>>
  readonly entries: number
  readonly toolCalls: number
  readonly tools: Readonly<Record<string, number>>
  readonly usage: Readonly<Record<string, number>>
  readonly calls: number
}

export async function bruteStats(home: string): Promise<BruteStats> {
  return withSessions(home, async (opened) => {
    const listed = opened.list({}).sessions
    const status: Partial<Record<Status, number>> = {}
    const tools: Record<string, number> = {}
    const usage: Record<string, number> = {}
    let [entries, calls] = [0, 0]
    /** Tool calls of provider calls that several sessions mention. */
    const seen = new Set<string>()
    for (const session of listed) {
      status[session.status] = (status[session.status] ?? 0) + 1
      entries += session.totals?.entries ?? 0
      calls += session.totals?.calls ?? 0
      for (const count of COUNTS) {
        const used = session.totals?.usage?.[count]
        if (used !== undefined) usage[count] = (usage[count] ?? 0) + used
      }
      for await (const items of opened.read(opened.find(session.id))) {
        for (const item of items) {
          if (item.type !== 'entry' || item.entry.metadata?.['replayed'] === true) continue
          const { entry } = item
          const call = callKey(entry)
          for (const [at, block] of entry.blocks.entries()) {
            if (block.type !== 'tool-call') continue
            const key = `${call} ${block.callId ?? `${entry.id} ${at}`}`
            if (call !== undefined && seen.has(key)) continue
            seen.add(key)
            tools[block.name] = (tools[block.name] ?? 0) + 1
          }
        }
      }
    }
    const toolCalls = Object.values(tools).reduce((sum, count) => sum + count, 0)
    return { sessions: listed.length, status, entries, toolCalls, tools, usage, calls }
  })
}
