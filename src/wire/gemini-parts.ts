/** Parts of Gemini's contents as blocks: the same for a request's `contents` and for a candidate. */
import type { Block, ToolResultBlock } from '../transcript/block.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { asArray, asObject, asString, isObject, rest } from '../transcript/json.ts'
import type { SplitBlock } from './split.ts'

/** `content.parts`, in order. A bare string is one text, as the SDKs allow. */
export function splitParts(parts: Json | undefined): SplitBlock[] {
  if (typeof parts === 'string') return [{ block: { type: 'text', text: parts } }]
  return (asArray(parts) ?? (parts === undefined || parts === null ? [] : [parts])).map(splitPart)
}

/**
 * One part. A thought's `thoughtSignature` is the block's; on any other part it is in the extras. What Gemini ran itself
 * (`executableCode`, …) and a call whose arguments come in pieces are unknown blocks, verbatim.
 */
export function splitPart(raw: Json): SplitBlock {
  const split = isObject(raw) ? splitKnown(raw) : undefined
  return split ?? { block: { type: 'unknown', raw } }
}

function splitKnown(raw: JsonObject): SplitBlock | undefined {
  const text = asString(raw['text'])
  if (text !== undefined && raw['thought'] === true) {
    const signature = asString(raw['thoughtSignature'])
    const block: Block = { type: 'thinking', text, ...(signature !== undefined && { signature }) }
    return withRest(
      block,
      raw,
      signature === undefined ? ['text', 'thought'] : ['text', 'thought', 'thoughtSignature'],
    )
  }
  if (text !== undefined) return withRest({ type: 'text', text }, raw, ['text'])
  return splitCall(raw) ?? splitResponse(raw) ?? splitImage(raw)
}

function splitCall(raw: JsonObject): SplitBlock | undefined {
  const call = asObject(raw['functionCall'])
  const name = asString(call?.['name'])
  if (call === undefined || name === undefined || !onlyHas(call, CALL)) return undefined
  const callId = asString(call['id'])
  const input = call['args']
  return withRest(
    {
      type: 'tool-call',
      ...(callId !== undefined && { callId }),
      name,
      ...(input !== undefined && { input }),
    },
    raw,
    ['functionCall'],
  )
}

/** The one key `output` or `error` is the tool's own word; any other structure is kept as it is. */
function splitResponse(raw: JsonObject): SplitBlock | undefined {
  const answer = asObject(raw['functionResponse'])
  const name = asString(answer?.['name'])
  if (answer === undefined || name === undefined || !onlyHas(answer, RESPONSE)) return undefined
  const callId = asString(answer['id'])
  const block: ToolResultBlock = {
    type: 'tool-result',
    ...(callId !== undefined && { callId }),
    name,
    ...toOutput(answer['response']),
  }
  return withRest(block, raw, ['functionResponse'])
}

function toOutput(response: Json | undefined): Pick<ToolResultBlock, 'output' | 'error' | 'isError'> {
  if (response === undefined) return {}
  const keys = isObject(response) ? Object.keys(response) : []
  const output = keys.length === 1 ? asString(asObject(response)?.['output']) : undefined
  if (output !== undefined) return { output }
  const error = keys.length === 1 ? asString(asObject(response)?.['error']) : undefined
  if (error !== undefined) return { error, isError: true }
  return { output: [{ type: 'unknown', raw: response }] }
}

function splitImage(raw: JsonObject): SplitBlock | undefined {
  const inline = asObject(raw['inlineData'])
  const file = asObject(raw['fileData'])
  const mediaType = asString((inline ?? file)?.['mimeType'])
  if (mediaType?.startsWith('image/') !== true) return undefined
  const data = asString(inline?.['data'])
  if (inline !== undefined && data !== undefined && onlyHas(inline, INLINE)) {
    return withRest({ type: 'image', mediaType, data }, raw, ['inlineData'])
  }
  const url = asString(file?.['fileUri'])
  if (file === undefined || url === undefined || !onlyHas(file, FILE)) return undefined
  return withRest({ type: 'image', mediaType, url }, raw, ['fileData'])
}

const CALL: ReadonlySet<string> = new Set(['id', 'name', 'args'])
const RESPONSE: ReadonlySet<string> = new Set(['id', 'name', 'response'])
const INLINE: ReadonlySet<string> = new Set(['mimeType', 'data'])
const FILE: ReadonlySet<string> = new Set(['mimeType', 'fileUri'])

function onlyHas(object: JsonObject, known: ReadonlySet<string>): boolean {
  return Object.keys(object).every((key) => known.has(key))
}

function withRest(block: Block, raw: JsonObject, known: readonly string[]): SplitBlock {
  const extras = rest(raw, new Set(known))
  return extras === undefined ? { block } : { block, extras }
}
