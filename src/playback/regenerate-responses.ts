/** OpenAI's responses, whole and as the events of a stream. */
import { contentText, type Block } from '../transcript/block.ts'
import { asString, toJson, type JsonObject } from '../transcript/json.ts'
import type { NamedAnswer, StreamEvent } from './regenerate.ts'
import { openAiUsage } from './regenerate-chat.ts'

export function responsesMessage(answer: NamedAnswer): JsonObject {
  return {
    id: answer.messageId ?? 'resp_regenerated',
    object: 'response',
    created_at: 0,
    status: 'completed',
    model: answer.model,
    output: itemsOf(answer),
    usage: openAiUsage(answer, 'input_tokens', 'output_tokens'),
  }
}

export function responsesEvents(answer: NamedAnswer): readonly StreamEvent[] {
  const response = responsesMessage(answer)
  const begun = { ...response, status: 'in_progress', output: [], usage: null }
  const events: JsonObject[] = [{ type: 'response.created', response: begun }]
  for (const [index, item] of itemsOf(answer).entries()) {
    const open = item['type'] === 'message' ? { ...item, status: 'in_progress', content: [] } : item
    events.push({ type: 'response.output_item.added', output_index: index, item: open })
    events.push(...deltasOf(item, index))
    events.push({ type: 'response.output_item.done', output_index: index, item })
  }
  events.push({ type: 'response.completed', response })
  return events.map((event, at) => [asString(event['type']), { ...event, sequence_number: at }])
}

function itemsOf({ blocks }: NamedAnswer): readonly JsonObject[] {
  return blocks.flatMap((block, at) => {
    const item = toItem(block, at)
    return item === undefined ? [] : [item]
  })
}

function toItem(block: Block, at: number): JsonObject | undefined {
  switch (block.type) {
    case 'text': {
      const part = { type: 'output_text', text: contentText(block.text), annotations: [] }
      return { type: 'message', id: `msg_${at}`, role: 'assistant', status: 'completed', content: [part] }
    }
    case 'thinking':
      return {
        type: 'reasoning',
        id: `rs_${at}`,
        summary:
          contentText(block.text) === '' ? [] : [{ type: 'summary_text', text: contentText(block.text) }],
        ...(block.redacted !== undefined && { encrypted_content: block.redacted }),
      }
    case 'tool-call': {
      const { callId = `call_${at}`, name, input } = block
      const args = typeof input === 'string' ? input : toJson(input ?? {})
      return {
        type: 'function_call',
        id: `fc_${at}`,
        call_id: callId,
        name,
        arguments: args,
        status: 'completed',
      }
    }
    case 'tool-result':
    case 'image':
    case 'error':
    case 'unknown':
      return undefined
  }
}

function deltasOf(item: JsonObject, index: number): readonly JsonObject[] {
  const [part] = Array.isArray(item['content']) ? (item['content'] as readonly JsonObject[]) : []
  if (item['type'] !== 'message' || part === undefined) return []
  const place = { item_id: item['id'] ?? '', output_index: index, content_index: 0 }
  return [
    { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...place, delta: part['text'] ?? '' },
    { type: 'response.output_text.done', ...place, text: part['text'] ?? '' },
    { type: 'response.content_part.done', ...place, part },
  ]
}
