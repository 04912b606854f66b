/**
 * What swarm's files are called, both ways. Written from the session's run; read from the receipt. A name alone cannot be
 * taken apart (`impl-loop-code-implementer-claude` has hyphens in every part), so without a receipt it is only guessed at.
 */
import { createHash } from 'node:crypto'
import { HansardError } from '../errors.ts'
import { checkId } from '../transcript/ids.ts'
import { parseInstant } from '../transcript/instant.ts'
import type { Run, Session } from '../transcript/session.ts'
import type { WriteContext } from './format.ts'

export type StepNames = {
  readonly run: string
  readonly flow: string
  readonly step: string
  readonly agentKey: string
  readonly engine: string
}

/** Below what file systems take, with room for a number and a temporary file's ending. */
const NAME_LIMIT = 220

/** For what the session does not say; `unknown` is the seed's own word for a step without an agent. */
const FILLERS = { flow: 'main', step: 'session', agent_key: 'unknown', engine: 'unknown' } as const

/** The session's names, each safe as a part of a path. Throws `invalid-id` for one that is not. */
export function toStepNames(session: Session, context: WriteContext): StepNames {
  const run = session.run ?? {}
  const fill = (value: string | undefined, field: keyof typeof FILLERS): string => {
    if (value === undefined) context.filled(undefined, field)
    return checkId(value ?? FILLERS[field], field)
  }
  const id = run.id ?? session.names?.['swarm']
  if (id === undefined) context.filled(undefined, 'run_id')
  return {
    run: checkId(id ?? createRunId(session), 'run id'),
    flow: fill(run.flow, 'flow'),
    step: fill(run.step ?? run.node, 'step'),
    agentKey: fill(run.agentKey, 'agent_key'),
    engine: fill(run.engine, 'engine'),
  }
}

/** Relative to the writer's root. */
export function toPaths({ run, flow, step, agentKey, engine }: StepNames): {
  readonly transcript: string
  readonly receipt: string
  /** As receipts name it: relative to the flow's folder. */
  readonly transcriptPath: string
} {
  const name = `${step}-${agentKey}-${engine}.jsonl`
  if (name.length > NAME_LIMIT) {
    throw new HansardError(
      'invalid-id',
      `the file name of step ${step} is longer than ${NAME_LIMIT} characters`,
      {
        hint: 'use shorter step ids, agent keys or engines',
      },
    )
  }
  const folder = `${run}/${flow}`
  return {
    transcript: `${folder}/llm/${name}`,
    receipt: `${folder}/receipts/${step}-${agentKey}.json`,
    transcriptPath: `llm/${name}`,
  }
}

/** `run-YYYYMMDD-HHMMSS-xxxxxx` in UTC, as the seed makes them; the same for the same session. */
export function createRunId({ id, startedAt }: Session): string {
  const digits = (parseInstant(startedAt) ?? '1970-01-01T00:00:00').replaceAll(/\D/g, '')
  const hash = createHash('sha256').update(id).digest()
  const letters = Array.from(hash.subarray(0, 6), (byte) => (byte % 36).toString(36)).join('')
  return `run-${digits.slice(0, 8)}-${digits.slice(8, 14)}-${letters}`
}

export type FileName = {
  /** Without extension and number. */
  readonly stem: string
  /** The number of an earlier execution that was set aside: `x.1.jsonl`. */
  readonly number: number | undefined
}

export function parseFileName(path: string): FileName {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.jsonl?$/, '')
  const match = /^(.+)\.(\d{1,9})$/.exec(name)
  return { stem: match?.[1] ?? name, number: match === null ? undefined : Number(match[2]) }
}

/** Ids that receipts of the same source have told. */
export type KnownIds = { readonly steps: ReadonlySet<string>; readonly agents: ReadonlySet<string> }

/** What the engines say first. */
const STEP_LINE = /^Executing step (.{1,200}) with agent (.{1,200})$/

export const namesStep = (text: string | undefined): boolean => STEP_LINE.test(text ?? '')

/**
 * Step, agent and engine out of a transcript's name. The engine is the last part. Between step and agent: what the first line says where
 * it is one of the engines' own sentences, then ids known from receipts, then a guess: the middle, as in all of the seed's names, or the
 * first hyphen after a step with underscores, as its engines' later ones are. Without `known` (a file outside the seed's folders, whose
 * name means nothing) only what the first line says.
 */
export function guessNames(stem: string, firstLine: string | undefined, known: KnownIds | undefined): Run {
  const dash = stem.lastIndexOf('-')
  if (dash <= 0) return {}
  const engine = stem.slice(dash + 1)
  const pair = stem.slice(0, dash)
  const said = saidNames(pair, firstLine)
  if (said !== undefined) return { step: said[0], agentKey: said[1], engine }
  if (known === undefined) return {}
  const cuts = [...pair.matchAll(/-/g)].map(
    ({ index }) => [pair.slice(0, index), pair.slice(index + 1)] as const,
  )
  const score = ([step, agent]: readonly [string, string]): number =>
    (known.steps.has(step) ? 1 : 0) + (known.agents.has(agent) ? 1 : 0)
  const middle = cuts[0]?.[0].includes('_') ? 0 : Math.floor((cuts.length - 1) / 2)
  const guesses = [...cuts.slice(middle, middle + 1), ...cuts]
  const best = guesses.toSorted((a, b) => score(b) - score(a))[0]
  return best === undefined ? { step: pair, engine } : { step: best[0], agentKey: best[1], engine }
}

/** A step and an agent that make up `pair`, where the engine's sentence names them or the prompt names its agent. */
function saidNames(pair: string, firstLine = ''): readonly [string, string] | undefined {
  const both = STEP_LINE.exec(firstLine)
  if (both !== null && `${both[1]}-${both[2]}` === pair) return [both[1] as string, both[2] as string]
  const agent = /^You are the (\S{1,200}) agent\b/.exec(firstLine)?.[1]
  if (agent === undefined || !pair.endsWith(`-${agent}`) || pair.length === agent.length + 1) return undefined
  return [pair.slice(0, -agent.length - 1), agent]
}
