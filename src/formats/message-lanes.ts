/**
 * Sessions written as lists of messages: one file for the main agent and one for each subagent, each a single line that grows by a message at
 * a time, so that no session is too long to be written. What a list has no place for is reported as it is left out.
 */
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { isSafeId, uuidFrom } from '../transcript/ids.ts'
import { toJson, type Json } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { createPairing, type Pairing } from '../transcript/tools.ts'
import type { Block, ToolResultBlock } from '../transcript/block.ts'
import type { FileOperation, WriteContext, Writer } from './format.ts'
import { loseFacts, loseSession } from './lost-facts.ts'
import { checkFree } from './written-lines.ts'

export type Lane = {
  /** What stands before the first message: asked for once, when there is one. */
  head(): string
  /** The messages that can be written now. */
  entry(entry: Entry): readonly Json[]
  /** Those that still waited for something. */
  end(): readonly Json[]
  /** True when the head alone says something. */
  readonly hasHead?: () => boolean
}

export type LaneOptions = {
  readonly context: WriteContext
  readonly ids: CallIds
}

export type MessageLanes = {
  readonly root: string
  readonly extension: string
  /** What stands behind the last message. */
  readonly close: string
  readonly lane: (options: LaneOptions) => Lane
}

export function messageWriter({ root, extension, close, lane: createLane }: MessageLanes): Writer {
  return {
    root,
    ignored: () => '.',
    begin(session, context) {
      const lanes = new Map<string, { readonly path: string; readonly lane: Lane; isOpen: boolean }>()
      const laneOf = (source: string) => {
        const known = lanes.get(source)
        if (known !== undefined) return known
        const path = checkFree(toPath(session, source, extension), context)
        const made = { path, lane: createLane({ context, ids: createCallIds() }), isOpen: false }
        lanes.set(source, made)
        return made
      }
      const append = (to: ReturnType<typeof laneOf>, messages: readonly Json[]): FileOperation[] => {
        if (messages.length === 0) return []
        const text = messages.map((message) => toJson(message)).join(',')
        const before = to.isOpen ? ',' : to.lane.head()
        to.isOpen = true
        return [{ op: 'append', path: to.path, text: `${before}${text}` }]
      }
      return {
        start: () => [],
        entry(entry) {
          const to = laneOf(entry.source)
          return append(to, to.lane.entry(entry))
        },
        end(ended) {
          const last = [...lanes.values()].flatMap((to) => append(to, to.lane.end()))
          const written = [...lanes.values()].filter(
            ({ isOpen, lane }) => isOpen || lane.hasHead?.() === true,
          )
          if (written.length === 0) {
            loseSession('nothing in it is a message', context)
            return []
          }
          // The messages are all there is of a session: the file's name is its own.
          loseFacts(ended, { status: 'completed' }, context)
          return [
            ...last,
            ...written.map(
              ({ path, isOpen, lane }) =>
                ({ op: 'append', path, text: isOpen ? close : `${lane.head()}${close}` }) as const,
            ),
          ]
        },
      }
    },
  }
}

/** `<session>.jsonl`; a subagent's has a name that is made of its own. */
function toPath({ id }: Session, source: string, extension: string): string {
  const name = isSafeId(id) ? id : uuidFrom(id)
  return source === PRIMARY ? `${name}.${extension}` : `${name}.${uuidFrom(source).slice(0, 8)}.${extension}`
}

/** Every call and result has an id, made where there was none, and told. */
export type CallIds = {
  fill(block: Block, entry: Entry, context: WriteContext): Block
  /** The name of the tool that a result answers, by its call. */
  readonly toolOf: (result: ToolResultBlock) => string | undefined
}

/** Results whose call's name may be asked for. */
const MOST_ANSWERED = 1000

function createCallIds(): CallIds {
  const pairing: Pairing<string> = createPairing()
  const tools = new Map<string, string>()
  let made = 0
  const make = (entry: Entry, context: WriteContext): string => {
    made += 1
    context.filled(entry, 'tool call id')
    return `call_${made}`
  }
  return {
    fill(block, entry, context) {
      if (block.type === 'tool-call') {
        const callId = block.callId ?? make(entry, context)
        pairing.open(entry.source, block, callId)
        tools.set(callId, block.name)
        if (tools.size > MOST_ANSWERED) tools.delete(tools.keys().next().value as string)
        return { ...block, callId }
      }
      if (block.type !== 'tool-result') return block
      const answered = pairing.answer(entry.source, block)
      return { ...block, callId: block.callId ?? answered?.value ?? make(entry, context) }
    },
    toolOf: ({ callId }) => (callId === undefined ? undefined : tools.get(callId)),
  }
}
