/** Anthropic's export of a Claude account, read: `conversations.json`, a list of conversations with the messages of each. */
import type { Block } from '../transcript/block.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { fromAnthropicBlock } from '../wire/anthropic-blocks.ts'
import { vocabulary } from './drift.ts'
import { documentOf, fileFormat, type FileReading } from './file-format.ts'
import type { Detection, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { isInstant, takes } from './left-over.ts'
import { readBareList, readListDocument } from './list-document.ts'
import { asId, type Place, type Said } from './placing.ts'
import type { Telling } from './telling.ts'
import { unknownSaid } from './unknown.ts'
import { inside, withUnsaid } from './unsaid.ts'

export const claudeExport = fileFormat({
  id: 'claude-export',
  title: "Claude.ai: an account's conversations.json",
  look: lookAtExport,
  vocabulary: vocabulary({
    records: [
      'conversation: uuid name summary created_at updated_at account chat_messages model project settings is_starred current_leaf_message_uuid',
      'message: uuid text content sender created_at updated_at attachments files parent_message_uuid index truncated stop_reason files_v2',
    ],
  }),
  read: readExport,
})

function lookAtExport(head: Head): Detection | undefined {
  const document = documentOf(head)
  const [first] = asArray(document) ?? [document]
  const isOne = isObject(first) && 'chat_messages' in first && typeof first['uuid'] === 'string'
  return isOne ? { confidence: 0.95, reason: 'conversations with their chat messages' } : undefined
}

async function* readExport(
  file: SourceFile,
  { open, watch, head }: FileReading,
): AsyncGenerator<readonly ReadItem[]> {
  const isOne = isObject(documentOf(head))
  const read = isOne ? await readListDocument(file, 'chat_messages') : await readBareList(file)
  const { members, damage, sizeBytes, elements } = read
  const telling = open()
  if (isOne) tellAbout(members, { file: file.path, number: 0, byteOffset: 0, byteLength: sizeBytes }, telling)
  for (const one of damage) telling.damage(one)
  let number = 0
  for await (const some of elements()) {
    for (const { value = null, byteOffset, byteLength } of some) {
      number += 1
      const place = { file: file.path, number, byteOffset, byteLength }
      if (isOne) {
        if (isObject(value)) watch?.record('message', value)
        telling.say(fromMessage(value), place)
        continue
      }
      const own = open(number)
      if (isObject(value)) watch?.record('conversation', value)
      tellConversation(value, place, own)
      yield own.end()
    }
    yield telling.take()
  }
  yield telling.end()
}

function tellConversation(value: Json, place: Place, telling: Telling): void {
  const messages = isObject(value) ? asArray(value['chat_messages']) : undefined
  if (!isObject(value) || messages === undefined) return telling.say(unknownSaid(value), place)
  const { chat_messages: _, ...about } = value
  tellAbout(about, place, telling)
  for (const message of messages) telling.say(fromMessage(message), place)
}

function tellAbout(about: JsonObject, place: Place, telling: Telling): void {
  const sessionId = asId(about['uuid'])
  const title = asString(about['name'])
  const model = asString(about['model'])
  const startedAt = parseInstant(about['created_at'])
  const endedAt = parseInstant(about['updated_at'])
  telling.know({
    ...(sessionId !== undefined && { sessionId }),
    ...(title !== undefined && title !== '' && { title }),
    ...(model !== undefined && { model }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
  })
  telling.say(unknownSaid(about, 'conversation'), place)
}

const TAKEN = takes({
  uuid: inside(''),
  sender: inside('human assistant'),
  text: inside(''),
  created_at: isInstant,
  parent_message_uuid: inside(''),
  content:
    inside(`type text thinking signature tool_use tool_result id name input tool_use_id content is_error start_timestamp stop_timestamp
    citations flags`),
})

function fromMessage(message: Json): Said {
  const sender = isObject(message) ? message['sender'] : undefined
  if (!isObject(message) || (sender !== 'human' && sender !== 'assistant')) return unknownSaid(message)
  const id = asId(message['uuid'])
  const parent = asId(message['parent_message_uuid'])
  const at = parseInstant(message['created_at'])
  const text = asString(message['text'])
  const parts = asArray(message['content']) ?? []
  // The text says again what the content's texts say; before there was content, it was all.
  const blocks =
    parts.length > 0
      ? parts.map(fromPart)
      : text === undefined || text === ''
        ? []
        : [{ type: 'text', text } satisfies Block]
  const said: Said = {
    ...(id !== undefined && { id }),
    ...(parent !== undefined && { parent }),
    kind: 'message',
    role: sender === 'human' ? 'user' : 'assistant',
    ...(at !== undefined && { at }),
    blocks,
  }
  return withUnsaid(said, message, TAKEN)
}

/** Anthropic's blocks, with times and flags that an export adds. */
function fromPart(part: Json): Block {
  const block = fromAnthropicBlock(part)
  return block.type === 'tool-result' && isObject(part) && asObject(part['content']) !== undefined
    ? { type: 'unknown', raw: part }
    : block
}
