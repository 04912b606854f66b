/** What callers say, as blocks: text, our own blocks, a provider's, or whatever was thrown. Takes anything and never throws. */
import { messageOf } from '../errors.ts'
import { asBlock, type Block } from '../transcript/block.ts'
import type { Call } from '../transcript/entry.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import type { Usage } from '../transcript/usage.ts'
import { fromAnthropicBlock } from '../wire/anthropic-blocks.ts'
import type { WireMessage } from '../wire/message.ts'

export type AnswerDetails = {
  readonly call: Call
  readonly model?: string
  readonly usage?: Usage
  readonly stopReason?: string
  readonly metadata?: JsonObject
}

/** Text, our blocks, or a provider's own: Anthropic's content is taken as it is; nothing at all is no blocks. */
export function toBlocks(said: unknown): readonly Block[] {
  if (typeof said === 'string') return [{ type: 'text', text: said }]
  if (said === undefined || said === null) return []
  const list: readonly unknown[] = Array.isArray(said) ? said : [said]
  return list.map((one) => {
    if (typeof one === 'string') return { type: 'text', text: one }
    const block = asBlock(one)
    // What the model does not know as its own may be Anthropic's; what neither knows is kept as unknown.
    return block === one ? block : fromAnthropicBlock(one as Json)
  })
}

/** What a provider's answer says beside its blocks. */
export function toAnswerDetails({
  model,
  usage,
  stopReason,
  provider,
  messageId,
  requestId,
  serviceTier,
  fields,
}: WireMessage): AnswerDetails {
  const call = {
    provider,
    ...(messageId !== undefined && { messageId }),
    ...(requestId !== undefined && { requestId }),
  }
  const metadata: JsonObject = { ...fields, ...(serviceTier !== undefined && { serviceTier }) }
  return {
    call,
    ...(model !== undefined && { model }),
    ...(usage && { usage }),
    ...(stopReason !== undefined && { stopReason }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
}

export function toErrorBlock(error: unknown): Block {
  if (!(error instanceof Error)) return { type: 'error', message: messageOf(error) }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return { type: 'error', message: error.message, ...(code !== undefined && { code }) }
}
