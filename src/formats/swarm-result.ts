/** What a provider's last line says about the whole step: `result` lines of the step contract, of Claude and of Gemini. */
import type { Entry } from '../transcript/entry.ts'
import { asCount, asNumber, asObject, isObject, type JsonObject } from '../transcript/json.ts'
import type { Session, Status } from '../transcript/session.ts'
import { hasCounts, type Usage } from '../transcript/usage.ts'
import { fromAnthropicUsage } from '../wire/anthropic-usage.ts'

export type Reported = Partial<Pick<Session, 'reportedUsage' | 'reportedCost' | 'status'>>

/** For the session, never for the entry: its messages may state the same tokens call by call. */
export function reportedBy({ metadata, blocks }: Entry): Reported {
  if (metadata?.['record'] !== 'result') return {}
  const [block] = blocks
  if (block?.type !== 'unknown' || !isObject(block.raw)) return {}
  const reportedUsage = usageOf(block.raw)
  const cost = asNumber(block.raw['total_cost_usd'])
  const status = statusOf(block.raw)
  return {
    ...(status && { status }),
    ...(reportedUsage && { reportedUsage }),
    ...(cost !== undefined && cost >= 0 && { reportedCost: toDecimal(cost) }),
  }
}

function statusOf(result: JsonObject): Status | undefined {
  if (result['is_error'] === true || result['status'] === 'error') return 'failed'
  return result['subtype'] === 'success' || result['status'] === 'success' ? 'completed' : undefined
}

function usageOf(result: JsonObject): Usage | undefined {
  const usage = asObject(result['usage'])
  const stats = asObject(result['stats'])
  if (usage !== undefined && 'input_tokens' in usage) return counted(fromAnthropicUsage(usage))
  if (usage !== undefined)
    return counted(disjoint(asCount(usage['prompt']), 0, asCount(usage['completion']), usage))
  if (stats === undefined) return undefined
  // Gemini's input includes what came from its cache.
  const cached = asCount(stats['cached']) ?? 0
  return counted(disjoint(asCount(stats['input_tokens']), cached, asCount(stats['output_tokens']), stats))
}

function disjoint(
  prompt: number | undefined,
  cached: number,
  output: number | undefined,
  raw: JsonObject,
): Usage {
  return {
    ...(prompt !== undefined && { input: Math.max(0, prompt - cached) }),
    ...(cached > 0 && { cacheRead: cached }),
    ...(output !== undefined && { output }),
    quality: 'reported',
    raw,
  }
}

function counted(usage: Usage): Usage | undefined {
  return hasCounts(usage) ? usage : undefined
}

/** A price in a float has some 15 digits to say; below a billionth of a dollar there are none. */
function toDecimal(usd: number): string {
  return usd.toFixed(9).replace(/\.?0+$/, '')
}
