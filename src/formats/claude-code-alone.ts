/**
 * What one line of a Claude Code log says of what is searched, by itself: its blocks, who said them and when. For the lines that nearly
 * all are, in a fraction of the code and the time that reading them takes; whoever asks has a mark of the whole entry to hold it
 * against, and reads the line as any other where it is not the same.
 */
import type { Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { isObject, type Json } from '../transcript/json.ts'
import { splitAnthropicBlock } from '../wire/anthropic-blocks.ts'
import { fromTimestamp } from './claude-time.ts'

export type Alone = Pick<Entry, 'id' | 'kind' | 'role' | 'at' | 'model' | 'blocks'>

export function claudeLineAlone(line: Json): Alone | undefined {
  if (!isObject(line) || !isObject(line['message'])) return undefined
  const { type, uuid, timestamp } = line
  const { content, model } = line['message']
  if (type !== 'user' && type !== 'assistant') return undefined
  const blocks = blocksOf(content)
  if (blocks === undefined) return undefined
  const at = typeof timestamp === 'string' ? fromTimestamp(timestamp) : undefined
  const isResults = type === 'user' && blocks.length > 0 && blocks.every((one) => one.type === 'tool-result')
  return {
    id: typeof uuid === 'string' ? uuid : '',
    kind: 'message',
    role: isResults ? 'tool' : type,
    blocks,
    ...(at !== undefined && { at }),
    ...(type === 'assistant' && typeof model === 'string' && { model }),
  }
}

function blocksOf(content: Json | undefined): Block[] | undefined {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content)) return undefined
  return content.map((one: Json) => splitAnthropicBlock(one).block)
}
