/** Who a session is, from what the caller says: checked ids under the seeds' own words, and the names its formats will use. */
import { randomBytes, randomUUID } from 'node:crypto'
import { devflowRunId } from '../formats/devflow.ts'
import { fromMillis, parseInstant } from '../transcript/instant.ts'
import { checkId, createSessionId } from '../transcript/ids.ts'
import type { JsonObject } from '../transcript/json.ts'
import type { Run, Session } from '../transcript/session.ts'

export type Identity = {
  /** The run's id as given. Without one, each format that needs one makes it by its own rule. */
  readonly runId?: string
  /** What the run is about: a ticket, a pull request. `TK-421` */
  readonly identifier?: string
  /** Tells runs with the same date, flow and identifier apart. */
  readonly suffix?: string
  readonly flow?: string
  readonly node?: string
  readonly step?: string
  readonly agentKey?: string
  readonly engine?: string
  readonly thread?: string
  readonly chat?: string
  readonly mode?: string
  readonly input?: JsonObject
  readonly agent?: string
  readonly model?: string
  readonly title?: string
  readonly version?: string
  readonly stub?: boolean
  readonly native?: Session['native']
  readonly parent?: Session['parent']
  readonly git?: Session['git']
  readonly tags?: Readonly<Record<string, string>>
  /** When it began, where that was some time ago. */
  readonly startedAt?: string
}

/** A session that has just begun. Throws `invalid-id` for an id that could not be a file's name. */
export function createSession(
  identity: Identity,
  cwd: string | undefined,
  now: number,
  recordedBy: string,
): Session {
  const given = parseInstant(identity.startedAt)
  const startedAt = given ?? fromMillis(now) ?? new Date().toISOString()
  // The day of a run's id is taken by the offset that its time was given with.
  const day = (given === undefined ? undefined : identity.startedAt) ?? startedAt
  const { runId, flow, step, node, agentKey, engine } = identity
  for (const [what, id] of Object.entries({
    'run id': runId,
    'flow key': flow,
    'step id': step,
    'agent key': agentKey,
    engine,
  })) {
    if (id !== undefined) checkId(id, what)
  }
  if (identity.thread !== undefined) checkId(identity.thread, 'thread id')
  // What an identifier names is the run: its steps share it, and each has a devflow name of its own.
  const ofRun = runId ?? runIdOf(identity, day)
  const run: Run = {
    ...(ofRun !== undefined && { id: ofRun }),
    ...(flow !== undefined && { flow }),
    ...(step !== undefined && { step }),
    ...(node !== undefined && { node }),
    ...(agentKey !== undefined && { agentKey }),
    ...(engine !== undefined && { engine }),
  }
  const { thread, chat, mode, input, agent, model, title, version, stub, native, parent, git, tags } =
    identity
  return {
    id: createSessionId(now),
    names: names(identity, day, startedAt),
    recordings: [{ by: recordedBy, startedAt }],
    ...(native && { native }),
    ...(title !== undefined && { title }),
    ...(agent !== undefined && { agent }),
    ...(model !== undefined && { model }),
    ...(Object.keys(run).length > 0 && { run }),
    ...(thread !== undefined && { thread }),
    ...(chat !== undefined && { chat }),
    ...(mode !== undefined && { mode }),
    ...(cwd !== undefined && { cwd }),
    ...(git && { git }),
    ...(version !== undefined && { version }),
    startedAt,
    status: 'running',
    ...(input && { input }),
    ...(parent && { parent }),
    ...(stub === true && { stub }),
    ...(tags && { tags }),
  }
}

function runIdOf({ identifier, flow = 'session' }: Identity, day: string): string | undefined {
  return identifier === undefined ? undefined : devflowRunId({ date: day, flow, identifier })
}

/**
 * devflow: by its own rule where there is an identifier; else the run's id, with the step that tells it from its siblings.
 * Entire: the UTC date and a random UUID, fixed at the start so that midnight does not change it.
 */
function names(
  { runId, identifier, suffix, flow, step }: Identity,
  day: string,
  startedAt: string,
): Readonly<Record<string, string>> {
  const apart = suffix ?? step
  const made = (about: string): string =>
    devflowRunId({
      date: day,
      flow: flow ?? 'session',
      identifier: about,
      ...(apart !== undefined && { suffix: apart }),
    })
  const given = apart === undefined ? runId : checkId(`${runId}-${apart}`, 'run id')
  const devflow =
    identifier === undefined && runId !== undefined
      ? (given as string)
      : made(identifier ?? randomBytes(4).toString('hex'))
  return { devflow, entire: `${startedAt.slice(0, 10)}-${randomUUID()}` }
}
