/**
 * SWE-agent's trajectories, read: one document with what was said (`history`) and what was done (`trajectory`). The history is the
 * conversation; each step beside it is an event with what only the step says. The prompt that every step repeats is not read.
 */
import type { Block } from '../transcript/block.ts'
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  parseJson,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { Status } from '../transcript/session.ts'
import type { SourceFile } from '../transcript/source.ts'
import { hasCounts, withoutZeros, type Usage } from '../transcript/usage.ts'
import { costOf, toDollars } from './dollars.ts'
import { vocabulary, type DriftWatch } from './drift.ts'
import { documentOf, fileFormat, type FileReading } from './file-format.ts'
import type { Detection, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { isText, takes } from './left-over.ts'
import type { Place, Said } from './placing.ts'
import { tellList, type Facts, type Telling } from './telling.ts'
import { unknownSaid } from './unknown.ts'
import { fromWireMessage } from './wire-said.ts'

export const sweAgent = fileFormat({
  id: 'swe-agent',
  title: 'SWE-agent: <instance>.traj',
  look: lookAtTrajectory,
  vocabulary: vocabulary({
    records: [
      'document: trajectory history info environment replay_config',
      'step: action observation response thought execution_time state messages query extra_info tool_calls tool_call_ids',
      `message: role content agent message_type thought action is_demo tool_calls tool_call_ids tags cache_control thinking_blocks
       reasoning_content`,
    ],
  }),
  read: readTrajectory,
})

function lookAtTrajectory(head: Head): Detection | undefined {
  const document = documentOf(head)
  if (!isObject(document) || 'trajectory_format' in document) return undefined
  const messages = (asArray(document['history']) ?? []).filter(isObject)
  const steps = (asArray(document['trajectory']) ?? []).filter(isObject)
  const isStepped = steps.some((step) => 'action' in step && 'observation' in step)
  if (isStepped) return { confidence: 0.95, reason: 'steps with an action and an observation' }
  const isSaid = messages.some(({ role, agent }) => typeof role === 'string' && typeof agent === 'string')
  if (isSaid) return { confidence: 0.9, reason: 'a history of agents’ messages' }
  const isCut = 'trajectory' in document && 'environment' in document
  return isCut ? { confidence: 0.7, reason: 'a trajectory and its environment' } : undefined
}

async function* readTrajectory(
  file: SourceFile,
  { open, watch, head }: FileReading,
): AsyncGenerator<readonly ReadItem[]> {
  const telling = open()
  const document = documentOf(head)
  const isStepped = isObject(document) && 'trajectory' in document
  const tell = createTeller(telling, watch)
  const factsOf = (members: JsonObject): Facts => factsOfRun(members, firstDuration(document))
  const isLarge = isStepped && file.sizeBytes > HELD_BYTES && 'history' in document
  if (isLarge) {
    yield* tellList(file, 'history', telling, {
      header(members, place) {
        watch?.record('document', members)
        telling.know(factsOf(members))
        telling.say(unknownSaid(members, 'document'), place)
      },
      element: tell.message,
      without: STEPS,
    })
    return yield* tellList(file, 'trajectory', telling, { element: tell.step, without: MESSAGES })
  }
  // Steps are the large part: each repeats the prompt.
  yield* tellList(file, isStepped ? 'trajectory' : 'history', telling, {
    header(members, place) {
      const { history, ...around } = members
      watch?.record('document', members)
      telling.know(factsOf(around))
      telling.say(unknownSaid(around, 'document'), place)
      for (const message of asArray(history) ?? (history === undefined ? [] : [history]))
        tell.message(message, place)
    },
    element: (value, place) => (isStepped ? tell.step(value, place) : tell.message(value, place)),
  })
}

/** Up to here what was said is held while the steps are read. */
const HELD_BYTES = 8 * 1024 * 1024
const STEPS: ReadonlySet<string> = new Set(['trajectory'])
const MESSAGES: ReadonlySet<string> = new Set(['history'])
/** Characters of what was said that steps are compared with: a step that comes later says it again. */
const COMPARED = 32 * 1024 * 1024

type Teller = {
  readonly message: (value: Json, place: Place) => void
  readonly step: (value: Json, place: Place) => void
}

function createTeller(telling: Telling, watch: DriftWatch | undefined): Teller {
  const history: string[] = []
  let near = 0
  let held = 0
  /** Steps go along the history: what one says stands near what the one before it said, or not at all. */
  const isSaid = (part: Json | undefined): boolean => {
    if (typeof part !== 'string') return part === undefined || part === null
    const text = part.trim()
    if (text === '') return true
    for (let at = Math.max(0, near - 2); at <= near + WINDOW && at < history.length; at += 1) {
      if (history[at]?.includes(text) !== true) continue
      near = at
      return true
    }
    return false
  }
  return {
    message(value, place) {
      const text =
        isObject(value) && held < COMPARED
          ? [value['content'], value['thought'], value['action']]
              .filter((one) => typeof one === 'string')
              .join('\0')
          : ''
      held += text.length
      history.push(text)
      if (isObject(value)) watch?.record('message', value)
      telling.say(fromMessage(value), place)
    },
    step(value, place) {
      if (!isObject(value)) return telling.say(unknownSaid(value), place)
      watch?.record('step', value)
      for (const said of fromStep(value, history.length > 0 ? isSaid : undefined)) telling.say(said, place)
    },
  }
}

/** Thought and action are the parts of an answer that its content and calls are made of. */
const TAKEN = takes({ tool_call_ids: (value) => ids(value).length === 1, thought: isText, action: isText })

function fromMessage(value: Json): Said {
  if (!isObject(value)) return unknownSaid(value)
  const [callId] = ids(value['tool_call_ids'])
  const isResult = value['role'] === 'tool' && callId !== undefined
  const said = fromWireMessage('openai-chat', isResult ? { ...value, tool_call_id: callId } : value, TAKEN)
  const { thought, action } = value
  // Of an answer in plain text they are in the content already.
  const content = asString(value['content']) ?? ''
  const isWithin = (part: Json | undefined): boolean =>
    part === undefined || part === null || (typeof part === 'string' && content.includes(part.trim()))
  const beyond = {
    ...(!isWithin(thought) && { thought: thought as Json }),
    ...(!isWithin(action) && { action: action as Json }),
  }
  // A demonstration is shown to the model; it is nothing that happened.
  return { ...said, metadata: { ...said.metadata, ...beyond } }
}

const ids = (value: Json | undefined): readonly string[] =>
  (asArray(value) ?? []).filter((one) => typeof one === 'string')

/** Messages looked at for what a step says. */
const WINDOW = 40

/** What a step repeats: the prompt always, what was said where the history says it. */
const PROMPT: ReadonlySet<string> = new Set(['messages', 'query'])
const PARTS = ['response', 'thought', 'action', 'observation'] as const

function fromStep(
  step: JsonObject,
  isSaid: ((part: Json | undefined) => boolean) | undefined,
): readonly Said[] {
  const seconds = asNumber(step['execution_time'])
  const isPlain = PARTS.every(
    (key) => step[key] === undefined || step[key] === null || typeof step[key] === 'string',
  )
  const duration = seconds === undefined ? {} : { durationMs: Math.round(seconds * 1000) }
  if (isSaid !== undefined && isPlain) {
    const told = new Set([...PROMPT, ...PARTS.filter((key) => isSaid(step[key]))])
    return [{ kind: 'event', blocks: [], ...duration, metadata: { ...rest(step, told), record: 'step' } }]
  }
  if (!isPlain) return [unknownSaid(rest(step, PROMPT) ?? {}, 'step')]
  const { thought, response, action, observation } = step
  const text = asString(thought) || asString(response) || ''
  const blocks: Block[] = [
    ...(text === '' ? [] : [{ type: 'text', text } satisfies Block]),
    { type: 'tool-call', name: 'action', input: action ?? null },
  ]
  const more = rest(
    step,
    new Set([...PROMPT, 'observation', 'action', 'thought', ...(text === response ? ['response'] : [])]),
  )
  return [
    { kind: 'message', role: 'assistant', blocks, ...(more !== undefined && { metadata: more }) },
    {
      kind: 'message',
      role: 'tool',
      ...duration,
      blocks: [{ type: 'tool-result', output: asString(observation) ?? '' }],
    },
  ]
}

/**
 * How long the first step took, to the microsecond: no other run of the instance has the same. Absent where no step was timed.
 */
function firstDuration(document: Json | undefined): number | undefined {
  const [first] = asArray(asObject(document)?.['trajectory']) ?? []
  const seconds = asNumber(asObject(first)?.['execution_time'])
  return seconds === undefined || Number.isInteger(seconds) ? undefined : seconds
}

/** A benchmark's instance is what was asked, in any number of runs: only with what is a run's own does it name one. */
function factsOfRun(members: JsonObject, duration: number | undefined): Facts {
  const info = asObject(members['info'])
  const stats = asObject(info?.['model_stats'])
  const config = replayOf(members['replay_config'])
  const model = asString(asObject(asObject(config?.['agent'])?.['model'])?.['name'])
  const problem = asObject(config?.['problem_statement'])
  const instance = asString(problem?.['id'])
  const exit = asString(info?.['exit_status'])
  const cost = costOf(stats?.['instance_cost'])
  const usage = stats && usageOf(stats)
  const version = asString(info?.['swe_agent_version'])
  return {
    ...(instance !== undefined && { title: instance }),
    ...(instance !== undefined && duration !== undefined && { sessionId: `${instance}/${duration}` }),
    ...(model !== undefined && { model }),
    ...(version !== undefined && { version }),
    ...(exit !== undefined && { stopReason: exit, status: statusOf(exit) }),
    ...(cost !== undefined && { reportedCost: toDollars(cost) }),
    ...(usage !== undefined && hasCounts(usage) && { reportedUsage: usage }),
  }
}

const replayOf = (value: Json | undefined): JsonObject | undefined =>
  asObject(typeof value === 'string' ? parseJson(value) : value)

/** `submitted (exit_cost)`: what it had was handed in, and it was stopped. */
export function statusOf(exit: string): Status {
  if (/^submitted$/i.test(exit)) return 'completed'
  return /exit_|limit|error|timeout|exceeded/i.test(exit) ? 'failed' : 'completed'
}

/** Sums, of everything that was sent; a replay's are zeros. */
function usageOf(stats: JsonObject): Usage {
  const input = asNumber(stats['tokens_sent'])
  const output = asNumber(stats['tokens_received'])
  return withoutZeros({
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    quality: 'estimated',
    raw: stats,
  })
}
