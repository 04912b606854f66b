/**
 * Google's Antigravity, read: the steps of its command line as JSON Lines. A step of the planner's is an answer with its calls; the steps
 * behind it are what these returned, paired by their order, for nothing names them.
 */
import { counted } from '../transcript/counted.ts'
import type { Block } from '../transcript/block.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asArray, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { vocabulary } from './drift.ts'
import { fileFormat, type FileReading } from './file-format.ts'
import type { Detection, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { isInstant, takes } from './left-over.ts'
import { PLACES } from './places.ts'
import type { Said } from './placing.ts'
import { tellLines } from './telling.ts'
import { unknownSaid } from './unknown.ts'
import { inside, withUnsaid } from './unsaid.ts'

export const antigravity = fileFormat({
  id: 'antigravity',
  title: "Google's Antigravity: steps of its command line",
  look: lookAtSteps,
  vocabulary: vocabulary({
    records: [
      'USER_INPUT:',
      'PLANNER_RESPONSE: thinking tool_calls',
      'CONVERSATION_HISTORY:',
      'CHECKPOINT:',
      'SYSTEM_MESSAGE:',
      'GENERIC:',
      'LIST_DIRECTORY:',
      'VIEW_FILE:',
      'RUN_COMMAND:',
      'CODE_ACTION:',
      'GREP_SEARCH:',
      'SEARCH_WEB:',
    ],
    common: 'step_index source type status created_at content truncated_fields',
  }),
  read: readSteps,
  places: PLACES.antigravity,
})

function lookAtSteps({ records }: Head): Detection | undefined {
  const steps = records.filter(
    (one) => typeof one['step_index'] === 'number' && typeof one['type'] === 'string' && 'source' in one,
  ).length
  if (steps === 0 || steps * 2 < records.length) return undefined
  return { confidence: 0.95, reason: `${counted(steps, 'step')} by their numbers` }
}

async function* readSteps(
  file: SourceFile,
  { open, watch }: FileReading,
): AsyncGenerator<readonly ReadItem[]> {
  const telling = open()
  let called = 0
  let returned = 0
  yield* tellLines(file, telling, (value, place) => {
    if (isObject(value)) watch?.record(asString(value['type']) ?? 'unknown', value)
    const first = called
    const said = fromStep(value, () => {
      called += 1
      return `call-${called}`
    })
    // What comes behind an answer belongs to its calls, in their order.
    if (called > first) returned = first
    const [block] = said.blocks
    if (said.role === 'tool' && block?.type === 'tool-result' && returned < called) {
      returned += 1
      telling.say({ ...said, blocks: [{ ...block, callId: `call-${returned}` }] }, place)
    } else telling.say(said, place)
  })
}

const TAKEN = takes({
  step_index: (value) => typeof value === 'number',
  source: inside('USER_EXPLICIT MODEL SYSTEM'),
  type: inside('USER_INPUT PLANNER_RESPONSE SYSTEM_MESSAGE'),
  status: inside('DONE'),
  created_at: isInstant,
  content: inside(''),
  thinking: inside(''),
  tool_calls: inside('name args'),
})

function fromStep(step: Json, callId: () => string): Said {
  if (!isObject(step)) return unknownSaid(step)
  const at = parseInstant(step['created_at'])
  const said = saidOf(step, callId)
  const when = at === undefined ? {} : { at }
  if (said === undefined) return { ...unknownSaid(step, asString(step['type'])), ...when }
  return withUnsaid({ ...said, ...when }, step, TAKEN)
}

function saidOf(step: JsonObject, callId: () => string): Said | undefined {
  const { type, source } = step
  const content = asString(step['content'])
  const text: readonly Block[] =
    content === undefined || content === '' ? [] : [{ type: 'text', text: content }]
  if (type === 'USER_INPUT') return { kind: 'message', role: 'user', blocks: text }
  if (type === 'SYSTEM_MESSAGE') return { kind: 'message', role: 'system', blocks: text }
  if (type === 'PLANNER_RESPONSE') {
    const thought = asString(step['thinking']) ?? ''
    const blocks: Block[] = [
      ...(thought === '' ? [] : [{ type: 'thinking', text: thought } satisfies Block]),
      ...text,
      ...(asArray(step['tool_calls']) ?? []).map((call) => fromCall(call, callId)),
    ]
    return { kind: 'message', role: 'assistant', blocks }
  }
  if (source !== 'MODEL' || content === undefined || typeof type !== 'string') return undefined
  const isError = step['status'] === 'ERROR'
  return {
    kind: 'message',
    role: 'tool',
    blocks: [{ type: 'tool-result', name: type.toLowerCase(), output: content, ...(isError && { isError }) }],
    metadata: { record: type },
  }
}

function fromCall(call: Json, callId: () => string): Block {
  const name = isObject(call) ? asString(call['name']) : undefined
  if (!isObject(call) || name === undefined) return { type: 'unknown', raw: call }
  const input = call['args']
  return { type: 'tool-call', callId: callId(), name, ...(input !== undefined && { input }) }
}
