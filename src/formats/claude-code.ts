/**
 * Claude Code's own logs, read: one `<sessionId>.jsonl`, or a folder of them with their subagents' files. The session is the one
 * that the records name; a subagent's file belongs to the session named inside it, wherever it lies.
 */
import { counted } from '../transcript/counted.ts'
import { isUuid, uuidFrom } from '../transcript/ids.ts'
import { asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { SourceFile } from '../transcript/source.ts'
import { detectAmong } from './candidates.ts'
import { agentOf, groupFiles, metaOf, sessionIn, stem, unitOf, type Group } from './claude-code-files.ts'
import { AGENT_META, CLAUDE_CODE, claudeCodeWriter, TOOL_RESULT } from './claude-code-write.ts'
import { MOST_AT_ONCE } from './claude-cut.ts'
import { followClaude } from './claude-follow.ts'
import { claudeParent, claudeSession, type ClaudeFacts } from './claude-facts.ts'
import { isClaudeLine, isSurelyOwn, SURE_BYTES } from './claude-own.ts'
import type { Said } from './claude-others.ts'
import { createClaudeReading, type ClaudeReading } from './claude-reading.ts'
import { VOCABULARY, watchLine } from './claude-vocabulary.ts'
import { createDriftWatch } from './drift.ts'
import type { Detection, Format, ItemsAtOnce, ReadItem, ReadOptions } from './format.ts'
import { readFurther } from './further-head.ts'
import { readHead, type Head } from './head-records.ts'
import { createKeyed, type Keyed } from './keyed.ts'
import { PLACES } from './places.ts'

const ID = CLAUDE_CODE

export const claudeCode: Format = {
  id: ID,
  title: 'Claude Code: <sessionId>.jsonl and its subagents',
  detect: (source) => detectAmong(source, async (file) => detectClaudeCode(await readHead(file)), isLog),
  isSurely: async (source) => {
    const files = await source.list()
    const [file] = files
    return file !== undefined && files.length === 1 && isSurelyOwn(await file.head(SURE_BYTES))
  },
  async *read(source, options) {
    const taken = new Set<string>()
    const { files, groups } = await groupFiles(source, isOwnLog)
    for (const group of groups) {
      let id: string | undefined
      const { agents } = group
      const logs = createKeyed(agents.length, (n) => agentOf(fileAt(files, agents[n]).path) ?? '')
      const reading = createReading(
        options,
        (facts) => {
          const session = toSession(facts, group, taken)
          id = session.id
          return session
        },
        { hasLog: (agent) => logs.has(agent) },
      )
      // Nothing but facts is read at once: for all else, the file would be opened in vain.
      const isShort = options?.isForFacts === true && isAlone(group)
      const alone = isShort && group.main ? openAlone(group.main, reading) : undefined
      if (alone === undefined) yield* readGroup({ ...group, files, logs }, reading)
      else yield* itemsOf(alone)
      if (id !== undefined) taken.add(id)
    }
  },
  readAtOnce(path, open, options) {
    const file = open(MOST_AT_ONCE)
    if (file === undefined) return undefined
    const reading = createReading(options, (facts) => toSession(facts, { path, session: undefined }, NONE))
    return reading.atOnce(path, file, { ...optionsOf(path), isOwnOnly: true })
  },
  async follow(_source, options) {
    // Its records name it, or it is not followed.
    const toOne = (facts: ClaudeFacts): Session => toSession(facts, { path: '', session: undefined }, NONE)
    return followClaude({
      createReading: (hasLog) => createReading(options, toOne, { hasLog, isInTurns: true }),
      optionsOf,
    })
  },
  write: claudeCodeWriter,
  places: PLACES['claude-code'],
  unit: unitOf,
  isReadAlone: true,
}

const NONE: ReadonlySet<string> = new Set()

function createReading(
  options: ReadOptions | undefined,
  toSession: (facts: ClaudeFacts) => Session,
  files: Pick<Parameters<typeof createClaudeReading>[0], 'hasLog' | 'isInTurns'> = {},
): ClaudeReading {
  const drift = createDriftWatch(VOCABULARY, options)
  return createClaudeReading({
    format: ID,
    exact: true,
    isForFacts: options?.isForFacts === true,
    toSession,
    ...files,
    ...(drift !== undefined && { watch: (line) => watchLine(drift, line) }),
  })
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
  if (own > others) return { confidence: 0.95, reason: `${counted(own, 'line')} with Claude Code's keys` }
  if (own > 0)
    return {
      confidence: 0.6,
      reason: `${counted(own, 'line')} with Claude Code's keys among ${counted(others, 'other')}`,
    }
  if (state > others) return { confidence: 0.7, reason: `${state} of Claude Code's state records` }
  return undefined
}

const isLog = (file: SourceFile): boolean => file.path.endsWith('.jsonl') || !file.path.includes('/')

/** A later file that names the same session is another recording of it: its own id, the same native name. */
function toSession(
  facts: ClaudeFacts,
  { path, session }: Pick<Group, 'path' | 'session'>,
  taken: ReadonlySet<string>,
): Session {
  const sessionId = facts.sessionId ?? (session !== undefined && isUuid(session) ? session : undefined)
  const id = uuidFrom(ID, sessionId ?? path)
  const parent = claudeParent(ID, facts)
  return {
    id: taken.has(id) ? uuidFrom(ID, sessionId ?? '', path) : id,
    ...(sessionId !== undefined && { native: { agent: ID, sessionId } }),
    agent: ID,
    ...claudeSession(facts),
    ...(parent !== undefined && { parent }),
    // A log has no last word: a session that stopped reads like one that is done.
    status: 'completed',
  }
}

/** The state records and what each of them states: other programs have these types too, with other words in them. */
const STATE_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['summary', ['summary', 'leafUuid']],
  ['file-history-snapshot', ['messageId', 'snapshot']],
  ['file-history-delta', ['messageId', 'delta']],
  ['queue-operation', ['operation', 'sessionId']],
  ['last-prompt', ['lastPrompt', 'sessionId']],
  ['mode', ['mode', 'sessionId']],
  ['permission-mode', ['permissionMode', 'sessionId']],
  ['ai-title', ['aiTitle', 'sessionId']],
  ['custom-title', ['customTitle', 'sessionId']],
  ['agent-name', ['agentName', 'sessionId']],
  ['pr-link', ['prUrl', 'sessionId']],
  ['frame-link', ['frameUrl', 'sessionId']],
  ['bridge-session', ['bridgeSessionId']],
  ['worktree-state', ['worktreeSession']],
  ['relocated', ['relocatedCwd']],
])

function isStateRecord(record: JsonObject): boolean {
  const { type } = record
  const fields = typeof type === 'string' ? STATE_FIELDS.get(type) : undefined
  return fields !== undefined && fields.every((field) => Object.hasOwn(record, field))
}

/** A folder may hold logs of other programs, and Claude Code's list of prompts. What has no record yet may become ours. */
async function isOwnLog(file: SourceFile): Promise<boolean> {
  const head = await readFurther(file)
  return head.records.length === 0 || detectClaudeCode(head) !== undefined
}

/** Nothing belongs to its log. */
function isAlone({ agents, metas, journals, results }: Group): boolean {
  return agents.length + metas.length + journals.length + results.length === 0
}

/** The whole of a session that is one log, where that is short. */
function openAlone({ path, atOnce }: SourceFile, reading: ClaudeReading): ItemsAtOnce | undefined {
  const file = atOnce?.(MOST_AT_ONCE)
  return file && reading.atOnce(path, file, optionsOf(path))
}

function* itemsOf(alone: ItemsAtOnce): Generator<readonly ReadItem[]> {
  try {
    for (let items = alone.next(); items !== undefined; items = alone.next()) yield items
  } finally {
    alone.leave()
  }
}

/** What the name of a log says. */
function optionsOf(path: string): NonNullable<Parameters<ClaudeReading['read']>[1]> {
  const name = stem(path)
  const agent = agentOf(path)
  return {
    ...(isUuid(name) && { expected: name }),
    ...(agent !== undefined && { source: `subagent:${agent}` }),
  }
}

type GroupFiles = Group & {
  readonly files: readonly SourceFile[]
  /** By the agent's name, which of the group's agents it is. */
  readonly logs: Keyed
}

async function* readGroup(
  { main, files, agents, logs, metas, journals, results }: GroupFiles,
  reading: ClaudeReading,
): AsyncGenerator<readonly ReadItem[]> {
  const [first] = agents
  const otherwise = async (): Promise<string | undefined> =>
    first === undefined ? undefined : sessionIn(fileAt(files, first))
  if (main !== undefined) yield* reading.read(main, { ...optionsOf(main.path), otherwise })
  for (const next of inTurn(agents.length, logs, reading)) {
    const at = agents[next] as number
    const log = fileAt(files, at)
    const source = `subagent:${agentOf(log.path) ?? ''}`
    yield* reading.read(log, { source })
    const meta = metaOf(files, at)
    if (meta !== undefined)
      yield [await reading.document(fileAt(files, meta), { source, record: AGENT_META })]
  }
  for (const at of journals) yield* reading.read(fileAt(files, at), { parse: toJournalEvent })
  for (const at of metas) {
    const meta = fileAt(files, at)
    const source = `subagent:${agentOf(meta.path.replace(/\.meta\.json$/, '.jsonl')) ?? ''}`
    yield [...reading.open(), await reading.document(meta, { source, record: AGENT_META })]
  }
  for (const at of results)
    yield [...reading.open(), await reading.text(fileAt(files, at), { record: TOOL_RESULT })]
  yield reading.end()
}

function fileAt(files: readonly SourceFile[], at: number | undefined): SourceFile {
  return files[at ?? -1] as SourceFile
}

/** One that was named is read before those that were not: what it started is then known. */
function* inTurn(count: number, logs: Keyed, { named }: ClaudeReading): Generator<number> {
  // By bytes, each from where the last was found: there may be a million of them, each named by the one before it.
  const states = new Uint8Array(count).fill(UNNAMED)
  let heard = 0
  let [lowNamed, lowUnnamed] = [count, 0]
  for (let read = 0; read < count; read += 1) {
    for (; heard < named.length; heard += 1) {
      for (const at of logs.find(named[heard] as string)) {
        if (states[at] !== UNNAMED) continue
        states[at] = NAMED
        lowNamed = Math.min(lowNamed, at)
      }
    }
    const found = states.indexOf(NAMED, lowNamed)
    const isNamed = found !== -1
    const next = isNamed ? found : states.indexOf(UNNAMED, lowUnnamed)
    lowNamed = isNamed ? next + 1 : count
    if (!isNamed) lowUnnamed = next + 1
    states[next] = READ
    yield next
  }
}

const [UNNAMED, NAMED, READ] = [0, 1, 2]

/** A workflow's own record: which agent was started under which key, and what it returned. */
function toJournalEvent(raw: Json): readonly Said[] {
  const record = isObject(raw) ? asString(raw['type']) : undefined
  return [
    {
      kind: 'event',
      blocks: [{ type: 'unknown', raw }],
      ...(record !== undefined && { metadata: { record } }),
    },
  ]
}
