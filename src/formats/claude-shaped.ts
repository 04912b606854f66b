/**
 * What facts need of a line whose shape is known (claude-shapes.ts), as the entry that reading all of it would give: without what was
 * said, and with what a call's arguments tell instead of them.
 */
import { TOLD, type Block, type ToolCallBlock } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Json } from '../transcript/json.ts'
import type { LineValues } from '../transcript/line-values.ts'
import { wayOf } from '../transcript/tool-files.ts'
import { isNamed } from '../transcript/totals.ts'
import { withoutZeros, type Usage } from '../transcript/usage.ts'
import { fromAnthropicUsage } from '../wire/anthropic-usage.ts'
import type { AnswerPlan, CallPlan, ClaudePlan, UsagePlan } from './claude-plans.ts'
import { fromTimestamp } from './claude-time.ts'

/** An entry before it has its place. */
export type ShapedEntry = { -readonly [K in keyof Entry]: Entry[K] }

const TEXT: Block = { type: 'text', text: '' }
const THINKING: Block = { type: 'thinking', text: '' }

/** Undefined for a line that has to be read: `values` are those of the line. */
export function fromShape(plan: ClaudePlan, values: LineValues): ShapedEntry | undefined {
  const blocks: Block[] = []
  for (const block of plan.blocks) {
    if (block.type === 'tool-call') {
      const call = toCall(block, values)
      if (call === undefined) return undefined
      blocks.push(call)
    } else if (block.type === 'tool-result') {
      const { type, isError } = block
      const callId = values.text(block.callId)
      blocks.push(isError === undefined ? { type, callId } : { type, callId, isError })
    } else blocks.push(block.type === 'text' ? TEXT : THINKING)
  }
  const entry: ShapedEntry = {
    id: '',
    source: '',
    sequence: 0,
    kind: 'message',
    role: plan.answer === undefined ? 'tool' : 'assistant',
    blocks,
  }
  const at = fromTimestamp(values.text(plan.timestamp))
  if (at !== undefined) entry.at = at
  if (plan.took !== undefined) {
    entry.durationMs = values.count(plan.took)
    if (entry.durationMs === -1) return undefined
  }
  return plan.answer === undefined || takeAnswer(entry, plan.answer, values) ? entry : undefined
}

function takeAnswer(
  entry: ShapedEntry,
  { id, model, isDone, usage }: AnswerPlan,
  values: LineValues,
): boolean {
  const messageId = values.text(id)
  const used = toUsage(usage, isDone, values)
  // Without an id the call is told by its request.
  if (!isNamed(messageId) || used === undefined) return false
  entry.model = model
  entry.usage = used
  entry.call = { provider: 'anthropic', messageId }
  return true
}

function toUsage(
  { words, counts, usual }: UsagePlan,
  isDone: boolean,
  values: LineValues,
): Usage | undefined {
  const quality = isDone ? 'reported' : 'partial'
  if (usual !== undefined) {
    const input = values.count(usual[0] as number)
    const cacheRead = values.count(usual[1] as number)
    const written = values.count(usual[2] as number)
    const cacheWrite5m = values.count(usual[3] as number)
    const cacheWrite1h = values.count(usual[4] as number)
    const output = values.count(usual[5] as number)
    const isPlain = input >= 0 && cacheRead >= 0 && output >= 0 && cacheWrite5m >= 0 && cacheWrite1h >= 0
    if (isPlain && written === cacheWrite5m + cacheWrite1h && output > 0)
      return { quality, raw: words, input, cacheRead, cacheWrite5m, cacheWrite1h, output }
  }
  const raw: Record<string, Json> = { ...words }
  for (const [[name = '', inner], place] of counts) {
    const count = values.count(place)
    if (count === -1) return undefined
    if (inner === undefined) raw[name] = count
    else raw[name] = { ...(raw[name] as { readonly [key: string]: Json }), [inner]: count }
  }
  return withoutZeros(fromAnthropicUsage(raw, quality))
}

function toCall(plan: CallPlan, values: LineValues): ToolCallBlock | undefined {
  values.begin(plan.mixed)
  for (const one of plan.steps) {
    if ('step' in one) values.mixStep(one.step)
    else if (!(one.isText ? values.mix(one.place) : values.mixNumber(one.place))) return undefined
  }
  const files: string[] = []
  for (const place of plan.files) if (!values.isEmpty(place)) files.push(values.text(place))
  const way = plan.command === undefined ? plan.way : wayOf(plan.name, { command: values.text(plan.command) })
  return {
    type: 'tool-call',
    callId: values.text(plan.callId),
    name: plan.name,
    [TOLD]: { hash: values.mixed(), files: files.length > 1 ? [...new Set(files)] : files, way },
  }
}
