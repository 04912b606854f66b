/**
 * The fold that writes one run: `metadata.json` at the start, the transcript whole at the end, then `metadata.json` and the index
 * again. In this order, so that a crash between two steps leaves a run that reads right: at worst its summary still says running.
 */
import { gzipSync } from 'node:zlib'
import { HansardError } from '../../errors.ts'
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
import type { FileOperation, WriteContext, Writer, Writing } from '../format.ts'
import { defined, writeFacts, type Facts } from './facts.ts'
import { toDecimal, toGoTime } from './fields.ts'
import { sessionLosses } from './losses.ts'
import { runIdOf, shortHash } from './run-id.ts'
import { createTurns } from './turns.ts'

/** From this many bytes of the pretty-printed document on, the transcript is compressed. */
export const GZIP_FROM_BYTES = 102_400

/** What a run that was interrupted says: devflow has no such status, and a failed run says why. */
const INTERRUPTED = 'interrupted before it ended'

export const devflowWriter: Writer = { root: '.devflow', ignored: () => 'runs', begin }

function begin(session: Session, context: WriteContext): Writing {
  const runId = freeRunId(session, context)
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
      for (const what of sessionLosses(last, runId)) context.lost(undefined, what)
      const facts = { ...factsOf(last, calls.totals().usage, context), runId, turnCount: turns.count() }
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

/** Throws `run-already-exists`, unless the run has several steps: then a second session of a step is told apart by its id. */
function freeRunId(session: Session, context: WriteContext): string {
  const { runId, made } = runIdOf(session)
  if (made) context.filled(undefined, 'runId')
  if (!isTaken(runId, context)) return runId
  const apart = `${runId}-${shortHash(session)}`
  const isStep = session.names?.['devflow'] === undefined && session.run?.step !== undefined
  if (isStep && !isTaken(apart, context)) return apart
  throw new HansardError('run-already-exists', `run ${runId} already exists`, {
    hint: 'give the run another id, or remove the old one first',
  })
}

/** By its files: the folder alone may be this fold's own, made before a crash. */
function isTaken(runId: string, context: WriteContext): boolean {
  const names = ['metadata.json', 'transcript.json', 'transcript.json.gz']
  return names.some((name) => context.taken(`runs/${runId}/${name}`))
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
