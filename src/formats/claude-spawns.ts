/**
 * Which tool call started which subagent. Claude Code says it in three ways: the call's result names the agent, progress lines
 * name both, and where neither is there the subagent's first prompt is the call's own.
 */
import { textOf, type Block } from '../transcript/block.ts'
import { PRIMARY } from '../transcript/entry.ts'
import { heldId, ownCopy } from '../transcript/held-text.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { agentOf } from './claude-rest.ts'

export type Spawn = { readonly callId: string; readonly source: string }

export type Spawns = {
  /** Calls and results of any source, as they pass. */
  observe(line: JsonObject, blocks: readonly Block[], source: string): void
  /** The call that started a source, told by its first entry. */
  find(source: string, blocks: readonly Block[]): Spawn | undefined
  /** The agents that lines named, each once, in the order they did. */
  readonly named: readonly string[]
  /** True for a call that starts an agent, whose result may name it. */
  readonly isCalled: (callId: Json | undefined) => boolean
}

/** A hostile file may start any number of them. */
const MOST = 100_000
/** The tools that start subagents. */
export const SPAWNING: ReadonlySet<string> = new Set(['Task', 'Agent'])
const NAMED = /\bagent_?[iI]d: ?([\w@.:-]{1,200})/
/** Characters of a result. */
const LOOKED_AT = 4000

/** Calls with one prompt, of which those before `next` have their agents. */
type Waiting = { readonly calls: Spawn[]; next: number }

export function createSpawns(): Spawns {
  const byAgent = new Map<string, Spawn>()
  const named: string[] = []
  /** By a hash of the prompt; calls with one prompt are taken in their order. */
  const byPrompt = new Map<string, Waiting>()
  /** Calls whose agents were named: they wait for none. Not looked for among those that wait, which may be all of them. */
  const answered = new Set<string>()
  /** Calls of the tools that start agents. */
  const called = new Set<string>()

  const name = (said: string | undefined, spawn: Spawn): void => {
    if (said === undefined || said === '') return
    const agent = heldId(said)
    if (called.has(spawn.callId)) answered.add(spawn.callId)
    if (byAgent.size >= MOST || byAgent.has(agent)) return
    byAgent.set(agent, spawn)
    named.push(agent)
  }
  const call = (prompt: string, spawn: Spawn): void => {
    // A call in a line that was copied starts no second agent.
    if (called.size >= MOST || called.has(spawn.callId)) return
    called.add(spawn.callId)
    const key = uuidFrom(prompt.trim())
    const waiting = byPrompt.get(key)
    if (waiting !== undefined) waiting.calls.push(spawn)
    else byPrompt.set(key, { calls: [spawn], next: 0 })
  }
  const takeNext = (waiting: Waiting): Spawn | undefined => {
    for (let call = waiting.calls[waiting.next]; call !== undefined; call = waiting.calls[waiting.next]) {
      waiting.next += 1
      if (!answered.has(call.callId)) return call
    }
    return undefined
  }
  /** Of a teammate the result says it in words alone. */
  const nameInText = (blocks: readonly Block[], source: string): void => {
    for (const block of blocks) {
      if (block.type !== 'tool-result' || block.callId === undefined) continue
      const callId = heldId(block.callId)
      if (!called.has(callId)) continue
      const { output } = block
      const text = typeof output === 'string' ? output : Array.isArray(output) ? textOf(output) : ''
      const agent = NAMED.exec(text.slice(0, LOOKED_AT))?.[1]
      name(agent === undefined ? undefined : ownCopy(agent), { callId, source })
    }
  }

  return {
    observe(line, blocks, source) {
      const { toolUseResult, type } = line
      if (type === 'assistant') {
        for (const block of blocks) {
          if (block.type !== 'tool-call' || !SPAWNING.has(block.name) || block.callId === undefined) continue
          const prompt = asString(asObject(block.input)?.['prompt'])
          if (prompt !== undefined) call(prompt, { callId: heldId(block.callId), source })
        }
      } else if (isObject(toolUseResult) && toolUseResult['agentId'] !== undefined) {
        const result = blocks.find((block) => block.type === 'tool-result')
        if (result?.callId !== undefined) {
          name(asString(toolUseResult['agentId']), { callId: heldId(result.callId), source })
        }
      } else if (type === 'user') nameInText(blocks, source)
      else if (type === 'progress') {
        const callId = asString(line['parentToolUseID'])
        if (callId !== undefined)
          name(asString(asObject(line['data'])?.['agentId']), { callId: heldId(callId), source })
      }
    },
    find(source, blocks) {
      const agent = source.slice('subagent:'.length)
      const known = byAgent.get(agent)
      if (known !== undefined) {
        // Where it was named before it was called.
        if (called.has(known.callId)) answered.add(known.callId)
        return known
      }
      const prompt = unwrapped(textOf(blocks))
      const waiting = prompt === '' ? undefined : byPrompt.get(uuidFrom(prompt))
      return waiting && takeNext(waiting)
    },
    named,
    isCalled: (callId) => called.size > 0 && typeof callId === 'string' && called.has(heldId(callId)),
  }
}

/** What a teammate is told stands in an envelope that names who says it. */
function unwrapped(prompt: string): string {
  const text = prompt.trim()
  const [open, close] = ['<teammate-message', '</teammate-message>']
  if (!text.startsWith(open) || !text.endsWith(close)) return text
  return text.slice(text.indexOf('>') + 1, -close.length).trim()
}

/**
 * Subagents say their id (`agentId`) in newer versions. In older ones they stand between the main agent's lines, marked
 * `isSidechain` and no more: each is then named by the line that its chain of parents begins with.
 */
export function sourceOf(
  line: JsonObject,
  fileSource: string | undefined,
  sidechains: Map<string, string>,
): string {
  if (line['isSidechain'] !== true) return fileSource ?? PRIMARY
  const agent = agentOf(line)
  if (agent !== undefined) return `subagent:${agent}`
  const { uuid, parentUuid } = line
  if (fileSource !== undefined) return fileSource
  const above = typeof parentUuid === 'string' ? sidechains.get(parentUuid) : undefined
  const own = typeof uuid === 'string' ? uuid : undefined
  const source = above ?? `subagent:sidechain-${own ?? 'unnamed'}`
  if (own !== undefined) sidechains.set(own, source)
  // A line hangs off one that is near: the oldest are forgotten, or memory would grow with the file.
  const [oldest] = sidechains.size > MOST ? sidechains.keys() : []
  if (oldest !== undefined) sidechains.delete(oldest)
  return source
}
