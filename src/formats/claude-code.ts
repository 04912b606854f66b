/**
 * Claude Code's own logs, read: one `<sessionId>.jsonl`, or a folder of them with their subagents' files. The session is the one
 * that the records name; a subagent's file belongs to the session named inside it, wherever it lies.
 */
import { isUuid, uuidFrom } from '../transcript/ids.ts'
import { asString, isObject, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { isFlatLine, type ClaudeFacts } from './claude-facts.ts'
import { createClaudeReading, type ClaudeReading } from './claude-reading.ts'
import type { Detection, Format, ReadItem } from './format.ts'
import { readHead, type Head } from './head-records.ts'

const ID = 'claude-code'

export const claudeCode: Format = {
  id: ID,
  title: 'Claude Code: <sessionId>.jsonl and its subagents',
  async detect(source) {
    let best: Detection | undefined
    for (const file of (await source.list()).filter(isLog).slice(0, LOOKED_AT)) {
      const found = detectClaudeCode(await readHead(file))
      if (found !== undefined && found.confidence > (best?.confidence ?? 0)) best = found
    }
    return best
  },
  async *read(source) {
    const taken = new Set<string>()
    for (const group of await groupFiles(source)) {
      let id: string | undefined
      const reading = createClaudeReading({
        format: ID,
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

/** Session facts every reader of Claude's lines shares. */
export function claudeFacts(facts: ClaudeFacts): Omit<Session, 'id' | 'status'> {
  const { cwd, gitBranch, version, model, title, startedAt, endedAt } = facts
  return {
    ...(title !== undefined && { title }),
    ...(model !== undefined && { model }),
    ...(cwd !== undefined && { cwd }),
    ...(gitBranch !== undefined && { git: { branch: gitBranch } }),
    ...(version !== undefined && { version }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
  }
}

/** Files of a folder looked at to tell whose it is. */
const LOOKED_AT = 20

const isLog = (file: SourceFile): boolean => file.path.endsWith('.jsonl') || !file.path.includes('/')

/** A later file that names the same session is another recording of it: its own id, the same native name. */
function toSession(facts: ClaudeFacts, path: string, taken: ReadonlySet<string>): Session {
  const { sessionId } = facts
  const id = uuidFrom(ID, sessionId ?? path)
  return {
    id: taken.has(id) ? uuidFrom(ID, sessionId ?? '', path) : id,
    ...(sessionId !== undefined && { native: { agent: ID, sessionId } }),
    agent: ID,
    ...claudeFacts(facts),
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

type Group = { readonly main: SourceFile; readonly agents: AgentFiles[] }
type AgentFiles = { readonly log: SourceFile; readonly meta: SourceFile | undefined }

/** Each session's own log with those of its subagents after it. A subagent's without a main log is a group of its own. */
async function groupFiles(source: Source): Promise<Group[]> {
  const files = await source.list()
  if (source.kind === 'file') return files.map((main) => ({ main, agents: [] }))
  const logs = files.filter(({ path }) => path.endsWith('.jsonl'))
  const groups = logs
    .filter((file) => agentOf(file.path) === undefined)
    .map((main): Group => ({ main, agents: [] }))
  const bySession = new Map<string, Group>()
  for (const group of groups) {
    const name = stem(group.main.path)
    const key = isUuid(name) ? name : ((await sessionIn(group.main)) ?? name)
    if (!bySession.has(key)) bySession.set(key, group)
  }
  const byPath = new Map(files.map((file) => [file.path, file]))
  for (const log of logs.filter((file) => agentOf(file.path) !== undefined)) {
    const session = sessionAbove(log.path) ?? (await sessionIn(log)) ?? log.path
    const group = bySession.get(session)
    const meta = byPath.get(log.path.replace(/\.jsonl$/, '.meta.json'))
    if (group !== undefined) group.agents.push({ log, meta })
    else {
      const alone: Group = { main: log, agents: [] }
      bySession.set(session, alone)
      groups.push(alone)
    }
  }
  return groups
}

async function* readGroup(
  { main, agents }: Group,
  reading: ClaudeReading,
): AsyncGenerator<readonly ReadItem[]> {
  const name = stem(main.path)
  const agent = agentOf(main.path)
  yield* reading.read(main, {
    ...(isUuid(name) && { expected: name }),
    ...(agent !== undefined && { source: `subagent:${agent}` }),
  })
  for (const { log, meta } of agents) {
    const source = `subagent:${agentOf(log.path) ?? ''}`
    yield* reading.read(log, { source })
    if (meta !== undefined) yield [await reading.document(meta, { source, record: 'agent-meta' })]
  }
  yield reading.end()
}

const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
const stem = (path: string): string => fileName(path).replace(/\.jsonl$/, '')

function agentOf(path: string): string | undefined {
  const name = stem(path)
  return name.startsWith('agent-') && name.length > 6 ? name.slice(6) : undefined
}

/** `<sessionId>/subagents/agent-x.jsonl`, at any depth below. */
function sessionAbove(path: string): string | undefined {
  const folders = path.split('/')
  const at = folders.lastIndexOf('subagents')
  return at > 0 ? folders[at - 1] : undefined
}

async function sessionIn(file: SourceFile): Promise<string | undefined> {
  const { records } = await readHead(file)
  return records.map((record) => asString(record['sessionId'])).find((sessionId) => sessionId !== undefined)
}
