/**
 * One run of the Claude Agent SDK as a session: its messages as they come, and from its transcripts what they do not say: what
 * subagents said among themselves, and what answers came to after they were shown. Nothing is recorded twice.
 */
import type { Json, JsonObject } from '../../transcript/json.ts'
import { asArray, asObject, asString, isObject } from '../../transcript/json.ts'
import type { Session } from '../../transcript/session.ts'
import { record, type Recorder, type RecordOptions } from '../record.ts'
import { foldClaude } from '../../formats/claude-stream-fold.ts'
import type { Fold, StreamEnd } from '../../formats/stream-session.ts'
import { finish } from '../streams/stream.ts'
import { agentFiles, agentIdOf, type AgentFile, type TranscriptPaths } from './agent-paths.ts'
import { openTranscript, type TranscriptFile } from './agent-transcript.ts'
import { toPlain } from './foreign.ts'

export type AgentSession = {
  /** What is asked, before it is. */
  prompt(said: unknown): void
  /** A message of the SDK. */
  message(said: unknown): void
  /** A hook's word on where the transcripts lie: they are read. */
  transcripts(main: unknown, agent?: unknown): void
  /** Reads what is left of the transcripts and ends the session, once. `how`: where no message says how it ended. */
  end(how: StreamEnd): Promise<Session | undefined>
}

export type AgentSessionOptions = {
  readonly recording: RecordOptions
  readonly paths: TranscriptPaths
  readonly failed: (what: string, error: unknown) => void
}

/** Lines of a transcript that are this much older than the run are the history that it goes on with. */
const SLACK_MS = 2000

export function createAgentSession({ recording, paths, failed }: AgentSessionOptions): AgentSession {
  const began = Date.now()
  const files = new Map<string, TranscriptFile>()
  const known = createKnown()
  let opened: { readonly recorder: Recorder; readonly fold: Fold } | undefined
  let sessionId: string | undefined
  let main: string | undefined
  let hasResult = false
  let ended: Promise<Session | undefined> | undefined
  /** Everything in order, and nothing of it in the agent's way. */
  let work: Promise<unknown> = Promise.resolve()
  const held: ((fold: Fold) => void)[] = []

  const then = (what: string, step: () => void | Promise<void>): void => {
    work = work.then(step).catch((error: unknown) => failed(what, error))
  }
  const open = async (): Promise<NonNullable<typeof opened>> => {
    if (opened !== undefined) return opened
    const recorder = await record({
      ...recording,
      agent: recording.agent ?? 'claude-code',
      ...(sessionId !== undefined && { native: { agent: 'claude-code', sessionId } }),
    })
    const made = { recorder, fold: foldClaude(recorder) }
    opened = made
    for (const one of held.splice(0)) one(made.fold)
    return made
  }
  const take = (line: JsonObject): void => {
    known.learn(line)
    if (opened === undefined) held.push((fold) => fold.take(line))
    else opened.fold.take(line)
  }

  const readFile = (path: string, parent: string | undefined): void => {
    const file = files.get(path) ?? openTranscript(path)
    files.set(path, file)
    file.read((line) => {
      if (!isNew(line, began)) return
      for (const one of known.unsaid(parent === undefined ? line : { ...line, parent_tool_use_id: parent }))
        take(one)
    })
  }
  /** Those whose starter is known, which may name further ones, as long as there are any; at the end the others too. */
  const readAgents = (isLast: boolean): void => {
    if (main === undefined) return
    let waiting = agentFiles(main).filter((file) => !file.isFlat || isOf(file, sessionId))
    for (;;) {
      const ready = waiting.filter((file) => files.has(file.path) || known.starterOf(file) !== undefined)
      for (const file of ready) readFile(file.path, known.starterOf(file))
      waiting = waiting.filter((file) => !ready.includes(file))
      if (ready.length === 0) break
    }
    if (isLast) for (const file of waiting) readFile(file.path, known.starterOf(file) ?? file.agentId)
  }
  const readAll = async (isLast: boolean): Promise<void> => {
    if (main === undefined && sessionId !== undefined) main = paths.find(sessionId)
    if (main === undefined) return
    await open()
    readFile(main, undefined)
    readAgents(isLast)
  }
  const checked = (path: unknown): string | undefined => {
    const found = paths.check(path)
    if (found !== undefined && 'problem' in found) failed('a transcript', new Error(found.problem))
    return found !== undefined && 'path' in found ? found.path : undefined
  }

  return {
    prompt: (said) =>
      then('a prompt', () => {
        const line = typeof said === 'string' ? { message: { role: 'user', content: said } } : toPlain(said)
        if (!isObject(line)) return
        known.asked(line)
        take({ ...line, type: 'user' })
      }),
    message: (said) =>
      then('a message', async () => {
        const line = toPlain(said)
        if (!isObject(line)) return
        // What was asked has been recorded when it was.
        if (line['type'] === 'user' && line['isReplay'] === true) return
        sessionId ??= asString(line['session_id'])
        hasResult ||= line['type'] === 'result'
        if (sessionId !== undefined) await open()
        // A file may be faster than a pipe.
        if (!known.isSaid(line)) take(line)
      }),
    transcripts: (path, agent) =>
      then('a transcript', async () => {
        main = checked(path) ?? main
        const own = checked(agent)
        await readAll(false)
        const agentId = own === undefined ? undefined : agentIdOf(own)
        if (own === undefined || agentId === undefined) return
        const starter = known.starterOf({ path: own, agentId, isFlat: false })
        // Whose it is may stand in a transcript that is not written yet: then it waits for the end.
        if (starter !== undefined) readFile(own, starter)
      }),
    end(how) {
      ended ??= (async () => {
        then('a transcript', () => readAll(true))
        let session: Session | undefined
        then('a session', async () => {
          const { recorder, fold } = await open()
          const damaged = [...files.values()].reduce((sum, file) => sum + file.damaged(), 0)
          if (damaged > 0) recorder.event('damage', { lines: damaged })
          const said = fold.end()
          session = await finish(recorder, hasResult ? said : how)
        })
        await work
        return session
      })()
      return ended
    },
  }
}

/** History that a resumed session has in its file, and its first lines, from before this run. */
function isNew(line: JsonObject, began: number): boolean {
  const at = Date.parse(asString(line['timestamp']) ?? '')
  return Number.isNaN(at)
    ? asString(line['uuid']) !== undefined || 'sessionId' in line
    : at >= began - SLACK_MS
}

/** Beside its session lie those of all sessions: its lines say whose it is. */
function isOf({ path }: AgentFile, sessionId: string | undefined): boolean {
  let isOwn = false
  openTranscript(path).read((line) => {
    isOwn ||= sessionId !== undefined && line['sessionId'] === sessionId
  })
  return isOwn
}

type Known = {
  asked(line: JsonObject): void
  learn(line: JsonObject): void
  isSaid(line: JsonObject): boolean
  /** What of a transcript's line has not been recorded: all, only what its message came to in the end, or nothing. */
  unsaid(line: JsonObject): readonly JsonObject[]
  /** The call that started a subagent, by what it was told or has said. */
  starterOf(file: AgentFile): string | undefined
}

/** Of a run that goes on for days, the oldest are forgotten: at worst they are recorded again. */
const MOST_KNOWN = 200_000

function createKnown(): Known {
  /** By the ids of lines: the call whose subagent said it, or none. */
  const lines = new Map<string, string | undefined>()
  const prompts = new Map<string, number>()
  const calls = new Map<string, string>()
  const starters = new Map<string, string>()
  const counted = new Map<string, string>()

  const starterOf: Known['starterOf'] = ({ path, agentId }) => {
    const before = starters.get(agentId)
    if (before !== undefined) return before
    let found: string | undefined
    openTranscript(path).read((line) => {
      if (found !== undefined) return
      const said = lines.get(asString(line['uuid']) ?? '')
      found = said ?? (line['type'] === 'user' ? calls.get(textOf(line).trim()) : undefined)
    })
    if (found !== undefined) hold(starters, agentId, found)
    return found
  }
  return {
    asked(line) {
      const text = textOf(line).trim()
      hold(prompts, text, (prompts.get(text) ?? 0) + 1)
    },
    learn(line) {
      const id = asString(line['uuid'])
      if (id !== undefined) hold(lines, id, asString(line['parent_tool_use_id']) ?? undefined)
      for (const block of contentOf(line)) {
        const prompt = asString(asObject(asObject(block)?.['input'])?.['prompt'])
        const callId = asString(asObject(block)?.['id'])
        if (prompt !== undefined && callId !== undefined) hold(calls, prompt.trim(), callId)
      }
    },
    isSaid: (line) => lines.has(asString(line['uuid']) ?? ''),
    unsaid(line) {
      const id = asString(line['uuid'])
      if (id === undefined || !lines.has(id)) {
        const text = line['type'] === 'user' ? textOf(line).trim() : ''
        const times = line['parent_tool_use_id'] === undefined ? (prompts.get(text) ?? 0) : 0
        if (times === 0) return [line]
        prompts.set(text, times - 1)
        return []
      }
      const message = asObject(line['message'])
      const messageId = asString(message?.['id'])
      const usage = asObject(message?.['usage'])
      if (line['type'] !== 'assistant' || messageId === undefined || usage === undefined) return []
      // The same message again, with what it came to: only that.
      const mark = JSON.stringify(usage)
      if (counted.get(messageId) === mark || message?.['stop_reason'] === null) return []
      hold(counted, messageId, mark)
      return counts(line, message ?? {}, usage)
    },
    starterOf,
  }
}

/** A provider's stream of nothing but its counts. */
function counts(line: JsonObject, message: JsonObject, usage: JsonObject): readonly JsonObject[] {
  const parent = line['parent_tool_use_id']
  const event = (said: JsonObject): JsonObject => ({
    type: 'stream_event',
    event: said,
    ...(parent !== undefined && { parent_tool_use_id: parent }),
  })
  const { id, model, stop_reason: stopReason } = message
  return [
    event({
      type: 'message_start',
      message: {
        ...(id !== undefined && { id }),
        ...(model !== undefined && { model }),
        role: 'assistant',
        content: [],
        usage,
      },
    }),
    event({ type: 'message_delta', delta: { stop_reason: stopReason ?? null }, usage }),
    event({ type: 'message_stop' }),
  ]
}

function contentOf(line: JsonObject): readonly Json[] {
  return asArray(asObject(line['message'])?.['content']) ?? []
}

function textOf(line: JsonObject): string {
  const content = asObject(line['message'])?.['content']
  if (typeof content === 'string') return content
  return contentOf(line)
    .flatMap((block) => asString(asObject(block)?.['text']) ?? [])
    .join('\n')
}

function hold<K, V>(held: Map<K, V>, key: K, value: V): void {
  held.set(key, value)
  if (held.size > MOST_KNOWN) held.delete(held.keys().next().value as K)
}
