/**
 * devflow (ADR-011, 012, 016): one JSON document a run, `.devflow/runs/<id>/transcript.json`, gzip from 102,400 bytes, and a
 * small `metadata.json` from the start. Tool calls stand in the assistant's turn with their output; totals are stated.
 */
import type { Detection, Format, ReadItem } from './format.ts'
import { createTurnReader } from './devflow/read-turn.ts'
import { readRun, type Run } from './devflow/read-run.ts'
import { listRuns, looksLike } from './devflow/runs.ts'
import { devflowWriter } from './devflow/write.ts'
import type { Source } from '../transcript/source.ts'
import { PLACES } from './places.ts'

export { devflowRunId, type RunIdParts } from './devflow/run-id.ts'

export const devflow: Format = {
  id: 'devflow',
  title: 'devflow runs: .devflow/runs/<id>/transcript.json[.gz]',
  detect,
  async *read(source) {
    const seen = new Set<string>()
    for (const files of await listRuns(source)) yield* readItems(await readRun(files, seen))
  },
  write: devflowWriter,
  places: PLACES.devflow,
  // A run's summary and its transcript, plain or compressed, are one session.
  unit({ path }) {
    const slash = path.lastIndexOf('/')
    if (!NAMES.has(path.slice(slash + 1))) return path
    return slash === -1 ? '.' : path.slice(0, slash)
  },
}

/** How many files are looked into before a folder counts as not devflow's. */
const LOOKS = 16
const NAMES = new Set(['transcript.json', 'transcript.json.gz', 'metadata.json'])

async function detect(source: Source): Promise<Detection | undefined> {
  const files = await source.list()
  const likely =
    source.kind === 'file'
      ? files
      : files.filter(({ path }) => NAMES.has(path.slice(path.lastIndexOf('/') + 1)))
  let best: Detection | undefined
  for (const file of likely.slice(0, LOOKS)) {
    const looks = await looksLike(file)
    if (looks === undefined || looks.confidence <= (best?.confidence ?? 0)) continue
    const reason = looks.as === 'transcript' ? 'runId, metadata and turns' : 'flowId, status and startedAt'
    best = { confidence: looks.confidence, reason: `${file.path} has ${reason}` }
    if (looks.as === 'transcript') break
  }
  return best
}

/** Items handed over at a time. */
const BATCH = 256

async function* readItems({ session, transcript, damage }: Run): AsyncGenerator<readonly ReadItem[]> {
  if (session !== undefined) yield [{ type: 'session', session }]
  for (const batch of batches(damage)) yield batch.map((damage): ReadItem => ({ type: 'damage', damage }))
  if (session === undefined || transcript === undefined) return
  const readTurn = createTurnReader(transcript.file)
  for await (const { turns, damage: found } of transcript.turns()) {
    yield found.map((one): ReadItem => ({ type: 'damage', damage: one }))
    yield turns.flatMap(readTurn).map((entry): ReadItem => ({ type: 'entry', entry }))
  }
}

function* batches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += BATCH) yield items.slice(from, from + BATCH)
}
