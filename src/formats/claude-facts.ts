/** What the lines of a Claude-style log say about the whole session, gathered as they pass. */
import { PRIMARY } from '../transcript/entry.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { LineDefaults } from './claude-lines.ts'
import type { IdSet } from './id-set.ts'

export type ClaudeFacts = LineDefaults & {
  readonly model: string | undefined
  readonly title: string | undefined
  readonly startedAt: string | undefined
  readonly endedAt: string | undefined
  /** Told apart from Claude Code's own lines by what they lack: see `isFlatLine`. */
  readonly isFlat: boolean
  /** The session that this one's first lines were copied from. */
  readonly comesFrom: { readonly sessionId: string; readonly relation: 'fork' | 'resume' } | undefined
}

export type FactsFold = {
  /** Live: what the session's first lines said, which later ones are compared with. */
  readonly defaults: LineDefaults
  /** Decides whose records these are, by what each says that it is of; false when more records may tell better. */
  chooseSession<R>(
    records: readonly R[],
    sessionOf: (record: R) => string | undefined,
    expected: string | undefined,
  ): boolean
  /** Whether it is decided: no later record would choose another. */
  readonly isChosen: () => boolean
  /** The model of the main agent is known: no other speaks for the session. */
  readonly hasOwnModel: () => boolean
  observe(line: JsonObject): void
  /** True where `observe` would learn nothing from a message of which all it says for the session is this: see `DefaultName`. */
  isSettled(isSaid: (name: DefaultName) => boolean): boolean
  observeTime(at: string): void
  observeModel(model: string, source: string): void
  /** `ids` are the lines of the session: a summary counts only when it is of one of them. */
  current(ids?: Pick<IdSet, 'has'>): ClaudeFacts
}

export const DEFAULT_NAMES = ['sessionId', 'cwd', 'version', 'gitBranch'] as const
export type DefaultName = (typeof DEFAULT_NAMES)[number]

/** Of summaries, which may be of other sessions, the last this many are looked at. */
const SUMMARIES = 1000

export function createClaudeFacts({
  exact = false,
  isForFacts = false,
}: Pick<LineDefaults, 'exact' | 'isForFacts'> = {}): FactsFold {
  const defaults: { -readonly [K in keyof LineDefaults]: LineDefaults[K] } = {
    sessionId: undefined,
    cwd: undefined,
    version: undefined,
    gitBranch: undefined,
    exact,
    isForFacts,
  }
  let chosen = false
  let isFlat: boolean | undefined
  let model: string | undefined
  let subagentModel: string | undefined
  let startedAt: string | undefined
  let endedAt: string | undefined
  let comesFrom: ClaudeFacts['comesFrom']
  let hasOwnLine = false
  /** By how well they speak for the session: what a person wrote, what the agent made up, what it summed up. */
  let named: string | undefined
  let suggested: string | undefined
  const summaries: { readonly text: string; readonly leaf: string }[] = []

  const observeTitle = (line: JsonObject): void => {
    if (line['type'] === 'custom-title') named = asString(line['customTitle']) ?? named
    else if (line['type'] === 'ai-title') suggested = asString(line['aiTitle']) ?? suggested
    else if (line['type'] === 'summary' && typeof line['summary'] === 'string') {
      const leaf = asString(line['leafUuid'])
      if (leaf !== undefined) summaries.push({ text: line['summary'], leaf })
      if (summaries.length > SUMMARIES) summaries.shift()
    }
  }

  /** What was branched says so on each line that was copied; before that, copies kept the name of the session they are from. */
  const observeCopy = ({ sessionId, uuid, forkedFrom }: JsonObject): void => {
    const forked = isObject(forkedFrom) ? forkedFrom['sessionId'] : undefined
    if (isText(forked)) {
      if (comesFrom?.relation !== 'fork' && forked !== defaults.sessionId)
        comesFrom = { sessionId: forked, relation: 'fork' }
    } else if (!hasOwnLine && chosen && uuid !== undefined && isText(sessionId)) {
      if (sessionId === defaults.sessionId) hasOwnLine = true
      else comesFrom ??= { sessionId, relation: 'resume' }
    }
  }

  return {
    defaults,
    chooseSession(records, sessionOf, expected) {
      for (const record of records) {
        const sessionId = sessionOf(record)
        if (sessionId === undefined || sessionId === '') continue
        defaults.sessionId ??= sessionId
        if (expected !== undefined && sessionId !== expected) continue
        defaults.sessionId = sessionId
        chosen = true
        return true
      }
      return false
    },
    isChosen: () => chosen,
    hasOwnModel: () => model !== undefined,
    observe(line) {
      const { sessionId, cwd, version, gitBranch, message } = line
      if (!hasOwnLine || line['forkedFrom'] !== undefined) observeCopy(line)
      if (!chosen && defaults.sessionId === undefined && isText(sessionId)) defaults.sessionId = sessionId
      if (defaults.cwd === undefined && isText(cwd)) defaults.cwd = cwd
      if (defaults.version === undefined && isText(version)) defaults.version = version
      if (defaults.gitBranch === undefined && isText(gitBranch)) defaults.gitBranch = gitBranch
      if (message === undefined) observeTitle(line)
      else if (isFlat === undefined && isFlatLine(line)) isFlat = true
      else isFlat ??= false
    },
    isSettled(isSaid) {
      if ((chosen && !hasOwnLine) || isFlat === undefined) return false
      const { sessionId, cwd, version, gitBranch } = defaults
      if (sessionId !== undefined && cwd !== undefined && version !== undefined && gitBranch !== undefined)
        return true
      return DEFAULT_NAMES.every((name) => defaults[name] !== undefined || !isSaid(name))
    },
    observeTime(at) {
      if (startedAt === undefined || at < startedAt) startedAt = at
      if (endedAt === undefined || at > endedAt) endedAt = at
    },
    observeModel(name, source) {
      if (source === PRIMARY) model ??= name
      else subagentModel ??= name
    },
    current(ids) {
      const own = summaries.findLast(({ leaf }) => ids?.has(leaf) === true)
      return {
        ...defaults,
        model: model ?? subagentModel,
        title: named ?? suggested ?? own?.text,
        startedAt,
        endedAt,
        isFlat: isFlat === true,
        comesFrom,
      }
    },
  }
}

/** The session that another one's first lines were copied from. */
export function claudeParent(format: string, { comesFrom }: ClaudeFacts): Session['parent'] {
  if (comesFrom === undefined) return undefined
  return { session: uuidFrom(format, comesFrom.sessionId), relation: comesFrom.relation }
}

/** Session facts every reader of Claude's lines shares. */
export function claudeSession(facts: ClaudeFacts): Omit<Session, 'id' | 'status'> {
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

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== ''
}

/** All that `observe` looks at of a message that is no copy of another session's, with values that nothing hangs on as null. */
export function firstSaid(line: JsonObject): JsonObject {
  const { message } = line
  const said: Record<string, Json> = {
    message: isObject(message) && 'parts' in message ? { parts: null } : {},
  }
  for (const name of FLAT_BY) if (Object.hasOwn(line, name)) said[name] = null
  for (const name of ['uuid', ...DEFAULT_NAMES])
    if (Object.hasOwn(line, name)) said[name] = line[name] ?? null
  return said
}

/** What `isFlatLine` asks a line whether it has. */
const FLAT_BY = ['parentUuid', 'userType', 'isSidechain', 'requestId'] as const

/**
 * forgeflare's dialect, which Entire's `full.jsonl` has when no Claude Code was involved: the wrapper's fields and nothing of
 * Claude Code's own. Our own lines may carry more (a subagent's mark, a request id); their session's name tells them apart.
 */
export function isFlatLine(line: JsonObject): boolean {
  const { sessionId, version, message } = line
  if (typeof sessionId !== 'string' || typeof version !== 'string' || !isObject(message)) return false
  // Qwen has the same wrapper around Gemini's parts.
  if (!('parentUuid' in line) || 'userType' in line || 'parts' in message) return false
  return isDated(sessionId) || !('isSidechain' in line || 'requestId' in line)
}

/** `2026-02-10-…`: how forgeflare and Entire name sessions. */
export function isDated(sessionId: string): boolean {
  return /^\d{4}-\d{2}-\d{2}-./.test(sessionId)
}
