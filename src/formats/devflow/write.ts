/**
 * The fold that writes one run: `metadata.json` at the start, the transcript whole at the end, then `metadata.json` and the index
 * again. In this order, so that a crash between two steps leaves a run that reads right: at worst its summary still says running.
 */
import { gzipSync } from 'node:zlib'
import { HansardError } from '../../errors.ts'
import { checkId } from '../../transcript/ids.ts'
import {
  asArray,
  asObject,
  isObject,
  parseJson,
  toJson,
  type Json,
  type JsonObject,
} from '../../transcript/json.ts'
import type { Session } from '../../transcript/session.ts'
import { createCallFold } from '../../transcript/totals.ts'
import { promptTokens, type Usage } from '../../transcript/usage.ts'
import { claimPath, type FileOperation, type WriteContext, type Writer, type Writing } from '../format.ts'
import { defined, writeFacts, type Facts } from './facts.ts'
import { toDecimal, toGoTime } from './fields.ts'
import { loseOfSession } from './losses.ts'
import { runIdOf } from './run-id.ts'
import { createTurns } from './turns.ts'

/** From this many bytes of the pretty-printed document on, the transcript is compressed. */
export const GZIP_FROM_BYTES = 102_400

/** What a run that was interrupted says: devflow has no such status, and a failed run says why. */
const INTERRUPTED = 'interrupted before it ended'

export const devflowWriter: Writer = { root: '.devflow', ignored: () => 'runs', begin }

function begin(session: Session, context: WriteContext): Writing {
  const { runId: named, made } = runIdOf(session)
  if (made) context.filled(undefined, 'runId')
  // A step may be executed again; any other run that is there is somebody's mistake, told before anything is written.
  const isStep = session.run?.step !== undefined
  if (!isStep && isTaken(named, context)) throw alreadyExists(named)
  let runId = named
  const turns = createTurns(context)
  const calls = createCallFold()
  const own = asObject(session.metadata?.['devflow'])
  const path = (name: string): string => `runs/${runId}/${name}`
  const summary = (facts: Facts): FileOperation => ({
    op: 'write',
    path: path('metadata.json'),
    content: toJson({ ...writeFacts(facts), ...asObject(own?.['summary']) }, 2),
  })

  return {
    start() {
      runId = claimRunId(named, isStep, context)
      const { run, startedAt, input } = session
      const known = { runId, flowId: run?.flow, nodeId: run?.node, input, startedAt }
      return [summary({ ...defined(known), status: 'running' })]
    },
    entry(entry) {
      calls.add(entry)
      turns.add(entry)
      return []
    },
    end(last) {
      const facts = { ...factsOf(last, calls.totals().usage, context), runId, turnCount: turns.count() }
      loseOfSession(last, runId, facts, context)
      const metadata = {
        ...writeFacts(facts, { bare: own?.['bare'] === true }),
        ...asObject(own?.['metadata']),
      }
      const document = { runId, metadata, turns: turns.write(), ...asObject(own?.['document']) }
      return [
        ...transcriptOperations(path('transcript.json'), toJson(document, 2)),
        summary(facts),
        { op: 'update', path: 'runs/index.json', change: (current) => updateIndex(current, facts, last) },
      ]
    },
  }
}

/** The run's folder, by its first file: of two processes one gets it. Executions of a step after the first are numbered. */
function claimRunId(named: string, isStep: boolean, context: WriteContext): string {
  for (let n = 1; ; n += 1) {
    const runId = n === 1 ? named : checkId(`${named.slice(0, 128 - `-${n}`.length)}-${n}`, 'run id')
    const path = `runs/${runId}/metadata.json`
    // A transcript alone is a run, too; beside a summary, the summary answers.
    const isLoose = !context.taken(path) && hasTranscript(runId, context)
    if (!isLoose && claimPath(context, path)) return runId
    if (!isStep) throw alreadyExists(runId)
  }
}

/** By its files: the folder alone may be this fold's own, made before a crash. */
function isTaken(runId: string, context: WriteContext): boolean {
  return context.taken(`runs/${runId}/metadata.json`) || hasTranscript(runId, context)
}

function hasTranscript(runId: string, context: WriteContext): boolean {
  return ['transcript.json', 'transcript.json.gz'].some((name) => context.taken(`runs/${runId}/${name}`))
}

function alreadyExists(runId: string): HansardError {
  return new HansardError('run-already-exists', `run ${runId} already exists`, {
    hint: 'give the run another id, or remove the old one first',
  })
}

/** The session's last word. What it states about the whole is taken as it is; only what it does not state is summed. */
function factsOf(session: Session, summed: Usage | undefined, context: WriteContext): Facts {
  const { run, input, startedAt, endedAt, status, error, reportedUsage, totals } = session
  const usages = [reportedUsage, totals?.usage, summed].filter((usage) => usage !== undefined)
  const tokensIn = usages.map(promptTokens).find((count) => count !== undefined)
  const tokensOut = usages.map((usage) => usage.output).find((count) => count !== undefined)
  const cost = toCost(session.reportedCost) ?? toCost(totals?.cost?.usd)
  const required = {
    flowId: run?.flow,
    startedAt,
    totalTokensIn: tokensIn,
    totalTokensOut: tokensOut,
    totalCost: cost,
  }
  for (const [field, value] of Object.entries(required))
    if (value === undefined) context.filled(undefined, field)
  const isInterrupted = status === 'interrupted'
  if (isInterrupted && error === undefined) context.filled(undefined, 'error')
  return defined({
    flowId: run?.flow,
    nodeId: run?.node,
    input,
    startedAt,
    endedAt: status === 'running' ? undefined : endedAt,
    status: isInterrupted ? 'failed' : status,
    tokensIn,
    tokensOut,
    cost,
    error: error ?? (isInterrupted ? INTERRUPTED : undefined),
  })
}

function toCost(usd: string | null | undefined): string | undefined {
  return usd === null || usd === undefined || usd === '' ? undefined : toDecimal(Number(usd))
}

function transcriptOperations(path: string, document: string): readonly FileOperation[] {
  const isLarge = Buffer.byteLength(document) >= GZIP_FROM_BYTES
  const [kept, stale] = isLarge ? [`${path}.gz`, path] : [path, `${path}.gz`]
  return [
    { op: 'write', path: kept, content: isLarge ? gzipSync(document) : document },
    // Go's reader tries the compressed one first: an old one must not stand in front of a new one.
    { op: 'remove', path: stale },
  ]
}

/** The listing beside the runs. Optional and derived: one that cannot be read is begun again. */
function updateIndex(current: string | undefined, facts: Facts, session: Session): string {
  const index = asObject(current === undefined ? undefined : parseJson(current)) ?? {}
  const { runId, flowId, status, startedAt } = writeFacts(facts)
  const own: JsonObject = defined({ runId, flowId, status, startedAt })
  const others = (asArray(index['runs']) ?? []).filter((run: Json) => isObject(run) && run['runId'] !== runId)
  const lastUpdated = toGoTime(session.endedAt ?? session.startedAt)
  return toJson({ ...index, runs: [...others, own], lastUpdated }, 2)
}
