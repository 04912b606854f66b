/** Gemini's answers: a stream of one is the same as a whole one. */
import { contentText, type Block } from '../transcript/block.ts'
import { isObject, type JsonObject } from '../transcript/json.ts'
import type { NamedAnswer } from './regenerate.ts'

export function geminiMessage({ blocks, model, messageId, usage }: NamedAnswer): JsonObject {
  const cached = usage?.cacheRead ?? 0
  const thoughts = usage?.reasoning ?? 0
  const [asked, said] = [(usage?.input ?? 0) + cached, (usage?.output ?? 0) - thoughts]
  return {
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: blocks.flatMap((block) => toPart(block) ?? []) },
        finishReason: 'STOP',
      },
    ],
    modelVersion: model,
    responseId: messageId ?? 'regenerated',
    usageMetadata: {
      promptTokenCount: asked,
      cachedContentTokenCount: cached,
      candidatesTokenCount: said,
      thoughtsTokenCount: thoughts,
      totalTokenCount: asked + said + thoughts,
    },
  }
}

function toPart(block: Block): JsonObject | undefined {
  if (block.type === 'text') return { text: contentText(block.text) }
  if (block.type === 'thinking') return { text: contentText(block.text), thought: true }
  if (block.type !== 'tool-call') return undefined
  const args = isObject(block.input) ? block.input : { input: block.input ?? null }
  return { functionCall: { ...(block.callId !== undefined && { id: block.callId }), name: block.name, args } }
}
