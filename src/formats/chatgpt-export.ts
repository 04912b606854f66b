/**
 * OpenAI's export of a ChatGPT account, read: `conversations.json`, a list of conversations, each a tree of messages. Every branch is told, in
 * the order of the tree; what is not on the way to the current message was taken back.
 */
import type { Block } from '../transcript/block.ts'
import { fromMillis } from '../transcript/instant.ts'
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { vocabulary } from './drift.ts'
import { documentOf, fileFormat, type FileReading } from './file-format.ts'
import type { Detection, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { isRecord, leftOver, takes } from './left-over.ts'
import { readBareList, readListDocument } from './list-document.ts'
import { asId, type Place, type Said } from './placing.ts'
import type { Telling } from './telling.ts'
import { unknownSaid } from './unknown.ts'
import { inside, withUnsaid } from './unsaid.ts'

export const chatgptExport = fileFormat({
  id: 'chatgpt-export',
  title: "ChatGPT: an account's conversations.json",
  look: lookAtExport,
  vocabulary: vocabulary({
    records: [
      `conversation: title create_time update_time mapping moderation_results current_node plugin_ids conversation_id conversation_template_id gizmo_id
       gizmo_type is_archived is_starred safe_urls blocked_urls default_model_slug conversation_origin voice async_status disabled_tool_ids id
       is_do_not_remember memory_scope sugar_item_id context_scopes sugar_item_visible is_read_only is_study_mode owner pinned_time`,
      'message: id author create_time update_time content status end_turn weight metadata recipient channel',
    ],
  }),
  read: readExport,
})

function lookAtExport(head: Head): Detection | undefined {
  const document = documentOf(head)
  const [first] = asArray(document) ?? [document]
  const isOne =
    isObject(first) && isObject(first['mapping']) && ('current_node' in first || 'create_time' in first)
  return isOne ? { confidence: 0.95, reason: 'conversations as trees of messages' } : undefined
}

async function* readExport(
  file: SourceFile,
  { open, watch, head }: FileReading,
): AsyncGenerator<readonly ReadItem[]> {
  const isOne = isObject(documentOf(head))
  // A conversation alone is an object, which has no list: it is what stands around one.
  const read = isOne ? await readListDocument(file, 'no such list') : await readBareList(file)
  const { members, damage, sizeBytes, elements } = read
  const loose = open('damage')
  for (const one of damage) loose.damage(one)
  yield loose.end()
  const tell = (value: Json, place: Place): readonly ReadItem[] => {
    const telling = open(place.number)
    if (isObject(value)) watch?.record('conversation', value)
    tellConversation(value, place, telling, (message) => watch?.record('message', message))
    return telling.end()
  }
  if (isOne) yield tell(members, { file: file.path, number: 1, byteOffset: 0, byteLength: sizeBytes })
  let number = 0
  for await (const some of elements()) {
    for (const { value, byteOffset, byteLength } of some) {
      number += 1
      yield tell(value ?? null, { file: file.path, number, byteOffset, byteLength })
    }
  }
}

function tellConversation(
  value: Json,
  place: Place,
  telling: Telling,
  watch: (message: JsonObject) => void,
): void {
  const mapping = isObject(value) ? asObject(value['mapping']) : undefined
  if (!isObject(value) || mapping === undefined) return telling.say(unknownSaid(value), place)
  const { mapping: _, ...about } = value
  const sessionId = asId(value['conversation_id']) ?? asId(value['id'])
  const title = asString(value['title'])
  const model = asString(value['default_model_slug'])
  const [startedAt, endedAt] = [timeOf(value['create_time']), timeOf(value['update_time'])]
  telling.know({
    ...(sessionId !== undefined && { sessionId }),
    ...(title !== undefined && title !== '' && { title }),
    ...(model !== undefined && { model }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
  })
  telling.say(unknownSaid(about, 'conversation'), place)
  const current = wayTo(asString(value['current_node']), mapping)
  for (const [id, node] of inOrder(mapping)) {
    const message = isObject(node) ? node['message'] : undefined
    const odd = isObject(node) ? oddIn(id, node, mapping) : { [id]: node }
    if ((message === null || message === undefined) && odd === undefined) continue
    if (isObject(message)) watch(message)
    const parent = isObject(node) ? asId(node['parent']) : undefined
    const isLeft = current.size > 0 && !current.has(id)
    const said = fromMessage(message ?? null)
    const metadata = {
      ...said.metadata,
      ...(odd !== undefined && { node: odd }),
      ...(isLeft && { reverted: true }),
    }
    telling.say(
      {
        ...said,
        ...(parent !== undefined && { parent }),
        ...(Object.keys(metadata).length > 0 && { metadata }),
      },
      place,
    )
  }
}

/** What a node says beside its message and its place in the tree; undefined when that is all. */
function oddIn(key: string, node: JsonObject, mapping: JsonObject): JsonObject | undefined {
  const isNode = (value: Json): boolean => typeof value === 'string' && Object.hasOwn(mapping, value)
  return leftOver(
    node,
    takes({
      id: (value) => value === key,
      message: isRecord,
      parent: isNode,
      children: (value) => Array.isArray(value) && value.every(isNode),
    }),
  )
}

const timeOf = (value: Json | undefined): string | undefined =>
  fromMillis((asNumber(value) ?? Number.NaN) * 1000)

/** Each node after its parent; those that hang nowhere at the end. Circles end where they close. */
function inOrder(mapping: JsonObject): readonly (readonly [string, Json])[] {
  const done = new Set<string>()
  const ordered: (readonly [string, Json])[] = []
  const ids = Object.keys(mapping)
  const roots = ids.filter((id) => !Object.hasOwn(mapping, asString(asObject(mapping[id])?.['parent']) ?? ''))
  const stack = [...ids.toReversed(), ...roots.toReversed()]
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    if (done.has(id) || !Object.hasOwn(mapping, id)) continue
    done.add(id)
    ordered.push([id, mapping[id] as Json])
    const children = (asArray(asObject(mapping[id])?.['children']) ?? []).filter(
      (one) => typeof one === 'string',
    )
    // One by one: there may be more of them than a function takes arguments.
    for (const child of children.toReversed()) stack.push(child)
  }
  return ordered
}

function wayTo(node: string | undefined, mapping: JsonObject): ReadonlySet<string> {
  const way = new Set<string>()
  for (
    let id = node;
    id !== undefined && !way.has(id) && Object.hasOwn(mapping, id);
    id = asString(asObject(mapping[id])?.['parent'])
  )
    way.add(id)
  return way
}

const TAKEN = takes({
  id: inside(''),
  author: inside('role user assistant system tool name metadata'),
  create_time: (value) => timeOf(value) !== undefined,
  content: inside(
    'content_type text parts multimodal_text audio_transcription code thoughts content summary chunks finished execution_output',
  ),
})

function fromMessage(message: Json): Said {
  const author = isObject(message) ? asObject(message['author']) : undefined
  const role = asString(author?.['role'])
  if (!isObject(message) || (role !== 'user' && role !== 'assistant' && role !== 'system' && role !== 'tool'))
    return unknownSaid(message)
  const id = asId(message['id'])
  const at = timeOf(message['create_time'])
  const content = asObject(message['content'])
  const name = asString(author?.['name'])
  const blocks = content === undefined ? [] : fromContent(content)
  const model = asString(asObject(message['metadata'])?.['model_slug'])
  const [only] = blocks
  const said: Said = {
    ...(id !== undefined && { id }),
    kind: 'message',
    role,
    ...(at !== undefined && { at }),
    blocks:
      role === 'tool'
        ? [
            {
              type: 'tool-result',
              ...(name !== undefined && { name }),
              output: blocks.length === 1 && only?.type === 'text' ? only.text : blocks,
            },
          ]
        : blocks,
    ...(role === 'assistant' && model !== undefined && { model }),
  }
  return withUnsaid(said, message, TAKEN)
}

function fromContent(content: JsonObject): readonly Block[] {
  const { content_type: type, text, parts, thoughts } = content
  if (type === 'thoughts' && Array.isArray(thoughts))
    return (thoughts as readonly Json[]).map((one): Block => {
      const thought = isObject(one) ? asString(one['content']) : undefined
      return thought === undefined ? { type: 'unknown', raw: one } : { type: 'thinking', text: thought }
    })
  if (Array.isArray(parts))
    return (parts as readonly Json[]).flatMap((part): readonly Block[] =>
      typeof part === 'string' ? (part === '' ? [] : [{ type: 'text', text: part }]) : [fromPart(part)],
    )
  return typeof text === 'string' && text !== ''
    ? [{ type: 'text', text }]
    : type === 'text'
      ? []
      : [{ type: 'unknown', raw: content }]
}

/** What was spoken is text; files are only named, and kept so. */
function fromPart(part: Json): Block {
  const text = isObject(part) ? asString(part['text']) : undefined
  const isSpoken = isObject(part) && part['content_type'] === 'audio_transcription'
  return isSpoken && text !== undefined ? { type: 'text', text } : { type: 'unknown', raw: part }
}
