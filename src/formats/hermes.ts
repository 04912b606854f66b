/** Nous Research's Hermes, read: its database of sessions, and sessions as documents around messages of OpenAI's shape. */
import { parseInstant } from '../transcript/instant.ts'
import { asObject, asString, isObject, type JsonObject } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { detectAmong } from './candidates.ts'
import { isDatabase } from './database-row.ts'
import { createDriftWatch, vocabulary } from './drift.ts'
import { documentOf, fileFormat, type FileReading } from './file-format.ts'
import type { Detection, Format, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { ROWS, lookAtDatabase, readDatabase } from './hermes-database.ts'
import { PLACES } from './places.ts'
import { asId, type Said } from './placing.ts'
import { tellList, type Facts } from './telling.ts'
import { unknownSaid } from './unknown.ts'
import { fromWireMessage } from './wire-said.ts'

const ID = 'hermes'

const documents = fileFormat({
  id: ID,
  title: 'Hermes: state.db, sessions/session_*.json',
  look: lookAtHermes,
  vocabulary: vocabulary({
    records: [
      `session: session_id model platform session_start last_updated model_config message_count system_prompt base_url tools messages cwd
       parent_session_id title`,
      `message: role content reasoning reasoning_content reasoning_details codex_reasoning_items tool_calls tool_call_id tool_name finish_reason
       timestamp name`,
    ],
  }),
  read: readHermes,
  places: PLACES.hermes,
})

export const hermes: Format = {
  ...documents,
  async detect(source) {
    const document = await documents.detect(source)
    const tables = await detectAmong(source, lookAtDatabase, ({ path }) => path.endsWith('.db'))
    return tables !== undefined && tables.confidence > (document?.confidence ?? 0) ? tables : document
  },
  async *read(source, options) {
    const taken = new Set<string>()
    const others: SourceFile[] = []
    for (const file of await source.list()) {
      if (!(await isDatabase(file))) others.push(file)
      else if (source.kind === 'file' || (await lookAtDatabase(file)) !== undefined)
        yield* readDatabase(ID, file, taken, { fromMessage, watch: createDriftWatch(ROWS, options) })
    }
    if (others.length > 0) yield* documents.read({ ...source, list: async () => others }, options)
  },
}

function lookAtHermes(head: Head): Detection | undefined {
  const document = documentOf(head)
  if (!isObject(document)) return undefined
  const { session_id, session_start, platform, last_updated, messages } = document
  const isSession =
    typeof session_id === 'string' && typeof session_start === 'string' && 'messages' in document
  if (!isSession || !Array.isArray(messages)) return undefined
  const isSure = typeof platform === 'string' && typeof last_updated === 'string'
  return { confidence: isSure ? 0.95 : 0.7, reason: 'a session with its platform and messages' }
}

async function* readHermes(
  file: SourceFile,
  { open, watch }: FileReading,
): AsyncGenerator<readonly ReadItem[]> {
  const telling = open()
  yield* tellList(file, 'messages', telling, {
    header(members, place) {
      const { system_prompt: prompt, ...around } = members
      watch?.record('session', members)
      telling.know(factsOf(members))
      const isText = typeof prompt === 'string'
      telling.say(unknownSaid(isText ? around : members, 'session'), place)
      if (isText)
        telling.say({ kind: 'message', role: 'system', blocks: [{ type: 'text', text: prompt }] }, place)
    },
    element(value, place) {
      if (isObject(value)) watch?.record('message', value)
      telling.say(isObject(value) ? fromMessage(value) : unknownSaid(value), place)
    },
  })
}

function fromMessage(message: JsonObject): Said {
  const name = asString(message['tool_name'])
  const isNamed = message['role'] === 'tool' && name !== undefined && message['name'] === undefined
  const said = fromWireMessage('openai-chat', isNamed ? { ...message, name } : message)
  const at = parseInstant(message['timestamp'])
  const stopReason = said.role === 'assistant' ? asString(message['finish_reason']) : undefined
  return {
    ...said,
    ...(at !== undefined && { at }),
    ...(stopReason !== undefined && { stopReason }),
    ...(said.kind === 'event' && { metadata: { record: asString(message['role']) ?? 'unknown' } }),
  }
}

function factsOf(members: JsonObject): Facts {
  const sessionId = asId(members['session_id'])
  const model = asString(members['model'])
  const cwd = asString(members['cwd']) ?? asString(asObject(members['model_config'])?.['cwd'])
  const startedAt = parseInstant(members['session_start'])
  const endedAt = parseInstant(members['last_updated'])
  const title = asString(members['title'])
  return {
    ...(sessionId !== undefined && { sessionId }),
    ...(title !== undefined && title !== '' && { title }),
    ...(model !== undefined && { model }),
    ...(cwd !== undefined && { cwd }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
  }
}
