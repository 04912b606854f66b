/** Stub mode: what an engine writes when it asks no provider anything, and how such sessions are known again. */
import { PRIMARY, type Entry, type Role } from '../transcript/entry.ts'
import { asCount, asObject, type JsonObject } from '../transcript/json.ts'

export const STUB_MODEL = 'claude-stub'
/** Before each answer of a stub. */
export const STUB_PREFIX = '[STUB]'

type StubStep = {
  readonly step: string
  readonly agentKey: string
  /** What the step is for: `Implement code changes...` */
  readonly role: string
  readonly at: string
  /** When the answer comes; `at` when absent. */
  readonly endedAt?: string
}

/** The seed's three lines, as entries. */
export function stubEntries({ step, agentKey, role, at, endedAt = at }: StubStep): readonly Entry[] {
  const lines: readonly (readonly [Role, string, string])[] = [
    ['system', at, `Executing step ${step} with agent ${agentKey}`],
    ['user', at, `Step role: ${role}`],
    [
      'assistant',
      endedAt,
      `${STUB_PREFIX} Completed step ${step}. In production, this would contain the actual Claude response.`,
    ],
  ]
  return lines.map(([role, at, text], sequence) => ({
    id: `${PRIMARY}/${sequence}`,
    source: PRIMARY,
    sequence,
    kind: 'message',
    role,
    at,
    blocks: [{ type: 'text', text }],
  }))
}

/** `[STUB]` and the later `[STUB WORKER]`. */
export function isStubText(role: Role | undefined, text: string): boolean {
  return role === 'assistant' && /^\[STUB[ \]]/.test(text)
}

/**
 * The receipt's word decides: the stub model, or mode `stub`. The `[STUB]` prefix alone is believed only where no tokens were
 * counted, for a model may say it too, and a session that cost something must not vanish from its cost.
 */
export function isStub(receipt: JsonObject | undefined, saysStub: boolean): boolean {
  if (receipt?.['model'] === STUB_MODEL || receipt?.['mode'] === 'stub') return true
  return saysStub && !hasTokens(receipt)
}

/** A provider never answers for 0 tokens: zeros are what engines write when nobody counted. */
export function hasTokens(receipt: JsonObject | undefined): boolean {
  const tokens = asObject(receipt?.['tokens'])
  return [tokens?.['prompt'], tokens?.['completion'], tokens?.['total']].some((n) => (asCount(n) ?? 0) > 0)
}
