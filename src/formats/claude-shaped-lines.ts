/**
 * Takes lines of a known shape into a reading for facts, and says of which it cannot: those are read as any other. An answer is told of to
 * who looks for errors behind it only when a line is read, for most are followed by another of a known shape.
 */
import { heldId } from '../transcript/held-text.ts'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import type { ShapedRecord } from '../transcript/cut-records.ts'
import type { LineValues } from '../transcript/line-values.ts'
import type { DefaultName, FactsFold } from './claude-facts.ts'
import type { LineEntry } from './claude-lines.ts'
import { fromShape } from './claude-shaped.ts'
import type { ClaudePlan } from './claude-plans.ts'
import type { Spawns } from './claude-spawns.ts'
import type { ReadItem } from './format.ts'
import type { IdSet } from './id-set.ts'

export type ShapedLines = {
  /** Given before the first record of a file. */
  readonly asksBy: (values: LineValues) => void
  /** Which session a line of a known shape says that it is of. */
  sessionOf(record: ShapedRecord<ClaudePlan>): string | undefined
  /** A line was read, and this is its source: the first entry of each tells who started it. */
  begun(source: string): void
  /** False where the line has to be read. */
  take(record: ShapedRecord<ClaudePlan>, fileSource: string | undefined, items: ReadItem[]): boolean
  /** Before anything is read that may follow on the last answer, and before its line is gone. */
  settle(): void
}

/** What a reading has of a session so far. */
export type Reading = {
  readonly facts: FactsFold
  readonly spawns: Spawns
  readonly seen: IdSet
  readonly nextSequence: (source: string) => number
  readonly cuts: (line: JsonObject, said: LineEntry) => unknown
}

export function createShapedLines({ facts, spawns, seen, nextSequence, cuts }: Reading): ShapedLines {
  let values: LineValues | undefined
  let answered: { readonly entry: Entry; readonly uuid: number; readonly valuesAt: number } | undefined
  let last: string | undefined
  return {
    asksBy(own) {
      values = own
    },
    sessionOf({ plan, valuesAt }) {
      const place = plan.defaults.get('sessionId')
      if (values === undefined || place === undefined) return undefined
      values.of(valuesAt)
      return values.text(place)
    },
    begun(source) {
      last = source
    },
    take({ plan, valuesAt }, fileSource, items) {
      const own = values
      if (own === undefined) return false
      own.of(valuesAt)
      const isSaid = (name: DefaultName): boolean => {
        const place = plan.defaults.get(name)
        return place !== undefined && !own.isEmpty(place)
      }
      if (own.isEmpty(plan.uuid)) return false
      const isFirst = !facts.isSettled(isSaid)
      const agent = plan.agent === undefined ? undefined : own.text(plan.agent)
      if (agent === '') return false
      const source = agent === undefined ? (fileSource ?? PRIMARY) : `subagent:${heldId(agent)}`
      if (source !== PRIMARY && source !== last) return false
      const entry = fromShape(plan, own)
      if (entry === undefined) return false
      // What starts a subagent may name it.
      for (const block of entry.blocks)
        if (block.type === 'tool-result' && spawns.isCalled(block.callId)) return false
      if (!seen.takeHash(own.hash(plan.uuid))) return false
      if (isFirst) facts.observe(saidBy(plan, own))
      if (entry.at !== undefined) facts.observeTime(entry.at)
      if (entry.model !== undefined) facts.observeModel(entry.model, source)
      entry.source = source
      entry.sequence = nextSequence(source)
      items.push({ type: 'entry', entry })
      if (plan.answer !== undefined) answered = { entry, uuid: plan.uuid, valuesAt }
      return true
    },
    settle() {
      if (answered === undefined || values === undefined) return
      const { entry, uuid, valuesAt } = answered
      values.of(valuesAt)
      cuts({ uuid: values.text(uuid) }, entry)
      answered = undefined
    },
  }
}

/** What a line says for its session, as the one that it was learnt from did. */
function saidBy({ said, uuid, defaults }: ClaudePlan, values: LineValues): JsonObject {
  const own: Record<string, Json> = { ...said, uuid: values.text(uuid) }
  for (const [name, place] of defaults) own[name] = values.text(place)
  return own
}
