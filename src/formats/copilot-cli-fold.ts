/**
 * The lines of a Copilot CLI log one after the other: who said each, which result answers which call and how long it took, and what they
 * say together about the session.
 */
import { PRIMARY } from '../transcript/entry.ts'
import { millisBetween, parseInstant } from '../transcript/instant.ts'
import {
  asNumber,
  asObject,
  asString,
  isObject,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { fromCopilotLine } from './copilot-cli-lines.ts'
import type { Survey } from './copilot-cli-survey.ts'
import { createRecentIds } from './id-set.ts'
import { asId, type Said } from './placing.ts'

export type CopilotFold = {
  /** One line as entries: of a shutdown, one more for each model that it counted. */
  next(line: Json, byteOffset: number): readonly Said[]
  readonly sessionId: string | undefined
  readonly version: string | undefined
  current(): Omit<Session, 'id' | 'native'>
}

export const ID = 'copilot-cli'

/** Calls nobody answered and agents nobody ended: a hostile log may have any number. */
const MOST_OPEN = 10_000

type OpenCall = { name: string | undefined; startedAt: string | undefined; entry: string | undefined }

export function createCopilotFold(survey: Survey): CopilotFold {
  const { shutdowns, isCovered, isCounted, isRecorded, reported } = survey
  const said = createRecentIds()
  const open = new Map<string, OpenCall>()
  /** The call that started an agent, by the agent's own id. */
  const agents = new Map<string, string>()
  let start: JsonObject | undefined
  let context: JsonObject | undefined
  let shutdown: JsonObject | undefined
  let title: string | undefined
  let model: string | undefined
  let startedAt: string | undefined
  let endedAt: string | undefined

  const openCall = (callId: string | undefined, more: Partial<OpenCall>): void => {
    if (callId === undefined) return
    const call = open.get(callId)
    if (call !== undefined) Object.assign(call, more)
    else open.set(callId, { name: undefined, startedAt: undefined, entry: undefined, ...more })
    if (open.size > MOST_OPEN) open.delete(open.keys().next().value as string)
  }

  const sourceOf = (type: string | undefined, line: JsonObject, data: JsonObject | undefined): string => {
    const agent = asId(line['agentId'])
    const own = type?.startsWith('subagent.') === true ? asId(data?.['toolCallId']) : undefined
    if (own !== undefined) {
      if (agent !== undefined && !agents.has(agent) && agents.size < MOST_OPEN) agents.set(agent, own)
      return `subagent:${own}`
    }
    const caller = asId(data?.['parentToolCallId']) ?? (agent && (agents.get(agent) ?? agent))
    return caller === undefined ? PRIMARY : `subagent:${caller}`
  }

  const learn = (type: string | undefined, data: JsonObject): void => {
    if (type === 'session.start') start ??= data
    if (type === 'session.start' || type === 'session.resume') {
      // What was shut down goes on.
      shutdown = undefined
      context = asObject(data['context']) ?? context
      model = asString(data['selectedModel']) ?? model
    }
    if (type === 'session.context_changed') context = { ...context, ...data }
    if (type === 'session.model_change') model = asString(data['newModel']) ?? model
    if (type === 'session.title_changed') title = asString(data['title']) ?? title
    if (type === 'session.shutdown') {
      shutdown = data
      model = asString(data['currentModel']) ?? model
    }
  }

  const next = (line: Json, byteOffset: number): readonly Said[] => {
    const data = isObject(line) ? asObject(line['data']) : undefined
    const type = isObject(line) ? asString(line['type']) : undefined
    if (!isObject(line)) return [fromCopilotLine(line, NOTHING_KNOWN)]
    const source = sourceOf(type, line, data)
    if (data !== undefined) learn(type, data)
    const callId = asId(data?.['toolCallId'])
    const at = parseInstant(line['timestamp'])
    const answered = type === 'tool.execution_complete' && callId !== undefined ? open.get(callId) : undefined
    const entry = fromCopilotLine(line, {
      isCovered: isCovered(byteOffset),
      isCounted,
      isRecorded,
      model: source === PRIMARY ? model : undefined,
      call: answered && { name: answered.name, durationMs: duration(answered.startedAt, at) },
      isSaid: (id) => said.has(id),
    })
    if (at !== undefined) {
      startedAt ??= at
      endedAt = endedAt === undefined || at > endedAt ? at : endedAt
    }
    for (const block of entry.blocks) {
      if (block.type !== 'tool-call' || block.callId === undefined) continue
      said.add(block.callId)
      openCall(block.callId, { name: block.name, entry: entry.id })
    }
    if (type === 'tool.execution_start') {
      const name = asString(data?.['toolName'])
      openCall(callId, { startedAt: at, ...(name !== undefined && { name }) })
    }
    if (answered !== undefined && callId !== undefined) open.delete(callId)
    const spawned = type === 'subagent.started' && callId !== undefined ? open.get(callId)?.entry : undefined
    const placed: Said = {
      ...entry,
      ...(source !== PRIMARY && { source }),
      // The line names only the one before it; what an agent answers is the call that started it.
      ...(spawned !== undefined && { parent: spawned }),
      ...(type === 'subagent.completed' && endOf(data)),
    }
    const reports = type === 'session.shutdown' ? (shutdowns.get(byteOffset) ?? []) : []
    return [
      placed,
      ...reports.map(({ model: named, usage, call }): Said => ({
        kind: 'event',
        ...(at !== undefined && { at }),
        blocks: [],
        model: named,
        usage,
        ...(call !== undefined && { call }),
        metadata: { record: 'session.shutdown', model: named },
      })),
    ]
  }

  return {
    next,
    get sessionId() {
      return asId(start?.['sessionId'])
    },
    get version() {
      return asString(start?.['copilotVersion'])
    },
    current() {
      const version = asString(start?.['copilotVersion'])
      const cwd = asString(context?.['cwd'])
      const began = parseInstant(start?.['startTime']) ?? startedAt
      const error = asString(shutdown?.['errorReason'])
      const more = shutdown && rest(shutdown, SUMMED)
      return {
        agent: ID,
        ...(title !== undefined && { title }),
        ...(model !== undefined && { model }),
        ...(cwd !== undefined && { cwd }),
        ...gitOf(context),
        ...(version !== undefined && { version }),
        ...(began !== undefined && { startedAt: began }),
        ...(endedAt !== undefined && { endedAt }),
        // A log without its last word was left by a crash, or is still being written.
        status:
          shutdown === undefined
            ? 'interrupted'
            : shutdown['shutdownType'] === 'error'
              ? 'failed'
              : 'completed',
        ...(error !== undefined && { error }),
        ...(reported !== undefined && { reportedUsage: reported }),
        ...(more !== undefined && { metadata: { [ID]: more } }),
      }
    },
  }
}

const NOTHING_KNOWN = {
  isCovered: false,
  isCounted: () => false,
  isRecorded: () => false,
  model: undefined,
  call: undefined,
  isSaid: () => false,
}

/** Premium requests and AI units are Copilot's own currency: kept beside, never read as dollars. */
const SUMMED: ReadonlySet<string> = new Set(['modelMetrics', 'errorReason'])

function duration(from: string | undefined, to: string | undefined): number | undefined {
  const millis = millisBetween(from, to)
  return millis !== undefined && millis >= 0 ? millis : undefined
}

function endOf(data: JsonObject | undefined): Pick<Said, 'durationMs' | 'model'> {
  const durationMs = asNumber(data?.['durationMs'])
  const model = asString(data?.['model'])
  return {
    ...(durationMs !== undefined && durationMs >= 0 && { durationMs }),
    ...(model !== undefined && { model }),
  }
}

function gitOf(context: JsonObject | undefined): Pick<Session, 'git'> {
  const branch = asString(context?.['branch'])
  const commit = asString(context?.['headCommit'])
  const remote = asString(context?.['repository'])
  if (branch === undefined && commit === undefined && remote === undefined) return {}
  return {
    git: {
      ...(branch !== undefined && { branch }),
      ...(commit !== undefined && { commit }),
      ...(remote !== undefined && { remote }),
    },
  }
}
