/** What agents say of a session over the Agent Client Protocol beside what is said and done in it: who they are, which model, what it took. */
import type { Json, JsonObject } from '../../transcript/json.ts'
import { asArray, asCount, asNumber, asObject, asString } from '../../transcript/json.ts'
import { hasCounts, type Usage } from '../../transcript/usage.ts'

/** Bridges to agents that have a log of the same session, under their own name. */
const BRIDGED: ReadonlyMap<string, string> = new Map([
  ['@zed-industries/claude-code-acp', 'claude-code'],
  ['@zed-industries/claude-agent-acp', 'claude-code'],
  ['@agentclientprotocol/claude-agent-acp', 'claude-code'],
  ['claude-code-acp', 'claude-code'],
  ['claude-agent-acp', 'claude-code'],
  ['@zed-industries/codex-acp', 'codex'],
  ['@agentclientprotocol/codex-acp', 'codex'],
  ['codex-acp', 'codex'],
])

export type AgentFacts = { readonly name?: string; readonly version?: string }

/** From the answer to `initialize`. */
export function agentIn(result: JsonObject | undefined): AgentFacts {
  const said = asObject(result?.['agentInfo'])
  const name = asString(said?.['name'])?.slice(0, 100)
  const version = asString(said?.['version'])
  return { ...(name && { name: BRIDGED.get(name) ?? name }), ...(version !== undefined && { version }) }
}

/** Which model is at work: a setting of its own before, one among others since. */
export function modelIn(said: JsonObject | undefined): string | undefined {
  const models = asObject(said?.['models'])
  const stated = asString(models?.['currentModelId']) ?? asString(said?.['modelId'])
  const option = (asArray(said?.['configOptions']) ?? [])
    .map(asObject)
    .find((one) => one?.['category'] === 'model' || one?.['id'] === 'model')
  return stated ?? asString(option?.['currentValue'])
}

/**
 * The counts that some agents give with the end of a turn. The protocol has not settled what they are of: they are taken as those of the
 * turn, as the agents that give them mean it, and are `estimated`.
 */
export function turnUsage(raw: Json | undefined): Usage | undefined {
  const said = asObject(raw)
  const input = asCount(said?.['inputTokens'])
  const output = asCount(said?.['outputTokens'])
  const cacheRead = asCount(said?.['cachedReadTokens'])
  const cacheWrite5m = asCount(said?.['cachedWriteTokens'])
  const reasoning = asCount(said?.['thoughtTokens'])
  const total = asCount(said?.['totalTokens'])
  const cached = (cacheRead ?? 0) + (cacheWrite5m ?? 0)
  const isWithin = input !== undefined && cached <= input && total === input + (output ?? 0)
  const usage: Usage = {
    ...(input !== undefined && { input: isWithin ? input - cached : input }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(output !== undefined && { output }),
    ...(reasoning !== undefined && output !== undefined && reasoning <= output && { reasoning }),
    quality: 'estimated',
  }
  return hasCounts(usage) && raw !== undefined ? { ...usage, raw } : undefined
}

/** What a session has cost so far, in US dollars. */
export function costIn(update: JsonObject): number | undefined {
  const cost = asObject(update['cost'])
  const amount = asNumber(cost?.['amount'])
  return cost?.['currency'] === 'USD' && amount !== undefined && amount >= 0 ? amount : undefined
}
