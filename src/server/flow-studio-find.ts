/** Which step a request of Flow Studio's means, and what to say when there is none. Names are compared, never made into paths. */
import type { Context } from 'hono'
import { isHansardError } from '../errors.ts'
import { toJson } from '../transcript/json.ts'
import { answer } from './answers.ts'
import type { AppContext } from './context.ts'
import { pathsOf } from './flow-studio-shapes.ts'
import type { FoundRun, FoundStep } from './run-steps.ts'

/** As Flow Studio says it: a sentence, and what to do or what there is instead. */
export type Refused = {
  readonly status: 400 | 404 | 413 | 500 | 501 | 503
  readonly error: string
  readonly hint?: string
  readonly available_files?: readonly string[]
}

export function refuse(c: Context, { status, ...said }: Refused): Response {
  return c.body(toJson(said), status, { 'content-type': 'application/json; charset=utf-8' })
}

export const isRefused = (value: object): value is Refused => 'error' in value && 'status' in value

/** Answers with what the work gives. What goes wrong on purpose is said in Flow Studio's shape. */
export async function reply(
  c: Context,
  { redactor, options }: AppContext,
  work: () => Promise<object | Response>,
): Promise<Response> {
  try {
    const given = await work()
    if (given instanceof Response) return given
    return isRefused(given) ? refuse(c, given) : answer(c, given)
  } catch (error) {
    options.onError?.(error)
    if (!isHansardError(error)) return refuse(c, { status: 500, error: 'something went wrong here' })
    const { code, message, hint } = error
    const status = code.endsWith('not-found') ? 404 : code.startsWith('invalid') ? 400 : 500
    return refuse(c, {
      status,
      error: redactor.text(message),
      ...(hint !== undefined && { hint: redactor.text(hint) }),
    })
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

/** `what`: which of its two files. Of several agents' the first by name, as Flow Studio takes it; steps are told by their whole name. */
export function findStep(
  { row, steps }: FoundRun,
  wanted: Wanted,
  what: 'transcript' | 'receipt',
): FoundStep | Refused {
  const ofFlow = steps
    .flatMap(withAgents)
    .filter(({ names, step }) => [names.flow, step.flow].includes(wanted.flow))
  if (ofFlow.length === 0) {
    const flows = [...new Set(steps.map(({ names }) => names.flow))]
    return {
      status: 404,
      error: `no ${what}s in flow '${cut(wanted.flow)}' of run '${row.id}'`,
      hint: flows.length === 0 ? 'this run has no steps' : `its flows are: ${flows.slice(0, 20).join(', ')}`,
    }
  }
  const found = ofFlow
    .filter(({ names, step, execution }) => {
      const isStep = [names.step, step.step].includes(wanted.step)
      const isAgent =
        wanted.agent === undefined || [names.agentKey, step.agentKey].some((key) => isSame(key, wanted.agent))
      const isEngine = wanted.engine === undefined || [names.engine, step.engine].includes(wanted.engine)
      return isStep && isAgent && isEngine && String(execution ?? '') === (wanted.execution ?? '')
    })
    .toSorted((a, b) => (pathsOf(a)[what] < pathsOf(b)[what] ? -1 : 1))[0]
  if (found !== undefined) return found
  return {
    status: 404,
    error: `no ${what} of step '${cut(wanted.step)}' in flow '${cut(wanted.flow)}'`,
    available_files: ofFlow.map((one) => fileName(pathsOf(one)[what])),
  }
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
