/**
 * Which strings of Claude Code's lines are not read where only facts are asked for: what tools returned, what was thought, pictures.
 * What a tool was given stays as it is, for calls are compared by it, and so does all text that a person or the agent said.
 */
import { createCutter, STAND_IN, type Cutter } from '../transcript/cut-strings.ts'
import { isObject, type Json } from '../transcript/json.ts'
import { cutRecordsOf, readCutRecords, type Known, type Learning } from '../transcript/cut-records.ts'
import { createLineShapes } from '../transcript/line-shapes.ts'
import { createLineValues, type LineValues } from '../transcript/line-values.ts'
import { readRecords, type RecordBatch } from '../transcript/records.ts'
import type { ShortFile, SourceFile } from '../transcript/source.ts'
import { claudeCutCode } from './claude-cut-made.ts'
import type { ClaudePlan } from './claude-plans.ts'
import { createClaudeLearner } from './claude-shapes.ts'

/** What lines are cut by, and what was learnt of their shapes with it. */
type Knife = {
  readonly cutter: Cutter
  readonly learning: Learning<ClaudePlan>
  readonly values: LineValues
}

/** Those that nobody uses now; each is used for one file at a time. */
const free: Knife[] = []

function createKnife(): Knife | undefined {
  const cutter = createCutter(claudeCutCode())
  if (cutter === undefined) return undefined
  const shapes = createLineShapes<Known<ClaudePlan>>(cutter)
  return { cutter, learning: { shapes, learn: createClaudeLearner() }, values: createLineValues(cutter) }
}

/** As `readRecords`, with strings cut where that can be done. `onValues`: given first, what shaped records are asked by. */
export async function* readClaudeRecords(
  file: SourceFile,
  onValues: (values: LineValues) => void,
): AsyncGenerator<RecordBatch> {
  const knife = free.pop() ?? createKnife()
  if (knife === undefined) {
    yield* readRecords(file)
    return
  }
  const { cutter, learning, values } = knife
  onValues(values)
  try {
    yield* readCutRecords(file, cutter, learning)
  } finally {
    free.push(knife)
  }
}

/** In bytes, of files that are read at once: no line of these is one that others have to wait for. */
export const MOST_AT_ONCE = 2 * 1024 * 1024

export type RecordsAtOnce = {
  /** Undefined at the end. */
  readonly next: () => RecordBatch | undefined
  /** Once, when no more are asked for. */
  readonly leave: () => void
}

/** The same without promises, where that can be done. `name` is what damage calls the file. */
export function claudeRecordsAtOnce(
  name: string,
  file: ShortFile,
  onValues: (values: LineValues) => void,
): RecordsAtOnce | undefined {
  const knife = free.pop() ?? createKnife()
  if (knife === undefined) return undefined
  onValues(knife.values)
  return {
    next: cutRecordsOf(name, file, knife.cutter, knife.learning),
    leave: () => void free.push(knife),
  }
}

/**
 * True where a fact hangs on what was cut of a line: of one that is no message with a list of blocks, and of the results of calls
 * that are asked for.
 */
export function isCutTooShort(line: Json, isAskedFor: (call: Json | undefined) => boolean): boolean {
  if (!isObject(line)) return true
  const { type, message } = line
  if (!isObject(message) || (type !== 'assistant' && type !== 'user')) return true
  const { content } = message
  if (!Array.isArray(content)) return true
  for (const block of content as readonly Json[])
    if (isObject(block) && block['content'] === STAND_IN && isAskedFor(block['tool_use_id'])) return true
  return false
}
