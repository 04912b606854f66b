/** Which files make a session in Entire's layouts: `.entire/metadata/<id>/`, a checkpoint's `0/`, `1/`, … or one file alone. */
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
}

const CHUNK = /^(full\.jsonl|full\.log)\.(\d{1,6})$/

/** The session folders below a source, by path. Folders of a file source: the one with that file. */
export async function findFolders(source: Source): Promise<SessionFolder[]> {
  const files = await source.list()
  if (source.kind === 'file') return Promise.all(files.map((file) => aroundFile(source, file)))
  const names = new Map<string, Map<string, SourceFile>>()
  const tasks = new Map<string, SourceFile[]>()
  for (const file of files) {
    const task = file.path.search(/(^|\/)tasks\//)
    const inTask = task !== -1
    const folder = inTask
      ? file.path.slice(0, task)
      : file.path.slice(0, Math.max(0, file.path.lastIndexOf('/')))
    if (inTask) tasks.set(folder, [...(tasks.get(folder) ?? []), file])
    else
      names.set(
        folder,
        (names.get(folder) ?? new Map()).set(file.path.slice(file.path.lastIndexOf('/') + 1), file),
      )
  }
  return [...names.keys()]
    .sort()
    .map((path) => toFolder(path, names.get(path) ?? new Map(), tasks.get(path) ?? []))
    .filter(
      ({ full, compact, metadata }) => full.length > 0 || compact !== undefined || metadata !== undefined,
    )
}

/** True for a folder that has only metadata, of the sessions in the folders below it. */
export function isAbove({ path, full, compact }: SessionFolder, next: SessionFolder | undefined): boolean {
  if (full.length > 0 || compact !== undefined || next === undefined) return false
  return path === '' || next.path.startsWith(`${path}/`)
}

function toFolder(
  path: string,
  names: ReadonlyMap<string, SourceFile>,
  tasks: readonly SourceFile[],
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
