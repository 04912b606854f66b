/** What the lines of a rollout say about the whole session, gathered as they pass: reader and writer tell it the same way. */
import { uuidFrom } from '../transcript/ids.ts'
import { asObject, asString, isObject, toJson, type Json, type JsonObject } from '../transcript/json.ts'
import { parseInstant } from '../transcript/instant.ts'
import type { Session, Status } from '../transcript/session.ts'
import { isLegacyHeader, recordName } from './codex-lines.ts'

export const CODEX = 'codex'

export type FactsFold = {
  observe(line: Json, at: string | undefined, isReplayed: boolean): void
  /** Of the turn that is on. */
  readonly model: string | undefined
  readonly provider: string | undefined
  /** Codex's own. */
  readonly version: string | undefined
  /** The thread, as the file's first line names it. */
  readonly thread: string | undefined
  /**
   * What tells this rollout from others of its thread, where its history goes on from another one: a thread that was taken back
   * goes on in a new file. Undefined for the file that a thread began in.
   */
  readonly segment: string | undefined
  /** All but the session's id, which the file's name may have to tell. */
  current(): Omit<Session, 'id' | 'native'>
}

type Meta = {
  readonly cwd?: string
  readonly version?: string
  readonly provider?: string
  readonly git?: Session['git']
  readonly parent?: Session['parent']
  readonly segment?: string
}

export function createCodexFacts(): FactsFold {
  let thread: string | undefined
  let meta: Meta | undefined
  let cwd: string | undefined
  let firstModel: string | undefined
  let model: string | undefined
  let title: string | undefined
  let status: Status = 'completed'
  let startedAt: string | undefined
  let endedAt: string | undefined

  const observeTime = (at: string | undefined): void => {
    if (at === undefined) return
    if (startedAt === undefined || at < startedAt) startedAt = at
    if (endedAt === undefined || at > endedAt) endedAt = at
  }
  const observeMeta = (payload: JsonObject): void => {
    thread ??= text(payload['id']) ?? text(payload['thread_id'])
    // Later ones are the same again, or, in a fork, the parent's.
    if (meta !== undefined) return
    meta = toMeta(payload)
    observeTime(parseInstant(payload['timestamp']))
  }
  const observeTurn = (payload: JsonObject): void => {
    model = text(payload['model']) ?? model
    firstModel ??= model
    cwd ??= text(payload['cwd'])
  }

  return {
    observe(line, at, isReplayed) {
      if (!isReplayed) observeTime(at)
      if (!isObject(line)) return
      const payload = asObject(line['payload'])
      if (line['type'] === 'session_meta' && payload !== undefined) observeMeta(payload)
      else if (line['type'] === 'thread.started' || isLegacyHeader(line)) observeMeta(line)
      else if (line['type'] === 'turn_context' && payload !== undefined) observeTurn(payload)
      else if (line['type'] === 'event_msg' && payload !== undefined && !isReplayed) {
        const record = recordName(line)
        if (record === 'thread_name_updated') title = text(payload['thread_name']) ?? title
        else if (record === 'turn_aborted') status = 'interrupted'
        else if (record === 'task_started' || record === 'turn_started') status = 'completed'
      }
    },
    get model() {
      return model
    },
    get provider() {
      return meta?.provider
    },
    get version() {
      return meta?.version
    },
    get thread() {
      return thread
    },
    get segment() {
      return meta?.segment
    },
    current() {
      const { cwd: home = cwd, version, git, parent } = meta ?? {}
      return {
        agent: CODEX,
        ...(title !== undefined && { title }),
        ...(firstModel !== undefined && { model: firstModel }),
        ...(home !== undefined && { cwd: home }),
        ...(git !== undefined && { git }),
        ...(version !== undefined && { version }),
        ...(parent !== undefined && { parent }),
        ...(startedAt !== undefined && { startedAt }),
        ...(endedAt !== undefined && { endedAt }),
        status,
      }
    },
  }
}

/** The id that a thread's session has here. */
export const toSessionId = (thread: string): string => uuidFrom(CODEX, thread)

function toMeta(payload: JsonObject): Meta {
  const cwd = text(payload['cwd'])
  const version = text(payload['cli_version'])
  const provider = text(payload['model_provider'])
  const git = toGit(asObject(payload['git']))
  const parent = parentOf(payload)
  const base = asObject(payload['history_base'])
  return {
    ...(base !== undefined && { segment: uuidFrom(toJson([base, payload['timestamp'] ?? null])) }),
    ...(cwd !== undefined && { cwd }),
    ...(version !== undefined && { version }),
    ...(provider !== undefined && { provider }),
    ...(git !== undefined && { git }),
    ...(parent !== undefined && { parent }),
  }
}

function toGit(git: JsonObject | undefined): Session['git'] | undefined {
  const branch = text(git?.['branch'])
  const commit = text(git?.['commit_hash'])
  const remote = text(git?.['repository_url'])
  const known = {
    ...(branch !== undefined && { branch }),
    ...(commit !== undefined && { commit }),
    ...(remote !== undefined && { remote }),
  }
  return Object.keys(known).length === 0 ? undefined : known
}

/** The thread that started this one, or that it was forked from. */
function parentOf(payload: JsonObject): Session['parent'] {
  const spawn = asObject(asObject(asObject(payload['source'])?.['subagent'])?.['thread_spawn'])
  const starter = text(spawn?.['parent_thread_id']) ?? text(payload['parent_thread_id'])
  if (starter !== undefined) return { session: toSessionId(starter), relation: 'subagent' }
  const forked = text(payload['forked_from_id'])
  return forked === undefined ? undefined : { session: toSessionId(forked), relation: 'fork' }
}

function text(value: Json | undefined): string | undefined {
  return asString(value) || undefined
}
