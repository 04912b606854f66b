/** Which entry of the recording a difference is at: the message that differs, or, where it has no entry of its own, its call. */
import { partsOf } from '../replay/matching/keys.ts'
import type { PathDifference } from '../replay/matching/path-diff.ts'
import type { Block } from '../transcript/block.ts'
import { asObject, isObject, type Json } from '../transcript/json.ts'
import { envelopeOf } from '../wire/call-apis.ts'
import { parseRequest } from '../wire/request.ts'
import { markOf, type SessionCalls } from './entry-calls.ts'
import type { Exchange } from './recording.ts'

/** `request`: what was asked and with what; `tool`: what a tool gave; `answer`: what the agent says it was answered. */
export type Where = 'request' | 'tool' | 'answer'

export type Cited = { readonly where: Where; readonly citation?: string }

export function cite(
  exchange: Exchange,
  { calls, places }: SessionCalls,
  difference: Pick<PathDifference, 'path' | 'kind'> | undefined,
): Cited {
  const own = calls.find(({ call }) => call !== undefined && call === exchange.call)
  const atCall = own?.asked ?? own?.answered
  if (difference !== undefined && own?.parameters !== undefined && isParameter(difference.path))
    return { where: 'request', citation: own.parameters }
  const blocks = difference === undefined ? [] : blocksAt(exchange, difference.path)
  for (const block of blocks) {
    const mark = markOf(block)
    const citation = mark === undefined ? undefined : places.get(mark)
    if (citation !== undefined) return { where: whereOf(block, difference?.path ?? '', exchange), citation }
  }
  const [first] = blocks
  return {
    where: first === undefined ? 'request' : whereOf(first, difference?.path ?? '', exchange),
    ...(atCall !== undefined && { citation: atCall }),
  }
}

/** Not the history, nor the system prompt. */
function isParameter(path: string): boolean {
  return !/^(?:request\.)?(?:messages|input|contents|system\w*|instructions)\b/.test(path)
}

/** What was recorded at a path, as blocks: the part that is named first, then those around it. */
function blocksAt(exchange: Exchange, path: string): readonly Block[] {
  const body = exchange.asked?.()?.body
  if (!isObject(body)) return []
  const [, field = '', digits, part] =
    /^(?:request\.)?(\w+)(?:\[(\d+)\](?:\.\w+\[(\d+)\])?)?/.exec(path) ?? []
  const alone = itemAlone(body, field, digits)
  const { api, request } = envelopeOf(exchange.api ?? 'anthropic-messages')
  const { messages, system } = parseRequest(api, request(alone))
  const blocks =
    field.toLowerCase().startsWith('system') || field === 'instructions'
      ? (system?.blocks ?? [])
      : messages.flatMap((one) => one.blocks)
  const named = part === undefined ? undefined : blocks[Number(part)]
  return named === undefined ? blocks : [named, ...blocks.filter((one) => one !== named)]
}

function itemAlone(
  body: { readonly [field: string]: Json },
  field: string,
  digits: string | undefined,
): Json {
  const inner = asObject(body['request']) ?? body
  if (digits === undefined) return { [field]: inner[field] ?? null }
  const { list } = partsOf(body)
  const item = list[Number(digits)]
  return ['messages', 'input', 'contents'].includes(field)
    ? { [field]: item === undefined ? [] : [item] }
    : { [field]: inner[field] ?? null }
}

function whereOf(block: Block, path: string, exchange: Exchange): Where {
  if (block.type === 'tool-result') return 'tool'
  if (block.type === 'tool-call' || block.type === 'thinking') return 'answer'
  const body = exchange.asked?.()?.body
  const index = /\[(\d+)\]/.exec(path)?.[1]
  const item = isObject(body) && index !== undefined ? asObject(partsOf(body).list[Number(index)]) : undefined
  return item?.['role'] === 'assistant' || item?.['role'] === 'model' ? 'answer' : 'request'
}
