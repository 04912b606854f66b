/**
 * Grok CLI's own sessions: `<uuid>/chat_history.jsonl`, what the model was given and said, in OpenAI's words without their envelopes. It has
 * neither times nor tokens. A subagent's history lies in a folder of its own.
 */
import type { Block } from '../transcript/block.ts'
import { isUuid } from '../transcript/ids.ts'
import {
  asArray,
  asObject,
  asString,
  isObject,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { splitItem } from '../wire/openai-items.ts'
import { splitContent, splitPart, toArguments } from '../wire/openai-parts.ts'
import { toBlocks, type SplitBlock } from '../wire/split.ts'
import { readDocument } from './document.ts'
import { vocabulary } from './drift.ts'
import { foldedFormat, vote } from './folded-format.ts'
import type { Detection, Format } from './format.ts'
import type { Head } from './head-records.ts'
import { PLACES } from './places.ts'
import type { Said } from './placing.ts'
import type { SessionFold } from './session-fold.ts'
import { unknownSaid } from './unknown.ts'

const ID = 'grok'

export const grok: Format = foldedFormat({
  id: ID,
  title: 'Grok CLI: <uuid>/chat_history.jsonl',
  words: `type content text image url tool_calls id name arguments model_id tool_call_id summary summary_text encrypted_content system user
    assistant reasoning tool_result`,
  look,
  async fold(file, source) {
    return createGrokFold(sessionOf(source, file), await readSummary(source, file))
  },
  vocabulary: vocabulary({
    records: [
      'system: content',
      'user: content synthetic_reason prompt_index prior_turn_interrupt',
      'assistant: content tool_calls model_id model_fingerprint reasoning_effort',
      'reasoning: id summary content encrypted_content status',
      'tool_result: tool_call_id content',
      'backend_tool_call: kind',
    ],
    common: 'type',
  }),
  watch: (watch, line) => watch.record(asString(line['type']) ?? '', line),
  isCandidate: ({ path }) => path.endsWith('.jsonl') || !path.includes('/'),
  places: PLACES.grok,
  unit: ({ path }) => path.slice(0, Math.max(0, path.lastIndexOf('/'))) || path,
})

function look(head: Head): Detection | undefined {
  if (!head.records.some(isOwn)) return undefined
  return vote(head, isLine, { what: 'line', of: "Grok's history" })
}

/** What no other program writes: a model's id on its answer, calls without an envelope, why a message was made up. */
function isOwn(record: JsonObject): boolean {
  const { type } = record
  if (type === 'assistant') return 'model_id' in record && ('content' in record || 'tool_calls' in record)
  return (
    (type === 'user' && ('prompt_index' in record || 'synthetic_reason' in record)) ||
    type === 'backend_tool_call'
  )
}

function isLine({ type, content, tool_call_id: callId, summary, kind }: JsonObject): boolean {
  switch (asString(type) ?? '') {
    case 'system':
      return typeof content === 'string'
    case 'user':
    case 'assistant':
      return typeof content === 'string' || Array.isArray(content)
    case 'tool_result':
      return typeof callId === 'string'
    case 'reasoning':
      return Array.isArray(summary)
    case 'backend_tool_call':
      return isObject(kind)
    default:
      return false
  }
}

/** The folder's name. */
function sessionOf(source: Source, { path }: SourceFile): string | undefined {
  const folder = (source.kind === 'file' ? source.path.replaceAll('\\', '/') : path).split('/').at(-2)
  return folder !== undefined && isUuid(folder) ? folder : undefined
}

async function readSummary(source: Source, { path }: SourceFile): Promise<JsonObject | undefined> {
  const folder = source.kind === 'file' ? '' : path.slice(0, path.lastIndexOf('/') + 1)
  const file = await source.find(`${folder}summary.json`)
  return file === undefined ? undefined : asObject((await readDocument(file)).raw)
}

function createGrokFold(sessionId: string | undefined, summary: JsonObject | undefined): SessionFold {
  let model: string | undefined
  const title = asString(summary?.['title']) || undefined
  const cwd = asString(summary?.['cwd']) || undefined
  return {
    next(value) {
      if (!isObject(value)) return []
      model = asString(value['model_id']) ?? model
      return [fromLine(value) ?? unknownSaid(value, asString(value['type']))]
    },
    facts: () => ({
      agent: ID,
      ...(sessionId !== undefined && { sessionId }),
      ...(model !== undefined && { model }),
      ...(title !== undefined && { title }),
      ...(cwd !== undefined && { cwd }),
      ...(summary !== undefined && { metadata: { [ID]: { summary } } }),
    }),
  }
}

const TAKEN: ReadonlySet<string> = new Set(['type', 'content', 'tool_calls', 'tool_call_id', 'model_id'])

function fromLine(line: JsonObject): Said | undefined {
  const type = asString(line['type'])
  if (type === 'reasoning') return toSaid('assistant', splitItem(line), undefined)
  const more = rest(line, TAKEN)
  if (type === 'tool_result') return toSaid('tool', [{ block: toResult(line) }], more)
  if (type !== 'system' && type !== 'user' && type !== 'assistant') return undefined
  const { content } = line
  const parts = asArray(content)?.map(splitUserPart) ?? splitContent(content)
  const calls = (asArray(line['tool_calls']) ?? []).map(splitCall)
  const model = asString(line['model_id'])
  return { ...toSaid(type, [...parts, ...calls], more), ...(model !== undefined && { model }) }
}

function toSaid(
  role: 'system' | 'user' | 'assistant' | 'tool',
  split: readonly SplitBlock[],
  more: JsonObject | undefined,
): Said {
  const { blocks, extras } = toBlocks(split)
  const metadata = { ...more, ...(extras !== undefined && { extras }) }
  return { kind: 'message', role, blocks, ...(Object.keys(metadata).length > 0 && { metadata }) }
}

function toResult({ tool_call_id: callId, content }: JsonObject): Block {
  const output = asString(content) ?? asArray(content)?.map((part) => splitPart(part).block)
  return {
    type: 'tool-result',
    ...(typeof callId === 'string' && { callId }),
    ...(output !== undefined && { output }),
  }
}

/** Images are `{type: image, url}`. */
function splitUserPart(part: Json): SplitBlock {
  const url = asObject(part)?.['type'] === 'image' ? asString(asObject(part)?.['url']) : undefined
  return url === undefined ? splitPart(part) : splitPart({ type: 'image_url', image_url: { url } })
}

function splitCall(raw: Json): SplitBlock {
  const name = asString(asObject(raw)?.['name'])
  if (!isObject(raw) || name === undefined) return { block: { type: 'unknown', raw } }
  const callId = asString(raw['id'])
  const stated = raw['arguments']
  const input = typeof stated === 'string' ? toArguments(stated) : stated
  const extras = rest(raw, new Set(['id', 'name', 'arguments']))
  return {
    block: {
      type: 'tool-call',
      ...(callId !== undefined && { callId }),
      name,
      ...(input !== undefined && { input }),
    },
    ...(extras !== undefined && { extras }),
  }
}
