/** What stands beside a transcript in Entire's folders: a checkpoint's metadata and hash, the context, the first prompts. */
import { createHash, type Hash } from 'node:crypto'
import type { Damage } from '../transcript/damage.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asCount, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { SourceFile } from '../transcript/source.ts'
import type { Usage } from '../transcript/usage.ts'
import { readDocument, readText } from './document.ts'
import type { CheckpointFolder } from './entire-folders.ts'
import { UNKNOWN } from './entire-write.ts'

/** True for the metadata of a checkpoint, or of one session in it. */
export function isCheckpoint(value: Json | undefined): value is JsonObject {
  if (!isObject(value)) return false
  return typeof value['checkpoint_id'] === 'string' || ('session_id' in value && 'strategy' in value)
}

export type Checkpoints = {
  /** The files of each, in the order they were made. */
  readonly all: readonly ReadonlyMap<string, SourceFile>[]
  /** What the newest says: there may be any number of others, each with all that was done. */
  readonly metadata: JsonObject | undefined
}

export async function readCheckpoints(folders: readonly CheckpointFolder[]): Promise<Checkpoints> {
  const dated: { readonly files: ReadonlyMap<string, SourceFile>; readonly at: string }[] = []
  let newest: { readonly at: string; readonly metadata: JsonObject | undefined } | undefined
  for (const { files } of folders) {
    const file = files.get('metadata.json')
    const raw = file === undefined ? undefined : (await readDocument(file)).raw
    const metadata = isCheckpoint(raw) ? raw : undefined
    const at = parseInstant(metadata?.['created_at']) ?? file?.modifiedAt ?? ''
    dated.push({ files, at })
    if (newest === undefined || at >= newest.at) newest = { at, metadata }
  }
  dated.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  return { all: dated.map(({ files }) => files), metadata: newest?.metadata }
}

/** The facts a session's `metadata.json` states. Its `agent` is a label, and labels lie: it stays in the record. */
export function checkpointFacts(metadata: JsonObject): Partial<Session> {
  const branch = asString(metadata['branch'])
  const model = asString(metadata['model'])
  const reportedUsage = tokenUsage(metadata['token_usage'])
  return {
    ...(branch !== undefined && branch !== '' && { git: { branch } }),
    ...(model !== undefined && model !== '' && { model }),
    ...(reportedUsage !== undefined && { reportedUsage }),
  }
}

/** Model and start, as forgeflare's `context.md` lists them. */
export function contextFacts(context: string): { readonly model?: string; readonly startedAt?: string } {
  const said = new Map<string, string>()
  for (const line of context.slice(0, CONTEXT_HEAD).split('\n')) {
    if (!line.startsWith('-')) continue
    const colon = line.indexOf(':')
    const key = line.slice(1, Math.max(1, colon)).replaceAll('*', '').trim()
    const value = line
      .slice(colon + 1)
      .replaceAll('*', '')
      .trim()
    if (colon !== -1 && !said.has(key)) said.set(key, value)
  }
  const model = said.get('Model')
  const startedAt = parseInstant(said.get('Start'))
  return {
    ...(model !== undefined && model !== '' && model !== UNKNOWN && { model }),
    ...(startedAt !== undefined && { startedAt }),
  }
}

const CONTEXT_HEAD = 4096

/** Entire's own names, not the API's. It does not say how long cache writes live: five minutes, the API's default. */
function tokenUsage(value: Json | undefined): Usage | undefined {
  const raw = asObject(value)
  if (raw === undefined) return undefined
  const input = asCount(raw['input_tokens'])
  const cacheRead = asCount(raw['cache_read_tokens'])
  const cacheWrite5m = asCount(raw['cache_creation_tokens'])
  const output = asCount(raw['output_tokens'])
  return {
    ...(input !== undefined && { input }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(output !== undefined && { output }),
    quality: cacheWrite5m === undefined || cacheWrite5m === 0 ? 'reported' : 'estimated',
    raw,
  }
}

/** Hashes a transcript's files as they are read, so that `content_hash.txt` costs no second pass. */
export type HashCheck = {
  tap(file: SourceFile): SourceFile
  /** Damage when the hash that was written down is another. */
  check(hashFile: SourceFile): Promise<Damage | undefined>
}

export function createHashCheck(): HashCheck {
  // Chunks are cut at line ends; whether the newline between two went with the first is not written down.
  const joined = createHash('sha256')
  const parted = createHash('sha256')
  let files = 0
  return {
    tap(file) {
      files += 1
      if (files > 1) parted.update('\n')
      const { path, sizeBytes, modifiedAt } = file
      return {
        path,
        sizeBytes,
        modifiedAt,
        chunks: () => hashing(file, [joined, parted]),
        head: (bytes) => file.head(bytes),
        bytes: (limit) => file.bytes(limit),
      }
    },
    async check(hashFile) {
      const text = await readText(hashFile)
      if (typeof text !== 'string') return text
      const stated = text.trim().replace(/^sha256:/, '')
      if ([joined, parted].some((hash) => hash.copy().digest('hex') === stated)) return undefined
      return {
        kind: 'mismatch',
        file: hashFile.path,
        byteOffset: 0,
        byteLength: hashFile.sizeBytes,
        reason: 'the transcript beside it is not the one that was hashed',
      }
    },
  }
}

async function* hashing(file: SourceFile, hashes: readonly Hash[]): AsyncGenerator<Buffer> {
  for await (const chunk of file.chunks()) {
    for (const hash of hashes) hash.update(chunk)
    yield chunk
  }
}
