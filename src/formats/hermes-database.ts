/** Hermes' database, `state.db`: a row for each session with what it used in all, and one for each message. */
import { fromMillis } from '../transcript/instant.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import type { Row, SourceDatabase, SourceFile, SqlValue } from '../transcript/source.ts'
import { withoutZeros, type Usage } from '../transcript/usage.ts'
import { hasColumns, lookAtTablesOf, type Tables } from './database-look.ts'
import { eachRow, isDamage, jsonOf, openOrDamage, rowToJson, textOf, tooLargeIn } from './database-row.ts'
import { costOf, toDollars } from './dollars.ts'
import { vocabulary, type DriftWatch } from './drift.ts'
import type { Detection, ReadItem } from './format.ts'
import { asId, type Place, type Said } from './placing.ts'
import { createTelling, type Facts } from './telling.ts'
import { unknownSaid } from './unknown.ts'
import { uuidFrom } from '../transcript/ids.ts'

export type RowReader = {
  /** A message as the documents have it. */
  readonly fromMessage: (message: JsonObject) => Said
  readonly watch: DriftWatch | undefined
}

/** Columns of the database, as of 2026. */
export const ROWS = vocabulary({
  records: [
    `sessions: id source user_id session_key chat_id chat_type thread_id display_name origin_json model model_config system_prompt system_prompt_hash
     parent_session_id started_at ended_at end_reason message_count tool_call_count input_tokens output_tokens cache_read_tokens cache_write_tokens
     reasoning_tokens cwd git_branch git_repo_root billing_provider billing_base_url billing_mode estimated_cost_usd actual_cost_usd cost_status
     cost_source pricing_version title api_call_count handoff_state handoff_platform handoff_error compression_failure_cooldown_until
     compression_failure_error compression_fallback_streak compression_ineffective_count compression_recovery_deadline profile_name rewind_count
     archived pinned hidden last_read_at tool_names`,
    `messages: id session_id role content tool_call_id tool_calls tool_name effect_disposition timestamp token_count finish_reason reasoning
     reasoning_content reasoning_details codex_reasoning_items codex_message_items platform_message_id observed _compressed_summary active compacted
     api_content display_kind display_metadata`,
  ],
})

export function lookAtDatabase(file: SourceFile): Promise<Detection | undefined> {
  return lookAtTablesOf(file, lookAtTables)
}

function lookAtTables(tables: Tables): Detection | undefined {
  const isHermes =
    hasColumns(tables, 'sessions', 'id', 'source', 'started_at', 'message_count') &&
    hasColumns(tables, 'messages', 'session_id', 'role', 'tool_calls')
  return isHermes
    ? { confidence: 0.95, reason: 'tables of sessions and of messages with their calls' }
    : undefined
}

export async function* readDatabase(
  id: string,
  file: SourceFile,
  taken: Set<string>,
  reader: RowReader,
): AsyncGenerator<readonly ReadItem[]> {
  const opened = await openOrDamage(file)
  if (isDamage(opened)) {
    yield [{ type: 'damage', damage: opened }]
    return
  }
  try {
    yield* readSessions(id, file, opened, taken, reader)
  } finally {
    await opened.close()
  }
}

async function* readSessions(
  format: string,
  file: SourceFile,
  database: SourceDatabase,
  taken: Set<string>,
  reader: RowReader,
): AsyncGenerator<readonly ReadItem[]> {
  let number = 0
  const nextPlace = (): Place => {
    number += 1
    return { file: file.path, number, byteOffset: 0, byteLength: 0 }
  }
  for await (const row of eachRow(database, 'sessions', { orderBy: ['started_at', 'id'] })) {
    const telling = createTelling(format, `${file.path}#${number}`, taken)
    const place = nextPlace()
    const large = [...tooLargeIn(row, 'a session', place)]
    const tell = (shared: Row): unknown => large.push(...tooLargeIn(shared, 'a prompt', place))
    const prompt =
      textOf(row['system_prompt']) || (await sharedPrompt(database, row['system_prompt_hash'], tell))
    const { system_prompt: _prompt, ...about } = row
    reader.watch?.record('sessions', rowToJson(row))
    telling.know(factsOf(row, format))
    telling.say(unknownSaid(rowToJson(prompt === undefined ? row : about), 'session'), place)
    for (const damage of large) telling.damage(damage)
    if (prompt !== undefined && prompt !== '')
      telling.say({ kind: 'message', role: 'system', blocks: [{ type: 'text', text: prompt }] }, nextPlace())
    yield telling.take()
    const own = { where: { column: 'session_id', equals: row['id'] ?? null }, orderBy: ['timestamp', 'id'] }
    for await (const batch of database.rows('messages', own)) {
      for (const message of batch) {
        reader.watch?.record('messages', rowToJson(message))
        const at = nextPlace()
        telling.say(fromRow(message, reader), at)
        for (const damage of tooLargeIn(message, 'a message', at)) telling.damage(damage)
      }
      yield telling.take()
    }
    yield telling.end()
  }
}

/** Prompts that many sessions begin with stand once, in a table of their own. */
async function sharedPrompt(
  database: SourceDatabase,
  hash: SqlValue | undefined,
  tell: (row: Row) => unknown,
): Promise<string | undefined> {
  const columns = database.columns('system_prompts')
  const column = ['content', 'prompt', 'system_prompt', 'text'].find((name) => columns.includes(name))
  if (typeof hash !== 'string' || column === undefined || !columns.includes('hash')) return undefined
  for await (const row of eachRow(database, 'system_prompts', { where: { column: 'hash', equals: hash } })) {
    tell(row)
    return textOf(row[column])
  }
  return undefined
}

/** A row as the message that the documents have. */
function fromRow(row: Row, { fromMessage }: RowReader): Said {
  const { id: _id, session_id: _session, timestamp, ...others } = row
  const message: Record<string, Json> = Object.create(null) as Record<string, Json>
  for (const [key, value] of Object.entries(rowToJson(others))) {
    if (value === null) continue
    // Lists are kept as JSON in a text.
    message[key] =
      key === 'tool_calls' || key.endsWith('_details') || key.endsWith('_items')
        ? (jsonOf(others[key]) ?? value)
        : value
  }
  const at = timeOf(timestamp)
  const said = fromMessage(message)
  return { ...said, ...(at !== undefined && { at }) }
}

const timeOf = (seconds: SqlValue | undefined): string | undefined =>
  typeof seconds === 'number' ? fromMillis(seconds * 1000) : undefined

function factsOf(row: Row, format: string): Facts {
  const text = (name: string): string | undefined => textOf(row[name]) || undefined
  const sessionId = asId(text('id'))
  const [title, model, cwd, parent, stopReason] = [
    text('title'),
    text('model'),
    text('cwd'),
    text('parent_session_id'),
    text('end_reason'),
  ]
  const [startedAt, endedAt] = [timeOf(row['started_at']), timeOf(row['ended_at'])]
  const cost = costOf(row['actual_cost_usd']) ?? costOf(row['estimated_cost_usd'])
  const usage = usageOf(row)
  return {
    ...(sessionId !== undefined && { sessionId }),
    ...(title !== undefined && { title }),
    ...(model !== undefined && { model }),
    ...(cwd !== undefined && { cwd }),
    ...(stopReason !== undefined && { stopReason }),
    ...(parent !== undefined && { parent: { session: uuidFrom(format, parent) } }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(cost !== undefined && { reportedCost: toDollars(cost) }),
    ...(usage !== undefined && { reportedUsage: usage }),
  }
}

/** Sums of the session, the cache beside the input. */
function usageOf(row: Row): Usage | undefined {
  const count = (name: string): number | undefined => {
    const value = Number(row[name] ?? Number.NaN)
    return Number.isSafeInteger(value) && value >= 0 ? value : undefined
  }
  const [input, output, cacheRead, cacheWrite5m, reasoning] = [
    'input_tokens',
    'output_tokens',
    'cache_read_tokens',
    'cache_write_tokens',
    'reasoning_tokens',
  ].map(count)
  const usage = withoutZeros({
    ...(input !== undefined && { input }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(output !== undefined && { output }),
    ...(reasoning !== undefined && { reasoning }),
    quality: 'estimated',
  })
  return usage.quality === 'unavailable' ? undefined : usage
}
