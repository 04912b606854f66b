/** Which step a request of Flow Studio's means, and what to say when there is none. Names are compared, never made into paths. */
import type { Context } from 'hono'
import { isHansardError } from '../errors.ts'
import { toJson } from '../transcript/json.ts'
import { answer } from './answers.ts'
import type { AppContext } from './context.ts'
import { pathsOf } from './flow-studio-shapes.ts'
import type { FoundRun, FoundStep } from './run-steps.ts'

type Refused = {
  readonly error: string
  readonly hint?: string
  readonly available_files?: readonly string[]
}

/**
 * An error as Flow Studio says it: a sentence, and what to do or what there is instead. A class, because answers hold what logs say:
 * the receipt of a failed step has an `error` and a `status` too.
 */
export class Refusal {
  readonly status: 400 | 404 | 413 | 500 | 501
  readonly said: Refused
  constructor(status: Refusal['status'], said: Refused) {
    this.status = status
    this.said = said
  }
}

export function refuse(c: Context, { status, said }: Refusal): Response {
  return c.body(toJson(said), status, { 'content-type': 'application/json; charset=utf-8' })
}

/** Answers with what the work gives. What goes wrong on purpose is said in Flow Studio's shape. */
export async function reply(
  c: Context,
  { redactor, options }: AppContext,
  work: () => Promise<object | Response>,
): Promise<Response> {
  try {
    const given = await work()
    if (given instanceof Response) return given
    return given instanceof Refusal ? refuse(c, given) : answer(c, given)
  } catch (error) {
    options.onError?.(error)
    if (!isHansardError(error)) return refuse(c, new Refusal(500, { error: 'something went wrong here' }))
    const { code, message, hint } = error
    const status = code.endsWith('not-found') ? 404 : code.startsWith('invalid') ? 400 : 500
    const said = { error: redactor.text(message), ...(hint !== undefined && { hint: redactor.text(hint) }) }
    return refuse(c, new Refusal(status, said))
  }
}

export type Wanted = {
  readonly flow: string
  readonly step: string
  readonly agent?: string | undefined
  readonly engine?: string | undefined
  /** The number of an earlier execution. */
  readonly execution?: string | undefined
}

/**
 * Finds a step by its ids, or by the file name that they make: names without a receipt can be taken apart in several ways, all of which
 * name the file that Flow Studio's own reader opens. `what`: which of its two files. Of several agents' the first by name, as Flow
 * Studio takes it.
 */
export function findStep(
  { row, steps }: FoundRun,
  wanted: Wanted,
  what: 'transcript' | 'receipt',
): FoundStep | Refusal {
  const ofFlow = steps
    .flatMap(withAgents)
    .filter(({ names, step }) => [names.flow, step.flow].includes(wanted.flow))
  if (ofFlow.length === 0) {
    const flows = [...new Set(steps.map(({ names }) => names.flow))]
    return new Refusal(404, {
      error: `no ${what}s in flow '${cut(wanted.flow)}' of run '${row.id}'`,
      hint: flows.length === 0 ? 'this run has no steps' : `its flows are: ${flows.slice(0, 20).join(', ')}`,
    })
  }
  const executions = ofFlow.filter(({ execution }) => String(execution ?? '') === (wanted.execution ?? ''))
  const named = executions.filter(({ names, step }) => {
    const isStep = [names.step, step.step].includes(wanted.step)
    const isAgent =
      wanted.agent === undefined || [names.agentKey, step.agentKey].some((key) => isSame(key, wanted.agent))
    const isEngine = wanted.engine === undefined || [names.engine, step.engine].includes(wanted.engine)
    return isStep && isAgent && isEngine
  })
  const [found] = (named.length > 0 ? named : executions.filter((one) => hasFileOf(wanted, one))).toSorted(
    (a, b) => (pathsOf(a)[what] < pathsOf(b)[what] ? -1 : 1),
  )
  if (found !== undefined) return found
  return new Refusal(404, {
    error: `no ${what} of step '${cut(wanted.step)}' in flow '${cut(wanted.flow)}'`,
    available_files: ofFlow.map((one) => fileName(pathsOf(one)[what])),
  })
}

function hasFileOf({ step, agent, engine }: Wanted, { names }: FoundStep): boolean {
  const own = [names.step, names.agentKey, ...(engine === undefined ? [] : [names.engine])]
  const asked = [step, agent, ...(engine === undefined ? [] : [engine])]
  return agent !== undefined && asked.join('-') === own.join('-')
}

/** The step as each of its agents had it. What a subagent used, and when, only reading it would tell. */
export function withAgents(found: FoundStep): readonly FoundStep[] {
  const { flow, step, engine, status, session } = found.step
  const others = found.agents.map((agentKey): FoundStep => ({
    ...found,
    names: { ...found.names, agentKey },
    step: { flow, step, engine, status, session, agentKey },
  }))
  return [found, ...others]
}

export const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** What subagents are called is known in lower case. */
const isSame = (key: string | undefined, asked: string | undefined): boolean =>
  key !== undefined && key.toLowerCase() === asked?.toLowerCase()

/** A request names anything. */
const cut = (name: string): string => name.slice(0, 100)
