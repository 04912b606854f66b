/** One session out of one of Entire's folders. The transcript's content says what it is; the files beside it add facts. */
import { isSafeId, uuidFrom } from '../transcript/ids.ts'
import { asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { SourceFile } from '../transcript/source.ts'
import { detectClaudeCode } from './claude-code.ts'
import { claudeSession, isFlatLine, type ClaudeFacts } from './claude-facts.ts'
import { createClaudeReading, type ClaudeReading } from './claude-reading.ts'
import { VOCABULARY, watchLine } from './claude-vocabulary.ts'
import { readDocument, readText } from './document.ts'
import { createDriftWatch, type DriftWatch } from './drift.ts'
import {
  checkpointFacts,
  contextFacts,
  createHashCheck,
  isCheckpoint,
  readCheckpoints,
} from './entire-checkpoint.ts'
import { fromCompactLine, isCompactLine } from './entire-compact.ts'
import type { SessionFolder } from './entire-folders.ts'
import { findForeign, numberedAfter, readForeign, type Foreign } from './entire-foreign.ts'
import { linesOf, withoutLines } from './entire-older.ts'
import { COMPACT_VOCABULARY, watchCompact } from './entire-vocabulary.ts'
import { CHECKPOINT } from './entire-write.ts'
import type { ReadItem, ReadOptions } from './format.ts'
import { readFurther } from './further-head.ts'
import { letGo } from './let-go.ts'

const ID = 'entire'

type Options = ReadOptions & {
  /** Session ids given out so far: another recording of the same session gets its own. */
  readonly taken: Set<string>
  /** The metadata of the checkpoint that this session is the first of. */
  readonly above?: SourceFile
}

type Dialect = 'lines' | 'compact' | 'foreign' | 'checkpoint'

export async function* readFolder(
  folder: SessionFolder,
  options: Options,
): AsyncGenerator<readonly ReadItem[]> {
  const { full, compact, metadata: metadataFile, hash, tasks, older } = folder
  const transcript = full[0] ?? compact
  const dialect = transcript === undefined ? undefined : await tellDialect(transcript)
  const stated = metadataFile === undefined ? undefined : (await readDocument(metadataFile)).raw
  const checkpoints = await readCheckpoints(folder.checkpoints)
  const newest = checkpoints.all.at(-1)
  const metadata = isCheckpoint(stated) ? stated : checkpoints.metadata
  if (transcript === undefined && metadata === undefined) return
  const texts = await readTexts({
    prompt: folder.prompt ?? newest?.get('prompt.txt'),
    context: folder.context ?? newest?.get('context.md'),
    summary: folder.summary ?? newest?.get('summary.txt'),
  })
  const agent: { label?: string } = {}

  const choose = idsFor(folder.path, options.taken)
  const foreign = await foreignIn(full, dialect)
  /** What the other agent's document says of its session, once it was read. */
  let told: Session | undefined
  const drift = dialect === 'lines' ? createDriftWatch(VOCABULARY, options) : undefined
  const compactWatch = dialect === 'compact' ? createDriftWatch(COMPACT_VOCABULARY, options) : undefined
  const reading = createClaudeReading({
    format: ID,
    // forgeflare's lines, and our own, are no news of Claude Code.
    ...(drift && { watch: (line) => void (isClaudeCodes(line) && watchLine(drift, line)) }),
    toSession: (facts) =>
      told === undefined
        ? toSession(facts, { folder, dialect, metadata, texts, agent: agent.label, choose })
        : toForeignSession(told, { folder, metadata, texts, choose }),
  })
  const check = createHashCheck()
  let before = 0
  for await (const items of foreign === undefined ? [] : readForeign(foreign, older, options)) {
    const all = items.map((item): ReadItem => {
      if (item.type === 'entry') before = Math.max(before, item.entry.sequence + 1)
      if (item.type !== 'session') return item
      told = item.session
      return { type: 'session', session: toForeignSession(told, { folder, metadata, texts, choose }) }
    })
    yield all
    letGo(items, all)
  }
  // Before the newest, as they were recorded: the last report of a call is then the newest one's.
  if (older.length > 0 && (dialect === 'lines' || dialect === 'compact')) {
    const seen = await linesOf(full)
    for (const file of older)
      yield* reading.read(await withoutLines(file, seen), dialectOptions(dialect, agent, compactWatch))
  }
  for (const file of full) {
    if (dialect === 'checkpoint') break
    if (foreign !== undefined) for await (const _ of check.tap(file).chunks());
    else
      yield* reading.read(
        hash === undefined ? file : check.tap(file),
        dialectOptions(dialect, agent, compactWatch),
      )
  }
  // Where both are, the compact one was made from the full one and says nothing more.
  if (full.length === 0 && compact !== undefined)
    yield* reading.read(compact, dialectOptions(dialect, agent, compactWatch))
  yield reading.open()
  const mismatch = hash === undefined || full.length === 0 ? undefined : await check.check(hash)
  if (mismatch !== undefined) yield [{ type: 'damage', damage: mismatch }]
  for await (const items of readTasks(tasks, reading)) {
    const all = items.map((item) => numberedAfter(item, before))
    yield all
    letGo(items, all)
  }
  const documents = [
    options.above,
    metadataFile,
    dialect === 'checkpoint' ? transcript : undefined,
    ...checkpoints.all.flatMap((files) => [files.get('checkpoint.json'), files.get('metadata.json')]),
  ]
  for (const file of documents) {
    if (file === undefined) continue
    yield [numberedAfter(await reading.document(file, { record: CHECKPOINT }), before)]
  }
  for (const files of checkpoints.all) {
    for (const [name, file] of files) {
      if (!name.startsWith(OTHER)) continue
      const record = { record: 'file' }
      const isDocument = name.endsWith('.json')
      yield [
        numberedAfter(
          await (isDocument ? reading.document(file, record) : reading.text(file, record)),
          before,
        ),
      ]
    }
  }
  for (const { damage } of texts.damaged) yield [{ type: 'damage', damage }]
  yield reading.end()
}

/** Files of a checkpoint that nobody here knows. */
const OTHER = 'other/'

/** Whatever the folder's metadata calls it: the first records decide. */
async function tellDialect(file: SourceFile): Promise<Dialect> {
  const head = await readFurther(file)
  if (isCheckpoint(head.document)) return 'checkpoint'
  if (head.records.some(isCompactLine)) return 'compact'
  // The stub of a first record is one that was torn off; a document over several lines is not.
  if (head.records.length === 0 && !head.text.includes('\n') && head.text.startsWith('{')) return 'lines'
  const isLines = head.records.some(isFlatLine) || detectClaudeCode(head) !== undefined
  return isLines || head.records.some(isMessageLine) ? 'lines' : 'foreign'
}

/** Documents in several chunks are kept record by record: where one ends inside another, nobody could tell. */
async function foreignIn(
  full: readonly SourceFile[],
  dialect: Dialect | undefined,
): Promise<Foreign | undefined> {
  const [only, ...more] = full
  if (dialect !== 'foreign' || only === undefined || more.length > 0) return undefined
  return findForeign(only)
}

/** The other agent's session, with what the checkpoint adds; its own words win. */
function toForeignSession(
  session: Session,
  { folder, metadata, texts, choose }: Omit<Known, 'dialect' | 'agent'>,
): Session {
  const { native } = session
  const name = asString(metadata?.['session_id'])
  const kept = Object.keys(texts.kept).length > 0 ? { entire: texts.kept } : {}
  return {
    ...(metadata && checkpointFacts(metadata)),
    ...session,
    id: choose(native?.agent ?? ID, native?.sessionId ?? folder.full[0]?.path ?? folder.path),
    ...(name !== undefined && isSafeId(name) && { names: { entire: name } }),
    metadata: { ...session.metadata, ...kept },
  }
}

/** A turn without its wrapper: enough for Entire's own reader, so enough for ours. */
function isMessageLine({ type, message }: JsonObject): boolean {
  return (type === 'user' || type === 'assistant') && isObject(message) && 'content' in message
}

function isClaudeCodes(line: JsonObject): boolean {
  return line['type'] !== 'event' && !isFlatLine(line)
}

function dialectOptions(
  dialect: Dialect | undefined,
  agent: { label?: string },
  watch: DriftWatch | undefined,
) {
  if (dialect === 'foreign') return { isForeign: true }
  if (dialect !== 'compact') return {}
  const parse = (value: Json) => {
    if (!isObject(value)) return undefined
    const label = asString(value['agent'])
    if (label !== undefined) agent.label ??= label
    if (watch !== undefined) watchCompact(watch, value)
    return fromCompactLine(value)
  }
  return { parse }
}

async function* readTasks(
  tasks: readonly SourceFile[],
  reading: ClaudeReading,
): AsyncGenerator<readonly ReadItem[]> {
  for (const file of tasks) {
    const name = file.path.slice(file.path.lastIndexOf('/') + 1)
    if (name.startsWith('agent-') && name.endsWith('.jsonl')) {
      yield* reading.read(file, { source: `subagent:${name.slice('agent-'.length, -'.jsonl'.length)}` })
    } else if (name.endsWith('.json')) yield [await reading.document(file, { record: 'task' })]
  }
}

type Texts = {
  readonly kept: JsonObject
  readonly context: string | undefined
  readonly damaged: readonly Extract<ReadItem, { type: 'damage' }>[]
}

type TextFiles = Pick<SessionFolder, 'prompt' | 'context' | 'summary'>

async function readTexts({ prompt, context, summary }: TextFiles): Promise<Texts> {
  const kept = Object.create(null) as Record<string, Json>
  const damaged: Extract<ReadItem, { type: 'damage' }>[] = []
  for (const [name, file] of Object.entries({ prompt, context, summary })) {
    if (file === undefined) continue
    const text = await readText(file)
    if (typeof text === 'string') kept[name] = text
    else damaged.push({ type: 'damage', damage: text })
  }
  return { kept, context: asString(kept['context']), damaged }
}

/** The same name twice below one source is another recording: its id is made with its place. */
function idsFor(path: string, taken: Set<string>): (agent: string, sessionId: string) => string {
  let chosen: string | undefined
  return (agent, sessionId) => {
    if (chosen !== undefined) return chosen
    const id = uuidFrom(agent, sessionId)
    chosen = taken.has(id) ? uuidFrom(agent, sessionId, path) : id
    taken.add(chosen)
    return chosen
  }
}

type Known = {
  readonly folder: SessionFolder
  readonly dialect: Dialect | undefined
  readonly metadata: JsonObject | undefined
  readonly texts: Texts
  readonly agent: string | undefined
  readonly choose: (agent: string, sessionId: string) => string
}

function toSession(facts: ClaudeFacts, { folder, dialect, metadata, texts, agent, choose }: Known): Session {
  const isLines = dialect === 'lines'
  const isClaude = isLines && !facts.isFlat
  const name = asString(metadata?.['session_id']) ?? (facts.isFlat ? facts.sessionId : undefined)
  const sessionId = facts.sessionId ?? name
  const native = { agent: isClaude ? 'claude-code' : ID, sessionId: sessionId ?? '' }
  const said = { ...(metadata && checkpointFacts(metadata)), ...claudeSession(facts) }
  const told = texts.context === undefined ? {} : contextFacts(texts.context)
  const transcript = folder.full[0] ?? folder.compact ?? folder.metadata
  return {
    id: choose(native.agent, sessionId ?? transcript?.path ?? folder.path),
    ...(sessionId !== undefined && (isLines || name !== undefined) && { native }),
    ...(name !== undefined && isSafeId(name) && { names: { entire: name } }),
    ...(isClaude && { agent: 'claude-code' }),
    ...(agent !== undefined && { agent }),
    ...said,
    ...(said.model === undefined && told.model !== undefined && { model: told.model }),
    ...(facts.isFlat && told.startedAt !== undefined && { startedAt: told.startedAt }),
    // forgeflare writes the context last: a session without one did not come to its end.
    status: facts.isFlat && isInPlace(folder) && texts.context === undefined ? 'interrupted' : 'completed',
    ...(Object.keys(texts.kept).length > 0 && { metadata: { entire: texts.kept } }),
  }
}

function isInPlace({ full }: SessionFolder): boolean {
  return full.some(({ path }) => /(^|\/)full\.(jsonl|log)$/.test(path))
}
