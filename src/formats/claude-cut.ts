/**
 * Which strings of Claude Code's lines are not read where only facts are asked for: what tools returned, what was thought, pictures.
 * What a tool was given stays as it is, for calls are compared by it, and so does all text that a person or the agent said.
 */
import { createCutter, STAND_IN, type Cutter } from '../transcript/cut-strings.ts'
import { isObject, type Json } from '../transcript/json.ts'
import { readCutRecords } from '../transcript/cut-records.ts'
import { readRecords, type RecordBatch } from '../transcript/records.ts'
import type { SourceFile } from '../transcript/source.ts'

const KEYS = [
  'content',
  'stdout',
  'stderr',
  'thinking',
  'signature',
  'data',
  'base64',
  'originalFile',
  'oldString',
  'newString',
  'toolUseResult',
  'result',
  'output',
]
/** In bytes: cutting a shorter one takes as long as reading it. */
const LONGEST = 256

/** Those that nobody uses now; each is used for one file at a time. */
const free: Cutter[] = []

/** As `readRecords`, with strings cut where that can be done. */
export async function* readClaudeRecords(file: SourceFile): AsyncGenerator<RecordBatch> {
  const cutter = free.pop() ?? createCutter({ keys: KEYS, whole: 'input', longest: LONGEST })
  if (cutter === undefined) {
    yield* readRecords(file)
    return
  }
  try {
    yield* readCutRecords(file, cutter)
  } finally {
    free.push(cutter)
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
