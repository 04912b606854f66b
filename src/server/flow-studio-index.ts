/** What Flow Studio asks about the whole: whether it is well, what could run a flow, and where a word occurs in names. */
import { countSessions, listSessions } from '../sources/state-sessions.ts'
import type { Run } from '../transcript/session.ts'
import type { App, AppContext } from './context.ts'
import { Refusal, reply } from './flow-studio-find.ts'

const MOST_FOUND = 50

export function registerFlowStudioIndex(app: App, context: AppContext): void {
  const { redactor, state } = context
  app.get('/api/health', (c) =>
    reply(c, context, async () => {
      const named = (await state.read((database) => namesOf(listSessions(database, {})))) ?? []
      const count = (type: string): number => named.filter((one) => one.type === type).length
      return {
        status: 'ok',
        flows: count('flow'),
        agents: count('agent'),
        runs: count('run'),
        sessions: (await state.read((database) => countSessions(database))) ?? 0,
        capabilities: {
          runs: true,
          transcripts: true,
          timeline: true,
          events: true,
          search: true,
          execution: false,
        },
      }
    }),
  )

  app.get('/api/backends', (c) =>
    reply(c, context, async () => ({
      backends: [
        {
          id: 'hansard',
          label: 'Hansard archive (read only)',
          supports_streaming: false,
          supports_events: true,
          supports_cancel: false,
          supports_replay: false,
        },
      ],
    })),
  )

  app.get('/api/search', (c) =>
    reply(c, context, async () => {
      const query = (c.req.query('q') ?? '').trim()
      if (query === '' || query.length > 200)
        return new Refusal(400, { error: 'nothing to look for', hint: 'add ?q=…, of at most 200 characters' })
      const wanted = query.toLowerCase()
      const found = await state.read((database) => namesOf(listSessions(database, {})))
      const matches = (found ?? []).filter(({ key }) => key.toLowerCase().includes(wanted))
      return {
        query: redactor.text(query),
        results: matches.slice(0, MOST_FOUND).map((match) => redactor.json({ ...match })),
        total: matches.length,
      }
    }),
  )
}

type Named = {
  readonly type: string
  readonly key: string
  readonly run_id: string
  readonly flow_key?: string
}

/** Flows, steps and agents of runs, each once, with the newest run that has it. */
function namesOf(sessions: readonly { readonly run?: Run }[]): readonly Named[] {
  const named = new Map<string, Named>()
  for (const { run } of sessions) {
    if (run?.id === undefined) continue
    const { id, flow, step, agentKey } = run
    const flowKey = flow === undefined ? {} : { flow_key: flow }
    const kinds = [
      ['run', id],
      ['flow', flow],
      ['step', step],
      ['agent', agentKey],
    ] as const
    for (const [type, key] of kinds) {
      if (key === undefined || named.has(`${type} ${key}`)) continue
      named.set(`${type} ${key}`, { type, key, run_id: id, ...(type !== 'run' && flowKey) })
    }
  }
  return [...named.values()]
}
