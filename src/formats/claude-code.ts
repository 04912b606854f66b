/**
 * Claude Code's own logs, read: one `<sessionId>.jsonl`, or a folder of them with their subagents' files. The session is the one
 * that the records name; a subagent's file belongs to the session named inside it, wherever it lies.
 */
import { isUuid, uuidFrom } from '../transcript/ids.ts'
import { isObject, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { SourceFile } from '../transcript/source.ts'
import { detectAmong } from './candidates.ts'
import { agentOf, groupFiles, PLACES, stem, unitOf, type Group } from './claude-code-files.ts'
import { AGENT_META, CLAUDE_CODE, claudeCodeWriter, TOOL_RESULT } from './claude-code-write.ts'
import { claudeSession, isFlatLine, type ClaudeFacts } from './claude-facts.ts'
import { createClaudeReading, type ClaudeReading } from './claude-reading.ts'
import { VOCABULARY, watchLine } from './claude-vocabulary.ts'
import { createDriftWatch } from './drift.ts'
import type { Detection, Format, ReadItem } from './format.ts'
import { readHead, type Head } from './head-records.ts'

const ID = CLAUDE_CODE

export const claudeCode: Format = {
  id: ID,
  title: 'Claude Code: <sessionId>.jsonl and its subagents',
  detect: (source) => detectAmong(source, async (file) => detectClaudeCode(await readHead(file)), isLog),
  async *read(source, options) {
    const drift = createDriftWatch(VOCABULARY, options)
    const taken = new Set<string>()
    for (const group of await groupFiles(source)) {
      let id: string | undefined
      const logs = new Set(group.agents.map(({ log }) => agentOf(log.path)))
      const reading = createClaudeReading({
        format: ID,
        exact: true,
        hasLog: (agent) => logs.has(agent),
        ...(drift !== undefined && { watch: (line) => watchLine(drift, line) }),
        toSession(facts) {
          const session = toSession(facts, group.main.path, taken)
          id = session.id
          return session
        },
      })
      yield* readGroup(group, reading)
      if (id !== undefined) taken.add(id)
    }
  },
  write: claudeCodeWriter,
  places: PLACES,
  unit: unitOf,
}

/** How sure the first records make us that a file is Claude Code's. */
export function detectClaudeCode({ records, strange }: Head): Detection | undefined {
  let own = 0
  let state = 0
  for (const record of records) {
    if (isClaudeLine(record)) own += 1
    else if (isStateRecord(record)) state += 1
  }
  const others = records.length - own - state + strange
  if (own > others) return { confidence: 0.95, reason: `${own} lines with Claude Code's keys` }
  if (own > 0)
    return { confidence: 0.6, reason: `${own} lines with Claude Code's keys among ${others} others` }
  if (state > others) return { confidence: 0.7, reason: `${state} of Claude Code's state records` }
  return undefined
}

const isLog = (file: SourceFile): boolean => file.path.endsWith('.jsonl') || !file.path.includes('/')

/** A later file that names the same session is another recording of it: its own id, the same native name. */
function toSession(facts: ClaudeFacts, path: string, taken: ReadonlySet<string>): Session {
  const { sessionId } = facts
  const id = uuidFrom(ID, sessionId ?? path)
  return {
    id: taken.has(id) ? uuidFrom(ID, sessionId ?? '', path) : id,
    ...(sessionId !== undefined && { native: { agent: ID, sessionId } }),
    agent: ID,
    ...claudeSession(facts),
    // A log has no last word: a session that stopped reads like one that is done.
    status: 'completed',
  }
}

function isClaudeLine(record: JsonObject): boolean {
  const { sessionId, message } = record
  if (typeof sessionId !== 'string' || !('parentUuid' in record)) return false
  // The id stands behind the message, which in a line that is cut off has no end.
  if (!('uuid' in record || isObject(message))) return false
  if (!('userType' in record || 'isSidechain' in record || 'requestId' in record)) return false
  // iFlow and Qwen write the same wrapper.
  if (sessionId.startsWith('session-') || (isObject(message) && 'parts' in message)) return false
  return !isFlatLine(record)
}

const STATE_TYPES: ReadonlySet<string> = new Set([
  'summary',
  'file-history-snapshot',
  'queue-operation',
  'last-prompt',
  'mode',
  'permission-mode',
  'ai-title',
  'custom-title',
  'bridge-session',
  'worktree-state',
])

function isStateRecord(record: JsonObject): boolean {
  const { type } = record
  return typeof type === 'string' && STATE_TYPES.has(type) && !('uuid' in record && 'parts' in record)
}

async function* readGroup(
  { main, agents, results }: Group,
  reading: ClaudeReading,
): AsyncGenerator<readonly ReadItem[]> {
  const name = stem(main.path)
  const agent = agentOf(main.path)
  yield* reading.read(main, {
    ...(isUuid(name) && { expected: name }),
    ...(agent !== undefined && { source: `subagent:${agent}` }),
  })
  const left = [...agents]
  while (left.length > 0) {
    // One that was named is read before those that were not: what it started is then known.
    const named = left.findIndex(({ log }) => reading.isNamed(agentOf(log.path) ?? ''))
    for (const { log, meta } of left.splice(Math.max(named, 0), 1)) {
      const source = `subagent:${agentOf(log.path) ?? ''}`
      yield* reading.read(log, { source })
      if (meta !== undefined) yield [await reading.document(meta, { source, record: AGENT_META })]
    }
  }
  for (const file of results) yield [...reading.open(), await reading.text(file, { record: TOOL_RESULT })]
  yield reading.end()
}
