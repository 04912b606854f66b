/**
 * Factory's Droid, read: the logs of its sessions (`session_start` and messages of Anthropic's shape, with counts only in the settings
 * beside), and what `droid exec --output-format stream-json` prints.
 */
import { counted } from '../transcript/counted.ts'
import type { Block } from '../transcript/block.ts'
import { parseInstant } from '../transcript/instant.ts'
import {
  asCount,
  asObject,
  asString,
  isObject,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { withoutZeros, type Usage } from '../transcript/usage.ts'
import { fromAnthropicUsage } from '../wire/anthropic-usage.ts'
import { readDocument } from './document.ts'
import { vocabulary } from './drift.ts'
import { fileFormat, type FileReading } from './file-format.ts'
import type { Detection, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { isInstant, isText, takes } from './left-over.ts'
import { PLACES } from './places.ts'
import { asId, type Said } from './placing.ts'
import { tellLines, type Facts } from './telling.ts'
import { unknownSaid } from './unknown.ts'
import { inside, withUnsaid } from './unsaid.ts'
import { fromWireMessage } from './wire-said.ts'

export const droid = fileFormat({
  id: 'droid',
  title: "Factory's Droid: sessions/*.jsonl, stream-json",
  look: lookAtDroid,
  vocabulary: vocabulary({
    records: [
      'session_start: title cwd owner sessionTitle version model',
      'message: parentId message role text sessionId session_id visibility',
      'todo_state: todos messageIndex',
      'compaction_state: summaryText summaryTokens summaryKind anchorMessage removedCount',
      'system: subtype sessionId session_id model cwd tools reasoning_effort',
      'tool_call: sessionId session_id messageId toolId toolName toolCallId parameters',
      'tool_result: sessionId session_id messageId toolId toolName toolCallId isError value error',
      'completion: sessionId session_id finalText usage numTurns durationMs',
      'error: sessionId session_id source message',
    ],
    common: 'type id timestamp',
  }),
  read: readDroid,
  places: PLACES.droid,
  unit: ({ path }) => path.replace(/\.settings\.json$/, '.jsonl'),
})

function lookAtDroid({ records }: Head): Detection | undefined {
  const starts = records.filter(({ type, id }) => type === 'session_start' && typeof id === 'string').length
  const stored = records.filter(
    ({ type, message }) => type === 'message' && isObject(message) && 'role' in message,
  ).length
  if (starts > 0)
    return { confidence: 0.95, reason: `the start of a session and ${counted(stored, 'message')}` }
  const printed = records.filter(isPrinted).length
  if (printed === 0 || printed * 2 < records.length) return undefined
  return { confidence: 0.93, reason: `${counted(printed, 'line')} as Droid prints them` }
}

function isPrinted(record: JsonObject): boolean {
  const { type } = record
  if (!('sessionId' in record) && !('session_id' in record)) return false
  if (type === 'message') return typeof record['text'] === 'string' && typeof record['role'] === 'string'
  if (type === 'tool_call' || type === 'tool_result')
    return 'toolId' in record || 'toolName' in record || 'toolCallId' in record
  return type === 'completion' && 'finalText' in record
}

async function* readDroid(
  file: SourceFile,
  { open, watch, beside }: FileReading,
): AsyncGenerator<readonly ReadItem[]> {
  const telling = open()
  const name = file.path.slice(file.path.lastIndexOf('/') + 1)
  const settings = name.endsWith('.jsonl')
    ? await beside(name.replace(/\.jsonl$/, '.settings.json'))
    : undefined
  if (settings !== undefined) {
    const { raw, bytes, damage } = await readDocument(settings)
    if (damage !== undefined) telling.damage(damage)
    else {
      telling.know(settingsOf(raw))
      telling.say(unknownSaid(raw, 'settings'), {
        file: settings.path,
        number: 0,
        byteOffset: 0,
        byteLength: bytes,
      })
    }
  }
  let last = ''
  yield* tellLines(file, telling, (value, place) => {
    if (!isObject(value)) return telling.say(unknownSaid(value), place)
    watch?.record(asString(value['type']) ?? 'unknown', value)
    telling.know(factsOf(value))
    const said = fromLine(value, last)
    const [first] = said.blocks
    if (said.role === 'assistant' && first?.type === 'text' && typeof first.text === 'string')
      last = first.text
    telling.say(said, place)
  })
}

/** Counts of the whole session, which exclude what was cached. */
function settingsOf(raw: Json): Facts {
  const settings = asObject(raw)
  const counts = asObject(settings?.['tokenUsage'])
  const model = asString(settings?.['model'])
  return {
    ...(model !== undefined && { model: model.replace(/^custom:/, '') }),
    ...(counts !== undefined && { reportedUsage: usageOf(counts) }),
  }
}

function usageOf(raw: JsonObject): Usage {
  const input = asCount(raw['inputTokens'])
  const output = asCount(raw['outputTokens'])
  const cacheRead = asCount(raw['cacheReadTokens'])
  const cacheWrite5m = asCount(raw['cacheCreationTokens'])
  return withoutZeros({
    ...(input !== undefined && { input }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(output !== undefined && { output }),
    quality: 'reported',
    raw,
  })
}

function factsOf(line: JsonObject): Facts {
  const { type } = line
  const isStart = type === 'session_start'
  const sessionId = isStart ? asId(line['id']) : (asId(line['sessionId']) ?? asId(line['session_id']))
  if (!isStart && type !== 'system') return sessionId === undefined ? {} : { sessionId }
  const title = asString(line['sessionTitle']) ?? asString(line['title'])
  const cwd = asString(line['cwd'])
  const model = asString(line['model'])
  const version = asString(line['version'])
  return {
    ...(sessionId !== undefined && { sessionId }),
    ...(isStart && title !== undefined && { title }),
    ...(cwd !== undefined && { cwd }),
    ...(model !== undefined && { model }),
    ...(version !== undefined && { version }),
  }
}

const TAKEN = takes({
  type: inside('message tool_call tool_result completion error'),
  id: isText,
  parentId: isText,
  timestamp: isInstant,
  message:
    inside(`role content user assistant system type text thinking signature tool_use id name input tool_result tool_use_id is_error image
    source base64 media_type data`),
  role: inside('user assistant system'),
  text: isText,
  toolName: inside(''),
  toolCallId: inside(''),
  parameters: inside(''),
  value: inside(''),
  isError: (value) => typeof value === 'boolean',
  finalText: inside(''),
  usage: inside(''),
})

/** `last` is the answer before it, which the completion says again. */
function fromLine(line: JsonObject, last: string): Said {
  const { type } = line
  const at = parseInstant(line['timestamp'])
  const id = type === 'message' ? asId(line['id']) : undefined
  const parent = asId(line['parentId'])
  const head = {
    ...(id !== undefined && { id }),
    ...(parent !== undefined && { parent }),
    ...(at !== undefined && { at }),
  }
  const said = saidOf(line, last)
  if (said === undefined) return { ...unknownSaid(line, asString(type)), ...head }
  return withUnsaid({ ...said, ...head }, line, TAKEN)
}

function saidOf(line: JsonObject, last: string): Said | undefined {
  const { type, role, text, message } = line
  if (type === 'message' && isObject(message)) {
    const said = fromWireMessage('anthropic-messages', message)
    return said.kind === 'event' ? undefined : said
  }
  const callId = asString(line['toolCallId']) ?? (type === 'message' ? undefined : asString(line['id']))
  const named = callId === undefined ? {} : { callId }
  const name = asString(line['toolName']) ?? asString(line['toolId'])
  if (
    type === 'message' &&
    typeof text === 'string' &&
    (role === 'user' || role === 'assistant' || role === 'system')
  )
    return { kind: 'message', role, blocks: [{ type: 'text', text }] }
  if (type === 'tool_call' && name !== undefined) {
    const input = line['parameters']
    const block: Block = { type: 'tool-call', ...named, name, ...(input !== undefined && { input }) }
    return { kind: 'message', role: 'assistant', blocks: [block] }
  }
  if (type === 'tool_result') {
    const value = line['value'] ?? null
    const block: Block = {
      type: 'tool-result',
      ...named,
      ...(name !== undefined && { name }),
      ...(value !== null && { output: typeof value === 'string' ? value : toJson(value) }),
      ...(line['isError'] === true && { isError: true }),
    }
    return { kind: 'message', role: 'tool', blocks: [block] }
  }
  if (type === 'completion') {
    const final = asString(line['finalText'])
    const usage = isObject(line['usage']) ? { usage: fromAnthropicUsage(line['usage']) } : {}
    const isSaid = final === undefined || final === '' || final === last
    if (isSaid) return { kind: 'event', blocks: [], ...usage, metadata: { record: 'completion' } }
    return { kind: 'message', role: 'assistant', blocks: [{ type: 'text', text: final }], ...usage }
  }
  const failed = asString(line['message'])
  if (type === 'error' && failed !== undefined)
    return { kind: 'event', blocks: [{ type: 'error', message: failed }], metadata: { record: 'error' } }
  return undefined
}
