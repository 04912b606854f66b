/**
 * ATIF, the Agent Trajectory Interchange Format (v1.0 to v1.7 and what calls itself later), read and written: one document around `steps`.
 * Trajectories of subagents that it holds are sources of the same session.
 */
import { uuidFrom } from '../transcript/ids.ts'
import {
  asArray,
  asCount,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { hasCounts } from '../transcript/usage.ts'
import { fromStep, usageOf } from './atif-step.ts'
import { atifWriter } from './atif-write.ts'
import { costOf, toDollars } from './dollars.ts'
import { vocabulary, type DriftWatch } from './drift.ts'
import { documentOf, fileFormat, type FileReading } from './file-format.ts'
import type { Detection, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { OWN, sessionOf, withFacts } from './own-facts.ts'
import { asId, type Place } from './placing.ts'
import { tellList, type Facts, type Telling } from './telling.ts'
import { unknownSaid } from './unknown.ts'

export const ATIF = 'atif'

export const atif = fileFormat({
  id: ATIF,
  write: atifWriter,
  title: 'ATIF: trajectory.json of Harbor and others',
  look: lookAtAtif,
  vocabulary: vocabulary({
    records: [
      `trajectory: schema_version session_id trajectory_id agent steps notes final_metrics continued_trajectory_ref subagent_trajectories
       extra`,
      'agent: name version model_name tool_definitions extra',
      `step: step_id timestamp source model_name reasoning_effort message reasoning_content tool_calls observation metrics is_copied_context
       llm_call_count extra`,
      'metrics: prompt_tokens completion_tokens cached_tokens cost_usd logprobs prompt_token_ids completion_token_ids extra',
    ],
  }),
  read: readAtif,
})

function lookAtAtif(head: Head): Detection | undefined {
  const document = documentOf(head)
  if (!isObject(document)) return undefined
  const { schema_version: version, steps, agent } = document
  if (typeof version !== 'string') return undefined
  if (version.startsWith('ATIF-')) return { confidence: 0.98, reason: `it says ${version.slice(0, 20)}` }
  const isSteps = (asArray(steps) ?? []).some(
    (step) => isObject(step) && 'step_id' in step && 'source' in step,
  )
  return isSteps && isObject(agent)
    ? { confidence: 0.85, reason: "steps of an agent's trajectory" }
    : undefined
}

async function* readAtif(
  file: SourceFile,
  { open, watch }: FileReading,
): AsyncGenerator<readonly ReadItem[]> {
  const telling = open()
  let model: string | undefined
  let within: Json | undefined
  let around: Place | undefined
  let own: JsonObject | undefined
  yield* tellList(file, 'steps', telling, {
    header(members, place) {
      const { subagent_trajectories: subagents, ...others } = members
      watch?.record('trajectory', members)
      if (isObject(members['agent'])) watch?.record('agent', members['agent'])
      telling.know(factsOf(members))
      own = asObject(asObject(members['extra'])?.[OWN])
      if (own === undefined) telling.say(unknownSaid(others, 'trajectory'), place)
      else {
        telling.know(sessionOf(own['session']))
        telling.begin()
      }
      model = asString(asObject(members['agent'])?.['model_name'])
      within = subagents
      around = place
    },
    element: (value, place) => tellStep(value, place, { telling, watch, model }),
    end() {
      if (around === undefined) return
      tellRest(own, around, telling)
      tellSubagents(within, around, telling, watch)
    },
  })
}

type Steps = {
  readonly telling: Telling
  readonly watch: DriftWatch | undefined
  readonly model: string | undefined
  readonly source?: string
}

function tellStep(value: Json, place: Place, { telling, watch, model, source }: Steps): void {
  const metrics = isObject(value) ? asObject(value['metrics']) : undefined
  if (isObject(value)) watch?.record('step', value)
  if (metrics !== undefined) watch?.record('metrics', metrics)
  if (isObject(value) && value['is_copied_context'] !== true) telling.spend(costOf(metrics?.['cost_usd']))
  for (const said of fromStep(value, { model, ...(source !== undefined && { source }) }))
    telling.say(said, place)
}

/** Deeper than this subagents start no others. */
const DEPTH = 8

function tellSubagents(
  list: Json | undefined,
  place: Place,
  telling: Telling,
  watch: DriftWatch | undefined,
  depth = 0,
): void {
  const trajectories = asArray(list) ?? (list === undefined || list === null ? [] : [list])
  for (const [index, one] of trajectories.entries()) {
    if (!isObject(one) || depth > DEPTH) {
      telling.say(unknownSaid(one, 'subagent'), place)
      continue
    }
    const { steps, subagent_trajectories: below, ...others } = one
    const facts = asObject(asObject(one['extra'])?.[OWN])
    const named = asString(facts?.['source'])
    const source =
      named !== undefined && named.startsWith('subagent:') ? named : toSource(one, `${depth}.${index + 1}`)
    const model = asString(asObject(one['agent'])?.['model_name'])
    if (facts === undefined) telling.say({ ...unknownSaid(others, 'trajectory'), source }, place)
    for (const step of asArray(steps) ?? (steps === undefined ? [] : [steps]))
      tellStep(step, place, { telling, watch, model, source })
    tellRest(facts, place, telling, source)
    tellSubagents(below, place, telling, watch, depth + 1)
  }
}

const toSource = (one: JsonObject, place: string): string =>
  `subagent:${asId(one['trajectory_id']) ?? asId(one['session_id']) ?? place}`

/** What came behind the last step. */
function tellRest(own: JsonObject | undefined, place: Place, telling: Telling, source?: string): void {
  for (const one of asArray(own?.['after']) ?? []) {
    const said = withFacts(undefined, one)
    if (said !== undefined) telling.say({ ...said, ...(source !== undefined && { source }) }, place)
  }
}

function factsOf(members: JsonObject): Facts {
  const agent = asObject(members['agent'])
  const final = asObject(members['final_metrics'])
  // Since 1.7 a session may be a whole run's; the trajectory has a name of its own.
  const run = asId(members['session_id'])
  const part = asCount(asObject(agent?.['extra'])?.['continuation_index'])
  // A file that goes on with another's trajectory under the same name is no second recording of it.
  const isContinued = part !== undefined && part > 0 && run !== undefined
  const sessionId = asId(members['trajectory_id']) ?? (isContinued ? `${run}/cont-${part}` : run)
  const name = asString(agent?.['name'])
  const version = asString(agent?.['version'])
  const model = asString(agent?.['model_name'])
  const cost = costOf(final?.['total_cost_usd'])
  const usage = final && usageOf(final, 'total_')
  return {
    ...(sessionId !== undefined && { sessionId }),
    ...(isContinued && { parent: { session: uuidFrom(ATIF, run), relation: 'resume' } }),
    ...(name !== undefined && name !== '' && { agent: name }),
    ...(version !== undefined && version !== '' && { version }),
    ...(model !== undefined && { model }),
    ...(cost !== undefined && { reportedCost: toDollars(cost) }),
    ...(usage !== undefined && hasCounts(usage) && { reportedUsage: usage }),
  }
}
