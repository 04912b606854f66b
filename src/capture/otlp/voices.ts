/**
 * Who speaks in a session of spans: the main agent, and its subagents in sources of their own. Told by the agents that a span is the
 * work of, as far as they are known when it comes; else by the history that it repeats.
 */
import { createHash } from 'node:crypto'
import type { Block } from '../../transcript/block.ts'
import { PRIMARY, type Entry } from '../../transcript/entry.ts'
import { asString, toJson, type Json } from '../../transcript/json.ts'
import type { RequestMessage, WireRequest } from '../../wire/request.ts'
import { createKnownBlocks, type KnownBlocks } from '../calls/known-blocks.ts'

export type Voice = {
  /** The names of the subagents that lead to it; none for the main agent. */
  readonly path: readonly string[]
  readonly known: KnownBlocks
  /** What the agent is called. */
  name?: string
  /** Hashes of what it was last told to be, and given to work with. */
  system: string
  parameters: string
  /** The call that started it is known. */
  isLinked: boolean
}

export type Speaker = {
  /** One run of an agent: its span. Absent where nothing tells. */
  readonly key?: string
  readonly name?: string
  /** The run that started it; null for nobody; absent while that is not known. */
  readonly startedBy?: string | null
  /** What a subagent is called in the record: the id of a span. */
  readonly id: string
}

type Asked = Pick<WireRequest, 'messages' | 'system'>

export type Voices = {
  of(speaker: Speaker, request: Asked): Voice
  /** Where something of this speaker goes that is no call. */
  at(speaker: Speaker): Voice
  byKey(): Iterable<readonly [string, Voice]>
  /** How much of these messages only this session can have heard. */
  overlap(messages: readonly RequestMessage[]): number
  /** An entry that was recorded of it before. */
  recall(entry: Entry): void
}

/** Runs of agents in one session: the oldest are forgotten, and told apart by their history. */
const MOST_KEYS = 10_000

export function createVoices(): Voices {
  const voices: Voice[] = []
  const keys = new Map<string, Voice>()
  /** Of those that were recorded before. */
  const sources = new Map<string, Voice>()
  const begin = (path: readonly string[]): Voice => {
    const voice = { path, known: createKnownBlocks(), system: '', parameters: '', isLinked: false }
    voices.push(voice)
    return voice
  }
  const main = (): Voice => voices[0] ?? begin([])
  const goneOn = (messages: readonly RequestMessage[]): Voice | undefined => {
    let best: { readonly voice: Voice; readonly own: number } | undefined
    for (const voice of voices) {
      const { own } = voice.known.overlap(messages)
      if (own > (best?.own ?? 0)) best = { voice, own }
    }
    return best?.voice
  }
  const begun = ({ startedBy, id }: Speaker): Voice => {
    const starter = (typeof startedBy === 'string' ? keys.get(startedBy) : undefined) ?? main()
    return begin([...starter.path, id])
  }
  /** The same was asked of the same: it is tried again. */
  const asksAgain = ({ messages, system }: Asked): Voice | undefined => {
    const told = system === undefined ? '' : hashOf(system.blocks)
    return voices.find((voice) => voice.system === told && voice.known.overlap(messages).asked > 0)
  }
  const found = (speaker: Speaker, request: Asked): Voice => {
    const { key, startedBy, name } = speaker
    const { messages } = request
    const heard = goneOn(messages)
    if (heard !== undefined || voices.length === 0) return heard ?? main()
    if (typeof startedBy === 'string') return begun(speaker)
    const again = asksAgain(request)
    if (again !== undefined) return again
    // Without its words it cannot be told from the main agent but by its name; of the main agent's name, it is asked again.
    const namesake = voices.find((voice) => name !== undefined && voice.name === name)
    if (namesake !== undefined && (messages.length === 0 || namesake === main())) return namesake
    const isPlaced = key !== undefined || startedBy !== undefined
    const isOther = (messages.length > 0 && isPlaced) || (name !== undefined && main().name !== undefined)
    return isOther ? begun(speaker) : main()
  }
  const learn = (voice: Voice, { key, name }: Speaker): Voice => {
    if (name !== undefined) voice.name ??= name
    if (key === undefined) return voice
    keys.set(key, voice)
    if (keys.size > MOST_KEYS) keys.delete(keys.keys().next().value as string)
    return voice
  }
  return {
    of: (speaker, request) => keys.get(speaker.key ?? '') ?? learn(found(speaker, request), speaker),
    at: ({ key, startedBy }) => keys.get(key ?? '') ?? keys.get(startedBy ?? '') ?? main(),
    byKey: () => keys,
    overlap: (messages) => Math.max(0, ...voices.map(({ known }) => known.overlap(messages).own)),
    recall({ source, kind, role, blocks, metadata }) {
      const starter = sources.get(asString(metadata?.['parentSource']) ?? PRIMARY)
      const voice =
        sources.get(source) ??
        (source === PRIMARY ? main() : begin([...(starter ?? main()).path, source.replace(/^subagent:/, '')]))
      sources.set(source, voice)
      const [first] = blocks
      if (role === 'system') voice.system = hashOf(blocks)
      else if (kind === 'message' && role !== undefined) voice.known.add(role, blocks)
      else if (metadata?.['record'] === 'spawned') voice.isLinked = true
      else if (metadata?.['record'] === 'parameters' && first?.type === 'unknown')
        voice.parameters = hashOf(first.raw)
    },
  }
}

/** Whether it is another than before, which it then is no more. */
export function isNew(voice: Voice, what: 'system' | 'parameters', value: Json | readonly Block[]): boolean {
  const hash = hashOf(value)
  if (voice[what] === hash) return false
  voice[what] = hash
  return true
}

function hashOf(value: Json | readonly Block[]): string {
  return createHash('sha256').update(toJson(value)).digest('base64')
}
