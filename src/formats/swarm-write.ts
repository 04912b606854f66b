/**
 * Writes a session as one step of a run: the primary source as the step's agent, each subagent as another agent of the same
 * step, every one with its transcript and its receipt. An earlier execution of the step is set aside, never overwritten.
 */
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { isSafeId, uuidFrom } from '../transcript/ids.ts'
import { asObject, isObject, type JsonObject, toSpacedJson } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { FileOperation, WriteContext, Writing } from './format.ts'
import { createLane, type Lane } from './swarm-lane.ts'
import { toPaths, toStepNames, type StepNames } from './swarm-names.ts'

export function beginSwarm(session: Session, context: WriteContext): Writing {
  const names = toStepNames(session, context)
  // Refuses names that are too long before anything is on disk.
  toPaths(names)
  const lanes = new Map<string, Lane>()
  let hasEvents = false
  let counted = false

  const laneOf = (source: string, operations: FileOperation[]): Lane => {
    const known = lanes.get(source)
    if (known !== undefined) return known
    const isPrimary = source === PRIMARY
    const own = isPrimary ? names : { ...names, agentKey: toAgentKey(source, names) }
    const lane = createLane(
      {
        names: own,
        isPrimary,
        startedAt: isPrimary ? session.startedAt : undefined,
        isStub: session.stub === true,
      },
      context,
    )
    lanes.set(source, lane)
    operations.push(...lane.open())
    return lane
  }

  const appendEvent = (raw: JsonObject): FileOperation[] => {
    const path = `${names.run}/events.jsonl`
    const aside: FileOperation[] = hasEvents ? [] : [{ op: 'set-aside', path }]
    hasEvents = true
    return [...aside, { op: 'append', path, text: `${toSpacedJson(raw)}\n` }]
  }

  return {
    start: () => [],
    entry(entry) {
      const kept = keptRecord(entry)
      if (kept?.in === 'events') return appendEvent(kept.raw)
      const operations: FileOperation[] = []
      const lane = laneOf(entry.source, operations)
      if (kept?.in === 'receipts') {
        lane.state(kept.raw)
        return operations
      }
      counted ||= entry.usage !== undefined && entry.source !== PRIMARY
      return [...operations, ...lane.add(entry)]
    },
    end(ended) {
      const operations: FileOperation[] = []
      // A run's events are no step: they come without a transcript and without a receipt.
      if (!hasEvents) laneOf(PRIMARY, operations)
      for (const [source, lane] of lanes) {
        // Beside the receipts of subagents that count their own, the whole's would be counted twice.
        const isWhole = source === PRIMARY && !counted
        operations.push(...lane.close(ended, isWhole ? ended.reportedUsage : undefined))
      }
      return operations
    },
  }
}

/** A record of a file beside the transcript, as our reader keeps it. */
function keptRecord({
  metadata,
  blocks,
}: Entry): { readonly in: 'events' | 'receipts'; readonly raw: JsonObject } | undefined {
  const place = asObject(metadata?.['swarm'])?.['in']
  if (place !== 'events' && place !== 'receipts') return undefined
  const [block] = blocks
  return block?.type === 'unknown' && isObject(block.raw) ? { in: place, raw: block.raw } : undefined
}

/** A subagent's id where it is a safe name and not the step's own agent; else one made from it. */
function toAgentKey(source: string, { agentKey }: StepNames): string {
  const id = source.replace(/^subagent:/, '')
  const isFree = isSafeId(id) && id.length <= 64 && id !== agentKey
  return isFree ? id : `subagent-${uuidFrom('swarm', source).slice(0, 8)}`
}
