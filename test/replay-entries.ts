/** Small entries and a session to draw: what the tests of the views share. */
import type { Block } from '../src/transcript/block.ts'
import type { Entry } from '../src/transcript/entry.ts'
import type { Session } from '../src/transcript/session.ts'

let next = 0
export const entry = (
  role: Entry['role'],
  blocks: readonly Block[] | string,
  facts: Partial<Entry> = {},
): Entry => {
  next += 1
  return {
    id: `e${next}`,
    source: 'primary',
    sequence: next,
    kind: 'message',
    ...(role && { role }),
    at: '2025-01-15T09:15:32.000Z',
    blocks: typeof blocks === 'string' ? [{ type: 'text', text: blocks }] : blocks,
    ...facts,
  }
}
export const call = (callId: string, name = 'Read'): Block => ({
  type: 'tool-call',
  callId,
  name,
  input: { path: 'src/main.py' },
})
export const result = (callId: string, output: string, facts = {}): Block => ({
  type: 'tool-result',
  callId,
  output,
  ...facts,
})

export const session: Session = {
  id: '0190-a',
  status: 'failed',
  run: { id: '2025-01-15-ticket-to-pr-TK-421', flow: 'ticket-to-pr' },
  startedAt: '2025-01-15T14:30:22.000Z',
  endedAt: '2025-01-15T14:45:54.400Z',
  reportedUsage: { input: 5200, output: 1800, quality: 'reported' },
  reportedCost: '0.12',
  error: 'out of luck',
}
