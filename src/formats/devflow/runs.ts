/** Which runs a source holds: folders with `metadata.json` and a transcript, plain or compressed, wherever they lie below it. */
import type { Source, SourceFile } from '../../transcript/source.ts'
import { isObject } from '../../transcript/json.ts'
import { firstValue, readHead } from '../head-records.ts'

export type RunFiles = {
  /** The run's folder, relative to the source; empty for the source itself. */
  readonly folder: string
  readonly metadata?: SourceFile
  readonly plain?: SourceFile
  readonly gzip?: SourceFile
}

/** A transcript's opening, a `metadata.json`, or neither. */
export type Looks = { readonly as: 'transcript' | 'metadata'; readonly confidence: number }

/** In order of their folders' names, which for devflow's ids is the order of their days. */
export async function listRuns(source: Source): Promise<readonly RunFiles[]> {
  if (source.kind === 'file') return fileRun(source)
  const folders = new Map<string, RunFiles>()
  for (const file of await source.list()) {
    const slash = file.path.lastIndexOf('/')
    const part = PARTS.get(file.path.slice(slash + 1))
    if (part === undefined) continue
    const folder = slash === -1 ? '' : file.path.slice(0, slash)
    folders.set(folder, { ...(folders.get(folder) ?? { folder }), [part]: file })
  }
  const runs: RunFiles[] = []
  for (const run of folders.values()) if (await isRun(run, source.path)) runs.push(run)
  return runs.sort((a, b) => (a.folder < b.folder ? -1 : 1))
}

/** What a file is, by its content. */
export async function looksLike(file: SourceFile): Promise<Looks | undefined> {
  const members = firstValue(await readHead(file))
  if (!isObject(members)) return undefined
  if ('runId' in members && 'metadata' in members) {
    return { as: 'transcript', confidence: 'turns' in members ? 0.95 : 0.7 }
  }
  // Turns before everything else: the rest of the members may lie behind what we looked at.
  if ('runId' in members && 'turns' in members) return { as: 'transcript', confidence: 0.7 }
  const isMetadata = 'flowId' in members && 'startedAt' in members && typeof members['status'] === 'string'
  return isMetadata ? { as: 'metadata', confidence: 0.8 } : undefined
}

const PARTS: ReadonlyMap<string, 'metadata' | 'plain' | 'gzip'> = new Map([
  ['metadata.json', 'metadata'],
  ['transcript.json', 'plain'],
  ['transcript.json.gz', 'gzip'],
])

/** A named file is the run: the transcript alone, or `metadata.json` with the transcript beside it. */
async function fileRun(source: Source): Promise<readonly RunFiles[]> {
  const [file] = await source.list()
  if (file === undefined) return []
  const looks = await looksLike(file)
  if (looks?.as !== 'metadata') return [{ folder: '', plain: file }]
  const plain = await source.find('transcript.json')
  const gzip = await source.find('transcript.json.gz')
  return [{ folder: '', metadata: file, ...(plain && { plain }), ...(gzip && { gzip }) }]
}

/** What lies in `runs/` is a run however damaged; elsewhere the content decides, so that other programs' files are let be. */
async function isRun(run: RunFiles, root: string): Promise<boolean> {
  const above = `${root.replaceAll('\\', '/')}/${run.folder}`.split('/').filter((name) => name !== '')
  if (above.at(-2) === 'runs') return true
  for (const file of [run.plain, run.gzip, run.metadata]) {
    if (file !== undefined && (await looksLike(file)) !== undefined) return true
  }
  return false
}
