/** What a swarm line or receipt has no place for, or had to be given, said once for each. */
import { isBlobRef, type ToolResultBlock } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { promptTokens, type Usage } from '../transcript/usage.ts'
import type { WriteContext } from './format.ts'

export function reportTokens(usage: Usage | undefined, context: WriteContext): void {
  if (usage === undefined || promptTokens(usage) === undefined) context.filled(undefined, 'tokens.prompt')
  if (usage?.output === undefined) context.filled(undefined, 'tokens.completion')
}

export function reportResult(entry: Entry, result: ToolResultBlock, context: WriteContext): void {
  const { output, error, isError } = result
  if (isError === true || error !== undefined) context.lost(entry, 'that the tool failed')
  if (output !== undefined && error !== undefined) context.lost(entry, "the tool's error beside its output")
  if (output === undefined && error === undefined) context.filled(entry, 'tool_output')
  const isText = output === undefined || typeof output === 'string' || isBlobRef(output)
  if (!isText) context.lost(entry, 'the parts of the result: it is written as one text')
}

/** What a line has no place for, in one note for each entry. The receipt holds the sum of usage. */
export function reportFacts(entry: Entry, context: WriteContext): void {
  const nanos = entry.at !== undefined && entry.at.length > 27 ? entry.at : undefined
  const facts = {
    usage: entry.usage,
    duration: entry.durationMs,
    'stop reason': entry.stopReason,
    nanoseconds: nanos,
  }
  const lost = Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (lost.length > 0) context.lost(entry, lost.join(', '))
}
