/**
 * Goose, read: its database of sessions and messages, and the logs that it wrote before (a line about the session, then a message on
 * each). Counts are the session's: those of its last request, and what all of them add up to.
 */
import { counted } from '../transcript/counted.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asNumber, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Row, SourceDatabase, SourceFile } from '../transcript/source.ts'
import { withoutZeros, type Usage } from '../transcript/usage.ts'
import { detectAmong } from './candidates.ts'
import { hasColumns, lookAtTablesOf, type Tables } from './database-look.ts'
import {
  eachRow,
  isDamage,
  isDatabase,
  jsonOf,
  openOrDamage,
  rowToJson,
  textOf,
  tooLargeIn,
} from './database-row.ts'
import { costOf, toDollars } from './dollars.ts'
import { createDriftWatch, vocabulary, type DriftWatch } from './drift.ts'
import { fileFormat, type FileReading } from './file-format.ts'
import type { Detection, Format, ReadItem } from './format.ts'
import { fromGooseMessage } from './goose-message.ts'
import type { Head } from './head-records.ts'
import { PLACES } from './places.ts'
import { asId, type Place, type Said } from './placing.ts'
import { createTelling, tellLines, type Facts, type Telling } from './telling.ts'
import { unknownSaid } from './unknown.ts'

const ID = 'goose'

const logs = fileFormat({
  id: ID,
  title: 'Goose: sessions.db, and the .jsonl files before it',
  look: lookAtLog,
  vocabulary: vocabulary({
    records: [
      `session: working_dir description schedule_id project_id message_count total_tokens input_tokens output_tokens accumulated_total_tokens
       accumulated_input_tokens accumulated_output_tokens extension_data recipe name`,
      'message: id role created content metadata',
    ],
  }),
  read: readLog,
  places: PLACES.goose,
})

export const goose: Format = {
  ...logs,
  async detect(source) {
    const log = await logs.detect(source)
    const tables = await detectAmong(source, lookAtDatabase, ({ path }) => path.endsWith('.db'))
    return tables !== undefined && tables.confidence > (log?.confidence ?? 0) ? tables : log
  },
  async *read(source, options) {
    const databases: SourceFile[] = []
    const others: SourceFile[] = []
    for (const file of await source.list()) ((await isDatabase(file)) ? databases : others).push(file)
    const taken = new Set<string>()
    for (const file of databases) {
      const isOwn = source.kind === 'file' || (await lookAtDatabase(file)) !== undefined
      if (isOwn) yield* readDatabase(file, taken, createDriftWatch(ROWS, options))
    }
    if (others.length > 0) yield* logs.read({ ...source, list: async () => others }, options)
  },
}

function lookAtLog({ records }: Head): Detection | undefined {
  const [first] = records
  const isHeader = first !== undefined && typeof first['working_dir'] === 'string' && 'message_count' in first
  const messages = records.filter(
    ({ created, role, content }) =>
      typeof created === 'number' && typeof role === 'string' && Array.isArray(content),
  ).length
  if (isHeader)
    return { confidence: 0.95, reason: `a session's working directory and ${counted(messages, 'message')}` }
  if (messages === 0 || messages * 2 < records.length) return undefined
  return { confidence: 0.92, reason: `${counted(messages, 'message')} with the second they were created in` }
}

async function* readLog(file: SourceFile, { open, watch }: FileReading): AsyncGenerator<readonly ReadItem[]> {
  const telling = open()
  const name = file.path.slice(file.path.lastIndexOf('/') + 1)
  telling.know({ ...(/^\d{8}_\d+\.jsonl$/.test(name) && { sessionId: name.replace(/\.jsonl$/, '') }) })
  yield* tellLines(file, telling, (value, place) => {
    const isHeader = isObject(value) && 'working_dir' in value && !('role' in value)
    if (isObject(value)) watch?.record(isHeader ? 'session' : 'message', value)
    if (!isHeader) return telling.say(fromGooseMessage(value), place)
    telling.know(factsOf(value))
    telling.say(unknownSaid(value, 'session'), place)
  })
}

/** Columns of the database, to schema 15. */
const ROWS = vocabulary({
  records: [
    `sessions: id name description user_set_name session_type working_dir created_at updated_at extension_data total_tokens input_tokens
     output_tokens cache_read_tokens cache_write_tokens accumulated_total_tokens accumulated_input_tokens accumulated_output_tokens
     accumulated_cache_read_tokens accumulated_cache_write_tokens accumulated_cost schedule_id recipe_json user_recipe_values_json provider_name
     model_config_json goose_mode archived_at project_id parent_session_id thread_id`,
    'messages: id message_id session_id role content_json created_timestamp timestamp tokens metadata_json',
  ],
})

function lookAtDatabase(file: SourceFile): Promise<Detection | undefined> {
  return lookAtTablesOf(file, lookAtTables)
}

function lookAtTables(tables: Tables): Detection | undefined {
  const isGoose =
    hasColumns(tables, 'messages', 'content_json', 'session_id', 'role') &&
    hasColumns(tables, 'sessions', 'id', 'working_dir')
  return isGoose
    ? { confidence: 0.95, reason: 'tables of sessions and messages with their content' }
    : undefined
}

async function* readDatabase(
  file: SourceFile,
  taken: Set<string>,
  watch: DriftWatch | undefined,
): AsyncGenerator<readonly ReadItem[]> {
  const opened = await openOrDamage(file)
  if (isDamage(opened)) {
    yield [{ type: 'damage', damage: opened }]
    return
  }
  try {
    yield* readSessions(file, opened, taken, watch)
  } finally {
    await opened.close()
  }
}

async function* readSessions(
  file: SourceFile,
  database: SourceDatabase,
  taken: Set<string>,
  watch: DriftWatch | undefined,
): AsyncGenerator<readonly ReadItem[]> {
  let number = 0
  const nextPlace = (): Place => {
    number += 1
    return { file: file.path, number, byteOffset: 0, byteLength: 0 }
  }
  const say = (telling: Telling, said: Said, row: Row, what: string): void => {
    const place = nextPlace()
    telling.say(said, place)
    for (const damage of tooLargeIn(row, what, place)) telling.damage(damage)
  }
  for await (const row of eachRow(database, 'sessions', { orderBy: ['created_at', 'id'] })) {
    const id = asId(textOf(row['id']))
    const telling = createTelling(ID, `${file.path}#${id ?? number}`, taken)
    const about = rowToJson(row)
    watch?.record('sessions', about)
    telling.know({ ...factsOf(about), ...(id !== undefined && { sessionId: id }) })
    say(telling, unknownSaid(about, 'session'), row, 'a session')
    yield telling.take()
    const own = {
      where: { column: 'session_id', equals: row['id'] ?? null },
      orderBy: ['created_timestamp', 'id'],
    }
    for await (const batch of database.rows('messages', own)) {
      for (const message of batch) {
        watch?.record('messages', rowToJson(message))
        say(telling, fromRow(message), message, 'a message')
      }
      yield telling.take()
    }
    if (database.columns('usage_ledger').includes('session_id'))
      for await (const batch of database.rows('usage_ledger', own)) {
        // Each request's counts, which the session's sum has: kept, and not counted again.
        for (const spent of batch) say(telling, unknownSaid(rowToJson(spent), 'usage'), spent, 'a request')
        yield telling.take()
      }
    yield telling.end()
  }
}

function fromRow(row: Row): ReturnType<typeof fromGooseMessage> {
  const {
    content_json,
    metadata_json,
    message_id,
    session_id: _,
    id: _row,
    created_timestamp,
    ...others
  } = row
  const content = jsonOf(content_json)
  if (content === undefined) return unknownSaid(rowToJson(row), 'message')
  const created =
    typeof created_timestamp === 'number' || typeof created_timestamp === 'bigint'
      ? Number(created_timestamp)
      : undefined
  const metadata = jsonOf(metadata_json)
  const id = textOf(message_id)
  return fromGooseMessage({
    ...rowToJson(others),
    content,
    ...(id !== undefined && { id }),
    ...(created !== undefined && { created }),
    ...(metadata !== undefined && { metadata }),
  })
}

function factsOf(about: JsonObject): Facts {
  const cwd = asString(about['working_dir'])
  const title = asString(about['name']) ?? asString(about['description'])
  const startedAt = parseInstant(about['created_at'])
  const endedAt = parseInstant(about['updated_at'])
  const config = configOf(about['model_config_json'])
  const model = asString(config?.['model_name'])
  const usage = usageOf(about)
  const cost = costOf(about['accumulated_cost'])
  const parent = asId(about['parent_session_id'])
  return {
    ...(cost !== undefined && { reportedCost: toDollars(cost) }),
    ...(parent !== undefined && { parent: { session: uuidFrom(ID, parent) } }),
    ...(cwd !== undefined && cwd !== '' && { cwd }),
    ...(title !== undefined && title !== '' && { title }),
    ...(model !== undefined && { model }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(usage !== undefined && { reportedUsage: usage }),
  }
}

const configOf = (value: Json | undefined): JsonObject | undefined =>
  asObject(typeof value === 'string' ? jsonOf(value) : value)

/** What all requests add up to; `total_tokens` and the like are the last one's. What was cached is in the input, and told since schema 14. */
function usageOf(about: JsonObject): Usage | undefined {
  const count = (name: string): number | undefined => {
    const stated = about[name]
    const value = typeof stated === 'string' ? Number(stated) : (asNumber(stated) ?? Number.NaN)
    return Number.isSafeInteger(value) && value >= 0 ? value : undefined
  }
  const prompt = count('accumulated_input_tokens')
  const output = count('accumulated_output_tokens')
  const cacheRead = count('accumulated_cache_read_tokens')
  const cacheWrite5m = count('accumulated_cache_write_tokens')
  if (prompt === undefined && output === undefined) return undefined
  const input = prompt === undefined ? undefined : prompt - (cacheRead ?? 0) - (cacheWrite5m ?? 0)
  const usage = withoutZeros({
    ...(input !== undefined && { input: Math.max(0, input) }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(output !== undefined && { output }),
    quality: 'estimated',
  })
  return usage.quality === 'unavailable' ? undefined : usage
}
