/**
 * Which files make a session in Entire's layouts: `.entire/metadata/<id>/`, a checkpoint's `0/`, `1/`, … or one file alone; and
 * `<id>/` with `older/<checkpoint>/` and `checkpoints/<checkpoint>/`, as checkpoints inside a repository are laid out.
 */
import type { Source, SourceFile } from '../transcript/source.ts'

export type SessionFolder = {
  /** Relative to the source; empty for the source itself. */
  readonly path: string
  /** The transcript and its further chunks, in order. */
  readonly full: readonly SourceFile[]
  readonly compact: SourceFile | undefined
  /** The session's own metadata, or, where nothing else is in the folder, the whole checkpoint's. */
  readonly metadata: SourceFile | undefined
  readonly hash: SourceFile | undefined
  readonly prompt: SourceFile | undefined
  readonly context: SourceFile | undefined
  readonly summary: SourceFile | undefined
  /** `tasks/<tool use>/`: subagents' logs and what else is kept of them. */
  readonly tasks: readonly SourceFile[]
  /** Earlier transcripts of the session that are not the beginning of this one. */
  readonly older: readonly SourceFile[]
  readonly checkpoints: readonly CheckpointFolder[]
}

/** What one checkpoint says of a session, by file name; below `other/` what nobody here knows. */
export type CheckpointFolder = { readonly path: string; readonly files: ReadonlyMap<string, SourceFile> }

const BESIDE = /^(?:(.*?)\/)?(older|checkpoints)\/([^/]+)\/(other\/.+|[^/]+)$/
const CHUNK = /^(full\.jsonl|full\.log)\.(\d{1,6})$/

/** The session folders below a source, by path. Folders of a file source: the one with that file. */
export async function findFolders(source: Source): Promise<SessionFolder[]> {
  const files = await source.list()
  if (source.kind === 'file') return Promise.all(files.map((file) => aroundFile(source, file)))
  const names = new Map<string, Map<string, SourceFile>>()
  const tasks = new Map<string, SourceFile[]>()
  const beside = new Map<string, Beside>()
  for (const file of files) {
    if (putBeside(file, beside)) continue
    const task = file.path.search(/(^|\/)tasks\//)
    const inTask = task !== -1
    const folder = inTask
      ? file.path.slice(0, task)
      : file.path.slice(0, Math.max(0, file.path.lastIndexOf('/')))
    const inFolder = tasks.get(folder)
    if (inTask && inFolder !== undefined) inFolder.push(file)
    else if (inTask) tasks.set(folder, [file])
    else
      names.set(
        folder,
        (names.get(folder) ?? new Map()).set(file.path.slice(file.path.lastIndexOf('/') + 1), file),
      )
  }
  return [...new Set([...names.keys(), ...beside.keys()])]
    .sort()
    .map((path) => toFolder(path, names.get(path) ?? new Map(), tasks.get(path) ?? [], beside.get(path)))
    .filter(
      ({ full, compact, metadata, checkpoints }) =>
        full.length > 0 || compact !== undefined || metadata !== undefined || checkpoints.length > 0,
    )
}

type Beside = { readonly older: SourceFile[]; readonly checkpoints: Map<string, Map<string, SourceFile>> }

/** True for a file of an older checkpoint: it belongs to the session above it. */
function putBeside(file: SourceFile, all: Map<string, Beside>): boolean {
  const [, session = '', kind, checkpoint, name] = BESIDE.exec(file.path) ?? []
  if (checkpoint === undefined || name === undefined) return false
  const own: Beside = all.get(session) ?? { older: [], checkpoints: new Map() }
  all.set(session, own)
  if (kind === 'older' && name === 'full.jsonl') own.older.push(file)
  const known = own.checkpoints.get(checkpoint) ?? new Map<string, SourceFile>()
  if (kind === 'checkpoints') own.checkpoints.set(checkpoint, known.set(name, file))
  return true
}

/** True for a folder that has only metadata, of the sessions in the folders below it. */
export function isAbove(
  { path, full, compact, checkpoints }: SessionFolder,
  next: SessionFolder | undefined,
): boolean {
  if (full.length > 0 || compact !== undefined || checkpoints.length > 0 || next === undefined) return false
  return path === '' || next.path.startsWith(`${path}/`)
}

function toFolder(
  path: string,
  names: ReadonlyMap<string, SourceFile>,
  tasks: readonly SourceFile[],
  beside?: Beside,
): SessionFolder {
  const first = names.get('full.jsonl') ?? names.get('full.log')
  const chunks = [...names.entries()]
    .map(([name, file]) => ({ number: Number(CHUNK.exec(name)?.[2] ?? -1), file }))
    .filter(({ number }) => number >= 0)
    .sort((a, b) => a.number - b.number)
    .map(({ file }) => file)
  return {
    path,
    full: first === undefined ? chunks : [first, ...chunks],
    compact: names.get('transcript.jsonl'),
    metadata: names.get('metadata.json'),
    hash: names.get('content_hash.txt'),
    prompt: names.get('prompt.txt'),
    context: names.get('context.md'),
    summary: names.get('summary.txt'),
    tasks: tasks.filter(({ path }) => path.endsWith('.jsonl') || path.endsWith('.json')),
    older: beside?.older ?? [],
    checkpoints: [...(beside?.checkpoints ?? [])].map(([path, files]) => ({ path, files })),
  }
}

/** A transcript named alone, with its chunks and sidecars where it still lies beside them. */
async function aroundFile(source: Source, file: SourceFile): Promise<SessionFolder> {
  const isFull = file.path === 'full.jsonl' || file.path === 'full.log'
  const names = new Map([[isFull ? file.path : 'full.jsonl', file]])
  const isNamed = isFull || file.path === 'metadata.json'
  if (file.path === 'metadata.json') names.clear()
  for (const name of isNamed ? SIDECARS : []) {
    const found = await source.find(name)
    if (found !== undefined) names.set(name, found)
  }
  if (isFull) for await (const chunk of furtherChunks(source, file.path)) names.set(chunk.path, chunk)
  return toFolder('', names, [])
}

const SIDECARS = ['metadata.json', 'content_hash.txt', 'prompt.txt', 'context.md', 'summary.txt'] as const

/** `full.jsonl.001`, `.002`, … up to the first that is not there. */
async function* furtherChunks(source: Source, name: string): AsyncGenerator<SourceFile> {
  for (let number = 1; ; number += 1) {
    const chunk = await source.find(`${name}.${String(number).padStart(3, '0')}`)
    if (chunk === undefined) return
    yield chunk
  }
}
