/** What sessions come to, as `hansard stats` does. */
import type { Redactor } from '../redact/redactor.ts'
import { stateMark } from '../search/state-mark.ts'
import { NO_STATS, queryStats, type Stats } from '../search/stats.ts'
import { answer, queryOf } from './answers.ts'
import { statsQuerySchema, type StatsAnswer } from './api-cost.ts'
import { createMemory, filterOf } from './ask.ts'
import type { App, AskingContext } from './context.ts'

export function registerStats(app: App, context: AskingContext): void {
  const { state, redactor } = context
  const remember = createMemory<StatsAnswer>()
  app.get('/api/v1/stats', async (c) => {
    const { q, findings } = queryOf(c, statsQuerySchema)
    const found = await state.read((database) =>
      remember(stateMark(database), JSON.stringify([q, findings]), () => {
        const filter = filterOf(database, q, context)
        const stats = queryStats(database, { filter, ...(findings !== undefined && { findings }) })
        return withoutSecrets(stats, redactor)
      }),
    )
    return answer(c, found ?? NO_STATS)
  })
}

export function withoutSecrets(stats: Stats, redactor: Redactor): StatsAnswer {
  const redact = (text: string): string => redactor.text(text)
  const id = (text: string): string => redactor.id(text)
  const { totals, tools, findings } = stats
  const { raw: _, ...usage } = totals.usage ?? { quality: 'unavailable' }
  return {
    ...stats,
    totals: {
      ...totals,
      ...(totals.usage && { usage }),
      cost: { ...totals.cost, unpriced: totals.cost.unpriced.map(redact) },
    },
    tools: tools.map((tool) => ({ ...tool, tool: redact(tool.tool) })),
    findings: findings.map((finding) => ({
      ...finding,
      session: id(finding.session),
      ...(finding.title !== undefined && { title: redact(finding.title) }),
      tool: redact(finding.tool),
      ...(finding.file !== undefined && { file: redact(finding.file) }),
      citations: finding.citations.map(redact),
    })),
  }
}
