/**
 * Which of Claude Code's lines are told by their shape where only facts are asked for: answers of the
 * model and results of tools, in words that are known, that say nothing unusual. All others are read as ever.
 */
import { isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { shapeOf, type Handling, type Rule, type ShapePart } from '../transcript/line-shapes.ts'
import { OURS } from './claude-lines.ts'
import { MOST_BLOCKS, planOf, type ClaudePlan } from './claude-plans.ts'
import { MARKS } from './claude-rest.ts'
import { VOCABULARY, watchLine } from './claude-vocabulary.ts'
import { createDriftWatch } from './drift.ts'

export type Learnt = { readonly parts: readonly ShapePart[]; readonly plan: ClaudePlan }

/** Lines that look ordinary and are not, at most, before no more are looked at; each that is learnt makes up for some. */
const MOST_IN_VAIN = 1000
const MADE_UP = 20

/** Learns from lines that the next ones may be like; undefined for all others. `line`: its bytes as Latin-1. */
export function createClaudeLearner(): (line: () => string, value: Json) => Learnt | undefined {
  let inVain = 0
  return (line, value) => {
    if (inVain > MOST_IN_VAIN || !isObject(value) || !isOrdinary(value)) return undefined
    const shape = shapeOf(line(), rule)
    const plan = shape && planOf(value, shape.places)
    inVain = plan === undefined ? inVain + 1 : Math.max(0, inVain - MADE_UP)
    return plan && { parts: shape.parts, plan }
  }
}

const UNUSUAL = [...OURS, ...MARKS, 'forkedFrom', 'isApiErrorMessage']

function isOrdinary(line: JsonObject): boolean {
  const { type, message } = line
  if ((type !== 'assistant' && type !== 'user') || !isObject(message)) return false
  const { content } = message
  if (!Array.isArray(content) || content.length === 0 || content.length > MOST_BLOCKS) return false
  return !UNUSUAL.some((name) => Object.hasOwn(line, name)) && !hasDrift(line)
}

let isDrifting = false
const watch = createDriftWatch(VOCABULARY, { drift: () => (isDrifting = true) })

function hasDrift(line: JsonObject): boolean {
  isDrifting = false
  if (watch !== undefined) watchLine(watch, line)
  return isDrifting
}

/** Words that stand for kinds of lines. */
const FIXED: ReadonlySet<string> = new Set([
  'type',
  'userType',
  'message.type',
  'message.role',
  'message.model',
  'message.stop_reason',
  'message.usage.service_tier',
  'message.usage.speed',
  'message.usage.inference_geo',
])
const FIXED_IN_BLOCK = /^message\.content\.\d+\.(?:type|name|content\.\d+\.type)$/
const WITHIN: ReadonlySet<string> = new Set([
  'message',
  'message.content',
  'message.usage',
  'message.usage.cache_creation',
  'message.usage.server_tool_use',
  'message.usage.output_tokens_details',
  'message.usage.iterations',
])
const WITHIN_BLOCKS = /^message\.content\.\d+(?:\.content(?:\.\d+)?|\.input(?:\.[^.]+){0,2})?$/
const GIVEN = /^message\.content\.\d+\.input\b/

const rule: Rule = (path, kind): Handling => {
  if (kind === 'string') {
    if (path === 'message.content') return 'refused'
    return FIXED.has(path) || FIXED_IN_BLOCK.test(path) ? 'fixed' : 'value'
  }
  if (kind === 'number') return 'value'
  // Lists of what tools are given are of any length; a call that took several samplings says what others do not.
  if (path.startsWith('message.usage.iterations.')) return 'refused'
  if (GIVEN.test(path)) return kind === 'object' && WITHIN_BLOCKS.test(path) ? 'within' : 'refused'
  if (path === 'toolUseResult') return kind === 'object' ? 'within' : 'value'
  return WITHIN.has(path) || WITHIN_BLOCKS.test(path) ? 'within' : 'value'
}
