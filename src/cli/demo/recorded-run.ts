/** A run that was recorded as it went, step by step: unlike receipts, it says what was read from caches, so that every step has its cost. */
import { startRun } from '../../capture/run.ts'

const MODEL = 'claude-sonnet-4-6'

/** Flow, step, agent, seconds, calls, and what it says at its end. */
const STEPS = [
  ['review', 'collect-changes', 'collector', 24, 3, 'Eleven commits since yesterday, in three services.'],
  [
    'review',
    'read-changes',
    'reviewer',
    148,
    9,
    'Two remarks: a query without an index, and a retry without an end.',
  ],
  ['report', 'write-digest', 'writer', 31, 2, 'The digest is in the channel.'],
] as const

export async function recordReviewRun(home: string, cwd: string, begins: number): Promise<void> {
  let now = begins
  const run = startRun({ flow: 'review', home, cwd, now: () => now, agent: 'nightly-review', model: MODEL })
  for (const [flow, step, agentKey, seconds, calls, says] of STEPS) {
    const session = await run.step({
      flow,
      step,
      agentKey,
      engine: 'claude',
      agent: 'nightly-review',
      model: MODEL,
    })
    let context = 8200
    const details = (output: number, fresh: number, number: number) => {
      const usage = { input: 12, cacheRead: context, cacheWrite5m: fresh, output }
      context += fresh + output
      return {
        model: MODEL,
        usage,
        call: { provider: 'anthropic', messageId: `msg_review_${step}_${number}` },
      }
    }
    session.user(`Step role: ${step.replaceAll('-', ' ')}`)
    for (let call = 0; call < calls; call += 1) {
      now += (seconds * 1000) / (calls + 1)
      const command = `git show --stat HEAD~${call}`
      const callId = session.toolCall({ name: 'Bash', input: { command }, ...details(60, 900, call) })
      session.toolResult({ callId, output: `${3 + call} files changed`, durationMs: 120 })
    }
    now += (seconds * 1000) / (calls + 1)
    session.assistant(says, { ...details(180, 400, calls), stopReason: 'end_turn' })
    await session.end()
    now += 4000
  }
}
