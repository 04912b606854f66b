/**
 * OpenAI Codex's rollouts: one `rollout-<time>-<thread>.jsonl` for each thread, a subagent's too. Old ones without envelopes and what
 * `codex exec --json` prints are read as well. The session is the thread that the first line names; a fork's later lines name others.
 */
import { counted } from '../transcript/counted.ts'
import { isUuid, uuidFrom } from '../transcript/ids.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asString, isObject, type JsonObject } from '../transcript/json.ts'
import { citation, PRIMARY } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { detectAmong } from './candidates.ts'
import { CODEX, toSessionId } from './codex-facts.ts'
import { isLegacyHeader } from './codex-lines.ts'
import { createRollout, readRollout, type Rollout } from './codex-reading.ts'
import { isIndex, readIndex, readTitles } from './codex-titles.ts'
import { codexWriter } from './codex-write.ts'
import type { Detection, Format, LogFollowing, ReadOptions } from './format.ts'
import { readFurther } from './further-head.ts'
import { readHead, type Head } from './head-records.ts'
import { PLACES } from './places.ts'

export const codex: Format = {
  id: CODEX,
  title: 'Codex: rollout-<time>-<thread>.jsonl',
  detect: (source) => detectAmong(source, async (file) => detectCodex(await readHead(file))),
  async *read(source, options) {
    const taken = new Set<string>()
    const titles = await readTitles(source)
    /** Who started a thread. Files are named after their time, so that its parent's was read before. */
    const startedBy = new Map<string, NonNullable<Session['parent']>>()
    for (const file of await source.list()) {
      const head = await readFurther(file)
      if (isIndex(head)) {
        // In a folder, its titles are on the sessions that it names.
        if (source.kind === 'file') yield* readIndex(file)
        continue
      }
      // A folder of Codex's also holds settings and prompts.
      if (source.kind === 'folder' && detectCodex(head) === undefined) continue
      let named: Pick<Session, 'id' | 'native'> | undefined
      yield* readRollout(file, {
        ...options,
        nameInPath: threadInName(file.path),
        toSession(thread, facts) {
          named ??= nameOf(file, thread, taken)
          const title = thread === undefined ? undefined : titles.get(thread)
          const parent = thread === undefined ? undefined : startedBy.get(thread)
          return {
            ...named,
            ...(title !== undefined && { title }),
            ...facts.current(),
            ...(parent !== undefined && { parent }),
          }
        },
        onSpawns(spawns) {
          const session = named?.id
          if (session === undefined) return
          for (const [started, sequence] of spawns)
            startedBy.set(started, {
              session,
              citation: citation(session, { source: PRIMARY, sequence }),
              relation: 'subagent',
            })
        },
      })
      if (named !== undefined) taken.add(named.id)
    }
  },
  follow: followCodex,
  write: codexWriter,
  places: PLACES.codex,
}

/**
 * One rollout, without what its folder says of it. Which turns were taken back later is no fact of a session's: what they cost was paid.
 */
async function followCodex(source: Source, options: ReadOptions = {}): Promise<LogFollowing | undefined> {
  const titles = await readTitles(source)
  if (titles.size > 0) return undefined
  let named: Pick<Session, 'id' | 'native'> | undefined
  let path: string | undefined
  let rollout: Rollout | undefined
  let isOne = true
  return {
    async *more(added) {
      for (const more of added) {
        path ??= more.path
        isOne &&= more.path === path
        rollout ??= createRollout(path, {
          ...options,
          nameInPath: threadInName(path),
          toSession(thread, facts) {
            named ??= nameOf(more, thread, NONE)
            return { ...named, ...facts.current() }
          },
        })
        yield* rollout.read(more)
      }
      if (rollout !== undefined) yield rollout.end()
    },
    isSure: () => isOne && rollout?.hasCounts === true && named?.native !== undefined,
  }
}

const NONE: ReadonlySet<string> = new Set()

/** How sure the first records make us that a file is Codex's. */
export function detectCodex(head: Head): Detection | undefined {
  const { records, strange } = head
  if (isIndex(head)) return { confidence: 0.7, reason: "the names of Codex's threads" }
  const votes = { enveloped: 0, states: 0, printed: 0 }
  for (const record of records) {
    if (isEnvelope(record)) votes.enveloped += 1
    else if (record['record_type'] === 'state') votes.states += 1
    else if (isPrinted(record)) votes.printed += 1
  }
  const { enveloped, states, printed } = votes
  const others = records.length - enveloped + strange
  if (enveloped > others) {
    // One line may be anybody's; a second of the same make is no accident.
    const confidence = enveloped > 1 ? 0.95 : 0.8
    return { confidence, reason: `${counted(enveloped, 'line')} in Codex's envelopes` }
  }
  if (enveloped > 0) {
    return {
      confidence: 0.6,
      reason: `${counted(enveloped, 'line')} in Codex's envelopes among ${counted(others, 'other')}`,
    }
  }
  const [first] = records
  if (first !== undefined && isLegacyHeader(first) && hasBareItems(records)) {
    return { confidence: 0.9, reason: "an old Codex session's first line, and items" }
  }
  if (first !== undefined && records.length === 1 && strange === 0 && isNamedHeader(first)) {
    return { confidence: 0.6, reason: "an old Codex session's first line" }
  }
  if (states > 0) return { confidence: 0.7, reason: `${states} of old Codex's state records` }
  if (first?.['type'] === 'thread.started' && typeof first['thread_id'] === 'string') {
    return { confidence: 0.9, reason: 'a Codex thread that started' }
  }
  return printed > records.length / 2
    ? { confidence: 0.6, reason: `${counted(printed, 'event')} as codex exec prints them` }
    : undefined
}

/** The lines of a rollout, and fields of which what they carry has at least one. */
const ENVELOPES: ReadonlyMap<string, readonly string[]> = new Map([
  ['session_meta', ['id', 'session_id', 'cli_version', 'originator']],
  ['response_item', ['type', 'role']],
  ['event_msg', ['type']],
  ['turn_context', ['model', 'cwd', 'approval_policy', 'sandbox_policy']],
  ['compacted', ['message', 'replacement_history', 'window_id']],
  ['world_state', ['state', 'full']],
  ['token_usage_record', ['usage']],
  ['inter_agent_communication', ['author', 'recipient', 'content']],
  ['inter_agent_communication_metadata', ['trigger_turn']],
  ['security_risk_score', ['score']],
])

function isEnvelope({ type, payload }: JsonObject): boolean {
  const fields = typeof type === 'string' ? ENVELOPES.get(type) : undefined
  return isObject(payload) && fields?.some((field) => field in payload) === true
}

/** All that a session left which was closed at once. */
function isNamedHeader(record: JsonObject): boolean {
  const { id, timestamp } = record
  return isLegacyHeader(record) && isUuid(asString(id) ?? '') && parseInstant(timestamp) !== undefined
}

const ITEM_EVENTS: ReadonlySet<string> = new Set(['item.started', 'item.updated', 'item.completed'])

function isPrinted({ type, item, usage }: JsonObject): boolean {
  if (typeof type !== 'string') return false
  return ITEM_EVENTS.has(type) ? isObject(item) : type === 'turn.completed' && isObject(usage)
}

function hasBareItems(records: readonly JsonObject[]): boolean {
  return records.some(
    ({ type, record_type: old }) => type === 'message' || type === 'reasoning' || old === 'state',
  )
}

/** A later file of the same thread is another recording of it: its own id, the same native name. */
function nameOf(
  file: SourceFile,
  thread: string | undefined,
  taken: ReadonlySet<string>,
): Pick<Session, 'id' | 'native'> {
  const id = thread === undefined ? uuidFrom(CODEX, '', file.path) : toSessionId(thread)
  return {
    id: taken.has(id) ? uuidFrom(CODEX, thread ?? '', file.path) : id,
    ...(thread !== undefined && { native: { agent: CODEX, sessionId: thread } }),
  }
}

/** `rollout-2026-02-10T10-00-01-<thread>.jsonl`; a reverted thread's name goes on with `_<rollout>`. */
function threadInName(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const thread = name.slice('rollout-2026-02-10T10-00-01-'.length).slice(0, 36)
  return name.startsWith('rollout-') && isUuid(thread) ? thread : undefined
}
