/**
 * One session as its provider calls show it: the main agent and its subagents, each with a history of its own that requests repeat. A
 * request goes to the one whose history it goes on with; what nobody has said before begins another. Each adds only what is new.
 */
import { createHash, randomUUID } from 'node:crypto'
import type { Block } from '../../transcript/block.ts'
import { asObject, asString, toJson, type JsonObject } from '../../transcript/json.ts'
import type { WireRequest } from '../../wire/request.ts'
import type { Recorder } from '../record.ts'
import type { SourceRecorder } from '../recorder.ts'
import { createKnownBlocks, type KnownBlocks } from './known-blocks.ts'

export type Voice = {
  readonly recorder: SourceRecorder
  readonly known: KnownBlocks
  /** By which name the provider knows an answer: a request may go on with it without repeating it. */
  readonly answered: (messageId: string) => void
}

export type Conversation = {
  /** Records what is new in a request, and says whose it is. */
  ask(request: WireRequest, about: JsonObject): Voice
  /** How much of a request this conversation has heard before: nothing, where all of it may have been asked by anybody. */
  overlap(request: WireRequest, isRetry: boolean): number
}

type Heard = Voice & {
  /** Of a subagent: the call that began it. */
  readonly callId?: string
  /** What it was told to be, and given to work with, as last said. */
  system: string
  parameters: string
}

/** `isAgent`: the client is known to make calls of its own beside the conversation, for titles and the like, without tools. */
export function createConversation(session: Recorder, isAgent: boolean): Conversation {
  const voices: Heard[] = []
  const spawns = createSpawns()
  /** Who was given which answer. */
  const answers = new Map<string, Heard>()
  let main: Heard | undefined

  const begin = (request: WireRequest): Heard => {
    const spawn = spawns.find(request)
    const isMain = main === undefined && (!isAgent || request.parameters?.['tools'] !== undefined)
    // One that a subagent started is a level deeper, and recorded where that is asked for.
    const starter = voices.find(({ recorder }) => recorder.source === spawn?.source)?.recorder ?? session
    const recorder = isMain ? session : starter.subagent(spawn?.callId ?? randomUUID().slice(0, 8))
    const answered = (messageId: string): void => {
      answers.set(messageId, voice)
      if (answers.size > MOST_ANSWERS) answers.delete(answers.keys().next().value as string)
    }
    const voice: Heard = {
      recorder,
      known: createKnownBlocks(),
      answered,
      system: '',
      parameters: '',
      ...(spawn && { callId: spawn.callId }),
    }
    voices.push(voice)
    if (isMain) main = voice
    if (spawn !== undefined) recorder.event('spawned', { callId: spawn.callId, source: spawn.source })
    return voice
  }

  const voiceOf = (request: WireRequest): Heard => {
    const goneOn = answers.get(previousOf(request) ?? '')
    if (goneOn !== undefined) return goneOn
    const spawn = spawns.find(request)
    let best: { readonly voice: Heard; readonly overlap: number } | undefined
    for (const voice of voices) {
      const { own, asked } = voice.known.overlap(request.messages)
      // Agents remind their subagents of what they were told themselves: that makes them no one.
      if (own === 0 && spawn !== undefined && voice.callId !== spawn.callId) continue
      const overlap = own * OWN + asked
      if (overlap > (best?.overlap ?? 0)) best = { voice, overlap }
    }
    if (best !== undefined) return best.voice
    // After a compaction nothing of the history is left, but who speaks is told the same as before.
    if (main !== undefined && spawn === undefined && main.system === systemOf(request)) {
      main.recorder.event('history-replaced', { messages: request.messages.length })
      return main
    }
    return begin(request)
  }

  return {
    ask(request, about) {
      const voice = voiceOf(request)
      const { recorder, known } = voice
      // A request that goes on with an answer may leave the system prompt out: it is still the one before.
      const system = request.system === undefined ? voice.system : systemOf(request)
      if (system !== voice.system && request.system !== undefined) recorder.system(request.system.blocks)
      voice.system = system
      const rest = withoutPassing(request.parameters ?? {})
      const parameters = hashOf(toJson(rest))
      if (parameters !== voice.parameters && Object.keys(rest).length > 0) recorder.event('parameters', rest)
      voice.parameters = parameters
      const strange = request.unknown.map((raw) => ({
        role: 'user' as const,
        blocks: [{ type: 'unknown' as const, raw }],
      }))
      for (const { message, blocks } of known.take([...request.messages, ...strange]))
        recorder.message(message.role, blocks)
      recorder.event('call-started', about)
      return {
        recorder,
        answered: voice.answered,
        known: {
          ...known,
          add(role, blocks) {
            known.add(role, blocks)
            spawns.learn(recorder.source, blocks)
          },
        },
      }
    },
    overlap(request, isRetry) {
      if (answers.has(previousOf(request) ?? '')) return Number.POSITIVE_INFINITY
      const all = voices.map(({ known }) => known.overlap(request.messages))
      return Math.max(0, ...all.map(({ own, asked }) => own * OWN + (isRetry ? asked : 0)))
    },
  }
}

/** One answer that was heard says more than any number of questions. */
const OWN = 1000

/** Of a session that goes on for weeks, the oldest are forgotten: nobody goes on with them. */
const MOST_ANSWERS = 10_000

/** What changes with every call and says nothing of what was asked. */
const PASSING: ReadonlySet<string> = new Set([
  'metadata',
  'client_metadata',
  'prompt_cache_key',
  'previous_response_id',
  'thread',
])

/** Where the provider keeps the history, a request names the answer that it goes on with. */
function previousOf({ parameters }: WireRequest): string | undefined {
  const thread = asObject(parameters?.['thread'])
  return asString(parameters?.['previous_response_id']) ?? asString(thread?.['previous_message_id'])
}

function withoutPassing(parameters: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !PASSING.has(name)))
}

type Spawn = { readonly callId: string; readonly source: string }

/** Calls whose input holds a prompt: the one that a subagent begins with. */
function createSpawns(): {
  learn(source: string, blocks: readonly Block[]): void
  find(request: WireRequest): Spawn | undefined
} {
  const prompts = new Map<string, Spawn>()
  return {
    learn(source, blocks) {
      for (const block of blocks) {
        if (block.type !== 'tool-call' || block.callId === undefined) continue
        const input = block.input
        const prompt =
          typeof input === 'object' && input !== null && 'prompt' in input ? input['prompt'] : undefined
        if (typeof prompt !== 'string' || prompt === '') continue
        prompts.set(prompt.trim(), { callId: block.callId, source })
        if (prompts.size > MOST_PROMPTS) prompts.delete(prompts.keys().next().value as string)
      }
    },
    find({ messages }) {
      const [first] = messages.filter(({ role }) => role === 'user')
      for (const block of first?.blocks ?? []) {
        if (block.type !== 'text' || typeof block.text !== 'string') continue
        const spawn = prompts.get(block.text.trim())
        if (spawn !== undefined) return spawn
      }
      return undefined
    },
  }
}

const MOST_PROMPTS = 1000

/** Without its short parts, which name versions and dates. */
function systemOf({ system }: WireRequest): string {
  const long = (system?.blocks ?? []).filter(
    (block) => block.type !== 'text' || typeof block.text !== 'string' || block.text.length > 200,
  )
  return hashOf(toJson(long.length > 0 ? long : (system?.blocks ?? [])))
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
