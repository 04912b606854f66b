/**
 * One run of the Claude Agent SDK as a session: its messages as they come, and from its transcripts what they do not say: what
 * subagents said among themselves, and what answers came to after they were shown. Nothing is recorded twice.
 */
import { basename } from 'node:path'
import type { JsonObject } from '../../transcript/json.ts'
import { asString, isObject } from '../../transcript/json.ts'
import type { Session } from '../../transcript/session.ts'
import { record, type Recorder, type RecordOptions } from '../record.ts'
import { hasFlatContent } from '../../formats/claude-flat-content.ts'
import { foldClaude, type ClaudeFold } from '../../formats/claude-stream-fold.ts'
import type { StreamEnd } from '../../formats/stream-session.ts'
import { finish } from '../streams/stream.ts'
import { createKnown } from './agent-known.ts'
import { agentFiles, agentIdOf, type AgentFile, type TranscriptPaths } from './agent-paths.ts'
import { openTranscript, type TranscriptFile } from './agent-transcript.ts'
import { field, toPlain } from './foreign.ts'

export type AgentSession = {
  /** What is asked, before it is. */
  prompt(said: unknown): void
  /** A message of the SDK. */
  message(said: unknown): void
  /** What a hook was given: it names the transcripts, which are read. */
  hook(input: unknown): void
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
  /** Subagents' transcripts that hooks have named. */
  const named = new Map<string, AgentFile>()
  /** Transcripts whose lines are flat. */
  const flat = new Set<string>()
  let opened: { readonly recorder: Recorder; readonly fold: ClaudeFold } | undefined
  let sessionId: string | undefined
  let main: string | undefined
  /** A message has come. */
  let hasBegun = false
  let hasResult = false
  let ended: Promise<Session | undefined> | undefined
  /** Everything in order, and nothing of it in the agent's way. */
  let work: Promise<unknown> = Promise.resolve()
  const held: ((fold: ClaudeFold) => void)[] = []
  /** Prompts from before anything was said: they stand where the first message, or the transcript's own line of them, stands. */
  const prompts: JsonObject[] = []

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
  const take = (line: JsonObject, isFlat = false): void => {
    known.learn(line)
    const tell = (fold: ClaudeFold): void => (isFlat ? fold.takeFlat(line) : fold.take(line))
    if (opened === undefined) held.push(tell)
    else tell(opened.fold)
  }

  const sayPrompts = (): void => {
    for (const line of prompts.splice(0)) take(line)
  }

  const readFile = (path: string, parent: string | undefined): void => {
    const file = files.get(path) ?? openTranscript(path)
    files.set(path, file)
    file.read((line) => {
      if (!isNew(line, began)) return
      if (hasFlatContent(line)) flat.add(path)
      const isFlat = hasFlatContent(line) || (flat.has(path) && 'content' in line && !('message' in line))
      const said = parent === undefined ? line : { ...line, parent_tool_use_id: parent }
      if (parent === undefined && line['type'] === 'user') sayPrompts()
      for (const one of isFlat ? known.unsaidFlat(said) : known.unsaid(said)) take(one, isFlat)
    })
  }
  /** Those whose starter is known, which may name further ones, as long as there are any; at the end the others too. */
  const readAgents = (isLast: boolean): void => {
    const found = main === undefined ? [] : agentFiles(main)
    const own = found.filter((file) => !named.has(file.path) && (!file.isFlat || isOf(file, sessionId)))
    let waiting = [...named.values(), ...own]
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
    if (main === undefined && named.size === 0) return
    await open()
    if (main !== undefined) readFile(main, undefined)
    readAgents(isLast)
  }
  const checked = (path: unknown): string | undefined => {
    const found = paths.check(path)
    if (found !== undefined && 'problem' in found) failed('a transcript', new Error(found.problem))
    return found !== undefined && 'path' in found ? found.path : undefined
  }

  return {
    prompt(said) {
      const timestamp = new Date().toISOString()
      then('a prompt', () => {
        const line = typeof said === 'string' ? { message: { role: 'user', content: said } } : toPlain(said)
        if (!isObject(line)) return
        known.asked(line)
        prompts.push({ timestamp, ...line, type: 'user' })
        if (hasBegun) sayPrompts()
      })
    },
    message: (said) =>
      then('a message', async () => {
        const line = toPlain(said)
        if (!isObject(line)) return
        // What was asked has been recorded when it was.
        if (line['type'] === 'user' && line['isReplay'] === true) return
        sessionId ??= asString(line['session_id'])
        hasResult ||= line['type'] === 'result'
        if (sessionId !== undefined) await open()
        hasBegun = true
        sayPrompts()
        // A file may be faster than a pipe.
        if (!known.isSaid(line)) take(line)
      }),
    hook: (input) =>
      then('a transcript', async () => {
        sessionId ??= asId(field(input, 'session_id'))
        main = checked(field(input, 'transcript_path')) ?? main
        const own = checked(field(input, 'agent_transcript_path'))
        if (own !== undefined && own !== main)
          named.set(own, {
            path: own,
            agentId: agentIdOf(own) ?? asId(field(input, 'agent_id')) ?? basename(own, '.jsonl'),
            isFlat: false,
          })
        // Whose a subagent is may stand in a transcript that is not written yet: then it waits for the end.
        await readAll(false)
      }),
    end(how) {
      ended ??= (async () => {
        then('a transcript', () => readAll(true))
        let session: Session | undefined
        then('a session', async () => {
          const { recorder, fold } = await open()
          sayPrompts()
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
    ? asString(line['uuid']) !== undefined || 'sessionId' in line || hasFlatContent(line)
    : at >= began - SLACK_MS
}

/** Beside its session lie those of all sessions: its lines say whose it is. */
function isOf({ path }: AgentFile, sessionId: string | undefined): boolean {
  let isOwn = false
  openTranscript(path).read((line) => {
    isOwn ||= sessionId !== undefined && (line['sessionId'] ?? line['session_id']) === sessionId
  })
  return isOwn
}

/** An id that may stand in a source's name. */
function asId(id: unknown): string | undefined {
  return typeof id === 'string' && /^[\w.-]{1,128}$/.test(id) ? id : undefined
}
