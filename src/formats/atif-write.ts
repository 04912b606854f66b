/**
 * Sessions as ATIF v1.7: a file for each, whose steps are written as they come; subagents' trajectories stand in it at the end. A result goes
 * into the step of its call, where that is the step before it. What ATIF has no field for is carried along in `extra`, so that a session reads
 * back as it was.
 */
import { contentText, isBlobRef, type Block, type ToolResultBlock } from '../transcript/block.ts'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { isSafeId, uuidFrom } from '../transcript/ids.ts'
import { isObject, toJson, type Json, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { createCallFold, type CallFold } from '../transcript/totals.ts'
import { promptTokens, type Usage } from '../transcript/usage.ts'
import { readStep } from './atif-step.ts'
import type { FileOperation, WriteContext, Writer } from './format.ts'
import { OWN, factsOf, loseBlobs, sessionFacts } from './own-facts.ts'
import { checkFree } from './written-lines.ts'

const VERSION = 'ATIF-v1.7'

export const atifWriter: Writer = {
  root: 'atif',
  ignored: () => '.',
  begin(session, context) {
    const name = isSafeId(session.id) ? session.id : uuidFrom(session.id)
    const path = checkFree(`${name}.trajectory.json`, context)
    const lanes = new Map<string, Lane>()
    const calls = createCallFold()
    let isOpen = false
    const laneOf = (source: string): Lane => {
      const lane = lanes.get(source) ?? createLane(session)
      lanes.set(source, lane)
      return lane
    }
    const append = (steps: readonly Json[]): FileOperation[] => {
      if (steps.length === 0) return []
      const before = isOpen ? ',' : head(session, name, context)
      isOpen = true
      return [{ op: 'append', path, text: `${before}${steps.map((step) => `\n${toJson(step)}`).join(',')}` }]
    }
    return {
      start: () => [],
      entry(entry) {
        loseBlobs(entry, context)
        calls.add(entry)
        const steps = laneOf(entry.source).entry(entry)
        // Those of subagents wait for the end, where their trajectories stand.
        return entry.source === PRIMARY ? append(steps) : []
      },
      end(ended) {
        const main = laneOf(PRIMARY)
        const last = append(main.end())
        if (main.count() === 0) context.filled(undefined, 'step')
        const first =
          main.count() === 0
            ? append([{ step_id: 1, source: 'system', message: '', extra: { [OWN]: { isEmpty: true } } }])
            : []
        const taken = new Set<string>()
        const subagents = [...lanes].flatMap(([source, lane]) =>
          source === PRIMARY ? [] : [toTrajectory(source, lane, session, taken)],
        )
        context.lost(undefined, 'session id')
        const rest = {
          final_metrics: metricsOf(calls, ended, Math.max(1, main.count())),
          ...(subagents.length > 0 && { subagent_trajectories: subagents }),
          extra: {
            [OWN]: { session: sessionFacts(ended), ...(main.after().length > 0 && { after: main.after() }) },
          },
        }
        return [...last, ...first, { op: 'append', path, text: `\n],${toJson(rest).slice(1)}\n` }]
      },
    }
  },
}

/** What stands before the steps. */
function head(session: Session, name: string, context: WriteContext): string {
  if (session.agent === undefined) context.filled(undefined, 'agent')
  if (session.version === undefined) context.filled(undefined, 'version')
  const run = session.run?.id ?? session.native?.sessionId ?? name
  const about = { schema_version: VERSION, session_id: run, trajectory_id: name, agent: agentOf(session) }
  return `${toJson(about).slice(0, -1)},"steps":[`
}

/** Both are asked for, and `unknown` is what is said where nobody knows. */
const agentOf = ({ agent, version, model }: Session): JsonObject => ({
  name: agent ?? 'unknown',
  version: version ?? 'unknown',
  ...(model !== undefined && { model_name: model }),
})

function toTrajectory(source: string, lane: Lane, session: Session, taken: Set<string>): JsonObject {
  const steps = [...lane.written(), ...lane.end()]
  const name = source.replace(/^subagent:/, '')
  // References are made by these: no two may be the same.
  const id = name === '' || taken.has(name) ? uuidFrom(source) : name
  taken.add(id)
  return {
    schema_version: VERSION,
    trajectory_id: id,
    agent: agentOf(session),
    steps:
      steps.length > 0
        ? steps
        : [{ step_id: 1, source: 'system', message: '', extra: { [OWN]: { isEmpty: true } } }],
    extra: { [OWN]: { source, ...(lane.after().length > 0 && { after: lane.after() }) } },
  }
}

type Lane = {
  /** Steps that are done with the entry. */
  entry(entry: Entry): readonly Json[]
  end(): readonly Json[]
  /** All that were given so far, of a lane that waits for the end. */
  written(): readonly Json[]
  count(): number
  /** Entries behind the last step. */
  after(): readonly Json[]
}

type Draft = {
  readonly step: JsonObject
  readonly own: Record<string, Json>
  readonly results: Json[]
  readonly facts: Json[]
  readonly calls: ReadonlySet<string>
}

/** Events that wait for a step to go with; past this they get one of their own. */
const MOST_WAITING = 100

function createLane(session: Session): Lane {
  const given: Json[] = []
  let draft: Draft | undefined
  let waiting: Json[] = []
  let count = 0
  const close = (): readonly Json[] => {
    if (draft === undefined) return []
    const { step, own, results, facts } = draft
    draft = undefined
    if (facts.some((one) => !isObject(one) || Object.keys(one).length > 0)) own['results'] = facts
    const extra = Object.keys(own).length > 0 ? { extra: { [OWN]: own } } : {}
    const whole = { ...step, ...(results.length > 0 && { observation: { results } }), ...extra }
    given.push(whole)
    return [whole]
  }
  const begin = (entry: Entry | undefined): readonly Json[] => {
    const before = close()
    count += 1
    const step = {
      step_id: count,
      ...(entry === undefined ? { source: 'system', message: '' } : toStep(entry)),
    }
    const own: Record<string, Json> = {}
    if (waiting.length > 0) own['before'] = waiting
    waiting = []
    if (entry === undefined || entry.role === 'tool') own['isEmpty'] = true
    else {
      const [read] = readStep(step, { model: session.model })
      const facts = factsOf(entry, read)
      if (facts !== undefined) own['entry'] = facts
    }
    const calls = new Set(
      (entry?.blocks ?? []).flatMap((block) =>
        block.type === 'tool-call' && block.callId !== undefined ? [block.callId] : [],
      ),
    )
    draft = { step, own, results: [], facts: [], calls }
    return before
  }
  const addResults = (entry: Entry): void => {
    if (draft === undefined) return
    const written = entry.blocks.map((block) => toResult(block, draft?.calls ?? new Set()))
    const [, ...read] = readStep(
      {
        source: 'agent',
        message: '',
        ...(draft.step['timestamp'] !== undefined && { timestamp: draft.step['timestamp'] }),
        observation: { results: written },
      },
      { model: undefined },
    )
    const [first] = read
    const whole = first === undefined ? undefined : { ...first, blocks: read.flatMap(({ blocks }) => blocks) }
    draft.results.push(...written)
    draft.facts.push(factsOf(entry, whole) ?? {}, ...written.slice(1).map(() => null))
  }
  return {
    entry(entry) {
      const isEvent = entry.kind === 'event' || entry.role === undefined
      if (isEvent || (entry.role === 'tool' && entry.blocks.length === 0)) {
        waiting.push(factsOf(entry, undefined) ?? {})
        return waiting.length > MOST_WAITING ? begin(undefined) : []
      }
      if (entry.role !== 'tool') return begin(entry)
      // Only a step that it stands right behind: nothing changes its place.
      const isNext = draft !== undefined && draft.step['source'] === 'agent' && waiting.length === 0
      const before = isNext ? [] : begin(undefined)
      addResults(entry)
      return before
    },
    end: close,
    written: () => given,
    count: () => count,
    after: () => waiting,
  }
}

function toStep(entry: Entry): JsonObject {
  const { role, at, blocks, model, usage } = entry
  const isAgent = role === 'assistant'
  const thinking = blocks.flatMap((block) =>
    block.type === 'thinking' && contentText(block.text) !== '' ? [contentText(block.text)] : [],
  )
  const parts = blocks.flatMap(toPart)
  const calls = blocks.flatMap((block) => (block.type === 'tool-call' ? [block] : []))
  const [only] = parts
  const message =
    parts.length === 0 ? '' : parts.length === 1 && only?.['type'] === 'text' ? (only['text'] as Json) : parts
  return {
    ...(at !== undefined && { timestamp: at }),
    source: isAgent ? 'agent' : role === 'system' ? 'system' : 'user',
    ...(isAgent && model !== undefined && { model_name: model }),
    message,
    ...(isAgent && thinking.length > 0 && { reasoning_content: thinking.join('\n') }),
    ...(isAgent && calls.length > 0 && { tool_calls: calls.map(toCall) }),
    ...(isAgent && usage !== undefined && { metrics: toMetrics(usage) }),
    ...(isAgent && { llm_call_count: 1 }),
  }
}

/** What ATIF can show: text, and images of the types it names; the rest is carried along. */
function toPart(block: Block): readonly JsonObject[] {
  if (block.type === 'text') return [{ type: 'text', text: contentText(block.text) }]
  if (block.type === 'error') return [{ type: 'text', text: block.message }]
  if (block.type !== 'image') return []
  const { mediaType, data, url } = block
  if (mediaType === undefined || !MEDIA.has(mediaType)) return []
  const path = data === undefined || isBlobRef(data) ? url : `data:${mediaType};base64,${data}`
  return path === undefined ? [] : [{ type: 'image', source: { media_type: mediaType, path } }]
}

const MEDIA: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

/** Arguments must be an object: what is none stands in one. */
function toCall(
  { callId, name, input }: Extract<Block, { readonly type: 'tool-call' }>,
  index: number,
): JsonObject {
  return {
    tool_call_id: callId ?? `call_${index + 1}`,
    function_name: name,
    arguments: isObject(input) ? input : input === undefined || input === null ? {} : { input },
  }
}

function toResult(block: Block, calls: ReadonlySet<string>): JsonObject {
  if (block.type !== 'tool-result') return { content: null }
  const { callId } = block
  // A result may only name a call of its own step.
  return {
    ...(callId !== undefined && calls.has(callId) && { source_call_id: callId }),
    content: contentOf(block),
  }
}

function contentOf({ output, error }: ToolResultBlock): Json {
  if (output === undefined) return error ?? null
  if (typeof output === 'string' || isBlobRef(output)) return contentText(output)
  return output.flatMap(toPart)
}

/** The cached ones are in the prompt; of those that were written to a cache ATIF says nothing. */
function toMetrics(usage: Usage): JsonObject {
  const prompt = promptTokens(usage)
  return {
    ...(prompt !== undefined && { prompt_tokens: prompt }),
    ...(usage.output !== undefined && { completion_tokens: usage.output }),
    ...(usage.cacheRead !== undefined && { cached_tokens: usage.cacheRead }),
  }
}

function metricsOf(calls: CallFold, session: Session, steps: number): JsonObject {
  const { usage } = calls.totals()
  const prompt = usage && promptTokens(usage)
  const cost = session.reportedCost === undefined ? undefined : Number(session.reportedCost)
  return {
    ...(prompt !== undefined && { total_prompt_tokens: prompt }),
    ...(usage?.output !== undefined && { total_completion_tokens: usage.output }),
    ...(usage?.cacheRead !== undefined && { total_cached_tokens: usage.cacheRead }),
    ...(cost !== undefined && cost >= 0 && cost < Infinity && { total_cost_usd: cost }),
    total_steps: steps,
  }
}
