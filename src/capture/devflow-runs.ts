/**
 * devflow's transcript store (ADR-012, 016) on top of the recorder: `const store = openDevflow(); await store.startRun(id, …)`.
 *
 * Promise: a turn is in the journal when `recordTurn` returns, so a crash loses none, and `hansard recover` finishes the run's files.
 * Misuse is one of four errors: run-not-found, run-already-exists, run-not-started, run-already-ended.
 */
import { resolve } from 'node:path'
import { openArchive } from '../archive/archive.ts'
import { readSession } from '../archive/read-session.ts'
import { HansardError } from '../errors.ts'
import { devflow } from '../formats/devflow.ts'
import { systemFiles } from '../journal/files.ts'
import { openSource } from '../sources/open.ts'
import { readItems, readTranscripts } from '../sources/read.ts'
import type { JsonObject } from '../transcript/json.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { archiveRun, listArchives, restoreRun, type ArchivedRun } from './devflow-archives.ts'
import { checkEndStatus, type EndStatus } from './devflow-checks.ts'
import {
  createStoreFiles,
  filesBelow,
  listRuns,
  readMetadata,
  rebuildIndex,
  removeRun,
  runAlreadyExists,
  runExists,
  runFolder,
  runIds,
  runNotFound,
  type RunFilter,
  type RunList,
  type RunMetadata,
  type StoreFiles,
} from './devflow-files.ts'
import { cleanRuns, type Cleaned, type CleanOptions } from './devflow-retention.ts'
import { createTurnRecorder, type ActiveRun, type RunToolCall, type RunTurn } from './devflow-turns.ts'
import { checkUmask } from './live-formats.ts'
import { record, type RecordOptions } from './record.ts'

export type DevflowStore = {
  startRun(runId: string, about?: RunStart): Promise<void>
  /** Gives the turn's number in the file, from 1. Turns that go past the store, through `getActive`, are not counted. */
  recordTurn(runId: string, turn: RunTurn): number
  /** Attaches the call to the last turn where that is the assistant's. False where it is not, or there is none: nothing is recorded. */
  recordToolCall(runId: string, call: RunToolCall): boolean
  /** US dollars, added to what was said before. */
  addCost(runId: string, usd: string | number): void
  endRun(runId: string, status?: EndStatus): Promise<void>
  /** Ends the run as failed. Without an error it says that there was none. */
  failRun(runId: string, error?: unknown): Promise<void>
  /** A run with its entries; one that is active as far as it has come. */
  load(runId: string): Promise<Transcript>
  loadMetadata(runId: string): RunMetadata
  list(filter?: RunFilter): RunList
  /** Removes a run that has ended, archived or not. */
  delete(runId: string): void
  /** The runs that this store is recording. */
  active(): readonly string[]
  getActive(runId: string): ActiveRun | undefined
  archive(runId: string): Promise<ArchivedRun>
  restore(runId: string): Promise<void>
  listArchives(): readonly ArchivedRun[]
  diskUsage(): DiskUsage
  clean(options?: CleanOptions): Promise<Cleaned>
}

export type RunStart = { readonly flowId?: string; readonly nodeId?: string; readonly input?: JsonObject }

export type DiskUsage = {
  readonly runCount: number
  readonly archiveCount: number
  /** Bytes, as are the others. */
  readonly activeSize: number
  readonly archiveSize: number
  readonly totalSize: number
}

/** As for `record`: where the journal is, redaction, the clock, who may read the files. */
export type DevflowOptions = Pick<
  RecordOptions,
  'home' | 'files' | 'now' | 'redact' | 'secrets' | 'durability' | 'onFailure' | 'agent' | 'model' | 'umask'
>

export function openDevflow(base: string = '.devflow', options: DevflowOptions = {}): DevflowStore {
  const files = checkUmask(options.umask) === 'system' ? systemFiles : options.files
  const store = createStoreFiles(resolve(base), files, options.now)
  const active = new Map<string, ActiveRun>()
  /** Runs that are being started: two calls at once must not both begin. */
  const starting = new Set<string>()

  const getStarted = (runId: string): ActiveRun => active.get(runId) ?? refuseRecording(store, runId)

  const finish = async (runId: string, how: (run: ActiveRun) => Promise<unknown>): Promise<void> => {
    const run = getStarted(runId)
    active.delete(runId)
    await how(run)
  }

  const start = async (runId: string, { flowId, nodeId, input }: RunStart): Promise<void> => {
    const recorder = await record({
      ...options,
      runId,
      ...(flowId !== undefined && { flow: flowId }),
      ...(nodeId !== undefined && { node: nodeId }),
      ...(input !== undefined && { input }),
      formats: ['devflow'],
      roots: { devflow: store.base },
    })
    active.set(runId, createTurnRecorder(runId, recorder))
  }

  return {
    async startRun(runId, about = {}) {
      if (starting.has(runId) || active.has(runId) || runExists(store, runId)) throw runAlreadyExists(runId)
      starting.add(runId)
      try {
        await start(runId, about)
      } finally {
        starting.delete(runId)
      }
    },
    recordTurn: (runId, turn) => getStarted(runId).recordTurn(turn),
    recordToolCall: (runId, call) => getStarted(runId).recordToolCall(call),
    addCost: (runId, usd) => getStarted(runId).recorder.addCost(usd),
    async endRun(runId, status = 'completed') {
      checkEndStatus(status)
      await finish(runId, ({ recorder }) => {
        if (status === 'failed') return recorder.fail(undefined)
        return status === 'canceled' ? recorder.cancel() : recorder.end()
      })
    },
    failRun: (runId, error) => finish(runId, ({ recorder }) => recorder.fail(error)),

    async load(runId) {
      const run = active.get(runId)
      if (run === undefined) return loadRun(store, runId)
      const items = readSession(openArchive(options.home), run.recorder.id)
      return onlyOne(await readTranscripts(items), runId)
    },
    loadMetadata: (runId) => readMetadata(store, runId),
    list: (filter) => listRuns(store, filter),
    delete(runId) {
      refuseUnended(store, runId, active)
      removeRun(store, runId)
      rebuildIndex(store)
    },
    active: () => [...active.keys()],
    getActive: (runId) => active.get(runId),

    async archive(runId) {
      refuseUnended(store, runId, active)
      const archived = await archiveRun(store, runId)
      rebuildIndex(store)
      return archived
    },
    async restore(runId) {
      await restoreRun(store, runId)
      rebuildIndex(store)
    },
    listArchives: () => listArchives(store),
    diskUsage: () => diskUsage(store),
    clean: (asked) => cleanRuns(store, new Set([...active.keys(), ...starting]), asked),
  }
}

/** Why a run cannot be recorded to: it has ended, or nobody here has started it. */
function refuseRecording(store: StoreFiles, runId: string): never {
  const status = runExists(store, runId) ? readMetadata(store, runId).status : undefined
  if (status !== undefined && status !== 'running')
    throw new HansardError('run-already-ended', `run ${runId} has already ended`, { hint: 'start a new run' })
  throw new HansardError('run-not-started', `run ${runId} is not being recorded here`, {
    hint:
      status === undefined ? 'call startRun first' : 'if its process has died, hansard recover finishes it',
  })
}

function refuseUnended(store: StoreFiles, runId: string, active: ReadonlyMap<string, ActiveRun>): void {
  if (!runExists(store, runId)) throw runNotFound(runId)
  if (!active.has(runId) && readMetadata(store, runId).status !== 'running') return
  throw new HansardError('locked', `run ${runId} has not ended`, {
    hint: 'end it first; if its process has died, hansard recover finishes it',
  })
}

async function loadRun(store: StoreFiles, runId: string): Promise<Transcript> {
  if (!runExists(store, runId)) throw runNotFound(runId)
  return onlyOne(await readTranscripts(readItems(await openSource(runFolder(store, runId)), devflow)), runId)
}

function onlyOne(
  { transcripts }: { readonly transcripts: readonly Transcript[] },
  runId: string,
): Transcript {
  const [transcript] = transcripts
  if (transcript !== undefined) return transcript
  throw new HansardError('not-a-transcript', `nothing of run ${runId} can be read`)
}

function diskUsage(store: StoreFiles): DiskUsage {
  const runs = runIds(store)
  const archives = listArchives(store)
  const activeSize = runs
    .flatMap((runId) => filesBelow(runFolder(store, runId)))
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const archiveSize = archives.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  return {
    runCount: runs.length,
    archiveCount: archives.length,
    activeSize,
    archiveSize,
    totalSize: activeSize + archiveSize,
  }
}
