/**
 * What Harbor's RFC 0001 asks of an ATIF v1.7 trajectory, as rules of our own: its fields and no others, their types, steps that count from one,
 * fields that only an agent's step has, results that name a call of their step, and subagents' trajectories with ids of their own.
 */
import { asArray, asObject, isObject, toJson, type Json, type JsonObject } from '../src/transcript/json.ts'

type Check = (isRight: boolean, what: string) => void
type Test = (value: Json) => boolean

/** Every rule of the schema that something breaks, in words. */
export function atifProblems(document: Json): string[] {
  const found: string[] = []
  checkTrajectory(document, (isRight, what) => void (isRight || found.push(what)))
  return found
}

const text: Test = (value) => typeof value === 'string'
const object: Test = (value) => isObject(value)
const flag: Test = (value) => typeof value === 'boolean'
const count: Test = (value) => Number.isInteger(value) && (value as number) >= 0
const amount: Test = (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0
const listOf =
  (test: Test): Test =>
  (value) =>
    Array.isArray(value) && (value as readonly Json[]).every(test)

type Fields = { readonly [name: string]: readonly ['required' | 'optional', Test] }

const TRAJECTORY: Fields = {
  schema_version: ['required', (value) => value === 'ATIF-v1.7'],
  session_id: ['optional', text],
  trajectory_id: ['optional', text],
  agent: ['required', object],
  steps: ['required', (value) => Array.isArray(value) && value.length > 0],
  notes: ['optional', text],
  final_metrics: ['optional', object],
  continued_trajectory_ref: ['optional', text],
  subagent_trajectories: ['optional', listOf(object)],
  extra: ['optional', object],
}
const AGENT: Fields = {
  name: ['required', text],
  version: ['required', text],
  model_name: ['optional', text],
  tool_definitions: ['optional', listOf(object)],
  extra: ['optional', object],
}
const STEP: Fields = {
  step_id: ['required', (value) => Number.isInteger(value) && (value as number) >= 1],
  timestamp: [
    'optional',
    (value) => typeof value === 'string' && ISO.test(value) && !Number.isNaN(Date.parse(value)),
  ],
  source: ['required', (value) => ['system', 'user', 'agent'].includes(value as string)],
  model_name: ['optional', text],
  reasoning_effort: ['optional', (value) => typeof value === 'string' || typeof value === 'number'],
  message: ['required', (value) => isContent(value)],
  reasoning_content: ['optional', text],
  tool_calls: ['optional', listOf(object)],
  observation: ['optional', object],
  metrics: ['optional', object],
  is_copied_context: ['optional', flag],
  llm_call_count: ['optional', count],
  extra: ['optional', object],
}
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/
const CALL: Fields = {
  tool_call_id: ['required', text],
  function_name: ['required', text],
  arguments: ['required', object],
  extra: ['optional', object],
}
const RESULT: Fields = {
  source_call_id: ['optional', (value) => value === null || typeof value === 'string'],
  content: ['optional', (value) => value === null || isContent(value)],
  subagent_trajectory_ref: ['optional', listOf(object)],
  extra: ['optional', object],
}
const METRICS: Fields = {
  prompt_tokens: ['optional', count],
  completion_tokens: ['optional', count],
  cached_tokens: ['optional', count],
  cost_usd: ['optional', amount],
  logprobs: ['optional', listOf((value) => typeof value === 'number')],
  prompt_token_ids: ['optional', listOf(count)],
  completion_token_ids: ['optional', listOf(count)],
  extra: ['optional', object],
}
const FINAL: Fields = {
  total_prompt_tokens: ['optional', count],
  total_completion_tokens: ['optional', count],
  total_cached_tokens: ['optional', count],
  total_cost_usd: ['optional', amount],
  total_steps: ['optional', count],
  extra: ['optional', object],
}
const AGENTS_OWN = ['model_name', 'reasoning_effort', 'reasoning_content', 'tool_calls', 'metrics']
/** What a step of no model's cannot have. */
const MODELS_OWN = ['model_name', 'reasoning_effort', 'reasoning_content', 'metrics']

function checkTrajectory(value: Json | undefined, check: Check): void {
  const trajectory = checkFields(value, 'trajectory', TRAJECTORY, check)
  checkFields(trajectory['agent'], 'agent', AGENT, check)
  const steps = asArray(trajectory['steps']) ?? []
  for (const [index, step] of steps.entries()) checkStep(step, index + 1, check)
  if (trajectory['final_metrics'] !== undefined) {
    const { total_steps: total } = checkFields(trajectory['final_metrics'], 'final_metrics', FINAL, check)
    check(total === undefined || total === steps.length, 'total_steps')
  }
  const ids = new Set<Json>()
  for (const one of asArray(trajectory['subagent_trajectories']) ?? []) {
    const id = asObject(one)?.['trajectory_id']
    check(typeof id === 'string' && !ids.has(id), 'a subagent without an id of its own')
    ids.add(id ?? null)
    checkTrajectory(one, check)
  }
}

function checkStep(value: Json, number: number, check: Check): void {
  const step = checkFields(value, 'step', STEP, check)
  check(step['step_id'] === number, `step ${number} is called ${toJson(step['step_id'] ?? null)}`)
  const forbidden = step['source'] !== 'agent' ? AGENTS_OWN : step['llm_call_count'] === 0 ? MODELS_OWN : []
  for (const key of forbidden) check(step[key] === undefined, `${key} where it cannot be`)
  const calls = (asArray(step['tool_calls']) ?? []).map((call) => checkFields(call, 'tool_call', CALL, check))
  const ids = new Set(calls.map((call) => call['tool_call_id']))
  if (step['metrics'] !== undefined) checkFields(step['metrics'], 'metrics', METRICS, check)
  if (step['observation'] === undefined) return
  const { results } = checkFields(
    step['observation'],
    'observation',
    { results: ['required', listOf(object)] },
    check,
  )
  for (const result of asArray(results) ?? []) {
    const { source_call_id: of, subagent_trajectory_ref: refs } = checkFields(result, 'result', RESULT, check)
    check(of === undefined || of === null || ids.has(of), 'a result of no call')
    for (const ref of (asArray(refs) ?? []).filter(isObject))
      check(
        typeof ref['trajectory_id'] === 'string' || typeof ref['trajectory_path'] === 'string',
        'a reference to nothing',
      )
  }
}

/** Text, or parts that are one of two kinds, each with its own field and no other. */
function isContent(value: Json): boolean {
  if (typeof value === 'string') return true
  return Array.isArray(value) && (value as readonly Json[]).every(isPart)
}

function isPart(part: Json): boolean {
  if (!isObject(part)) return false
  const keys = Object.keys(part).sort().join(' ')
  if (part['type'] === 'text') return keys === 'text type' && typeof part['text'] === 'string'
  const { media_type: media, path, ...more } = asObject(part['source']) ?? {}
  const isImage = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].includes(media as string)
  return (
    part['type'] === 'image' &&
    keys === 'source type' &&
    isImage &&
    typeof path === 'string' &&
    Object.keys(more).length === 0
  )
}

function checkFields(value: Json | undefined, what: string, fields: Fields, check: Check): JsonObject {
  check(isObject(value), `${what} is no object`)
  const held = asObject(value) ?? {}
  for (const key of Object.keys(held)) check(Object.hasOwn(fields, key), `${what}.${key} is no field`)
  for (const [key, [need, test]] of Object.entries(fields)) {
    const one = held[key]
    if (one === undefined) check(need === 'optional', `${what} without ${key}`)
    else check(test(one), `${what}.${key}`)
  }
  return held
}
