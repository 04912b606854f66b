/**
 * OpenCode's storage before 1.2: a JSON file for each session, message and part. Sessions come oldest first, so that a
 * subagent's is read after the call that started it. A file that is lost or damaged costs itself.
 */
import { isHansardError } from '../errors.ts'
import type { Damage, DamageKind } from '../transcript/damage.ts'
import { asObject, isObject, parseJson, type JsonObject } from '../transcript/json.ts'
import { RECORD_LIMIT } from '../transcript/lines.ts'
import type { SourceFile } from '../transcript/source.ts'
import type { ReadItem } from './format.ts'
import type { Shared } from './opencode-export.ts'
import { createOpencodeReading, type Message, type OpencodeReading, type Piece } from './opencode-reading.ts'
import { asId } from './placing.ts'

export type Tree = {
  readonly sessions: readonly SourceFile[]
  /** By the session's id, which is their folder's name. */
  readonly messages: Map<string, SourceFile[]>
  /** By the message's id. */
  readonly parts: Map<string, SourceFile[]>
  /** What else is kept of a session, by its id: its to-dos, its diff. */
  readonly beside: Map<string, SourceFile[]>
  /** Files that are none of these. */
  readonly others: readonly SourceFile[]
}

const PART = /(?:^|\/)part\/(?:[^/]+\/)?([^/]+)\/[^/]+\.json$/
const MESSAGE = /(?:^|\/)message\/([^/]+)\/[^/]+\.json$/
const SESSION = /(?:^|\/)session\/[^/]+\/[^/]+\.json$/
const BESIDE = /(?:^|\/)(?:session_diff|todo)\/([^/]+)\.json$/

export function toTree(files: readonly SourceFile[]): Tree {
  const sessions: SourceFile[] = []
  const others: SourceFile[] = []
  const messages = new Map<string, SourceFile[]>()
  const parts = new Map<string, SourceFile[]>()
  const beside = new Map<string, SourceFile[]>()
  const folders = [
    [PART, parts],
    [MESSAGE, messages],
    [BESIDE, beside],
  ] as const
  for (const file of files) {
    const found = folders
      .map(([pattern, map]) => ({ map, key: pattern.exec(file.path)?.[1] }))
      .find(({ key }) => key !== undefined)
    if (found?.key !== undefined) {
      const known = found.map.get(found.key)
      if (known === undefined) found.map.set(found.key, [file])
      else known.push(file)
    } else if (SESSION.test(file.path)) sessions.push(file)
    else others.push(file)
  }
  // Ids of sessions sort newest first.
  return { sessions: sessions.toReversed(), messages, parts, beside, others }
}

export async function* readTree(tree: Tree, shared: Shared): AsyncGenerator<readonly ReadItem[]> {
  for (const file of tree.sessions) yield* readSession({ file, tree, shared, name: stem(file.path) })
  for (const name of tree.messages.keys()) yield* readSession({ file: undefined, tree, shared, name })
  for (const files of tree.parts.values()) yield* readOrphans(files, shared)
}

/** One session, message or part on its own. */
export async function* readAlone(
  file: SourceFile,
  kind: 'session' | 'message' | 'part',
  shared: Shared,
): AsyncGenerator<readonly ReadItem[]> {
  const empty: Tree = { sessions: [], messages: new Map(), parts: new Map(), beside: new Map(), others: [] }
  if (kind === 'session') yield* readSession({ file, tree: empty, shared, name: stem(file.path) })
  else if (kind === 'part') yield* readOrphans([file], shared)
  else {
    const { value } = await readPiece(file)
    const name = (isObject(value) ? asId(value['sessionID']) : undefined) ?? stem(file.path)
    const tree = { ...empty, messages: new Map([[name, [file]]]) }
    yield* readSession({ file: undefined, tree, shared, name })
  }
}

type SessionFiles = {
  readonly file: SourceFile | undefined
  readonly tree: Tree
  readonly shared: Shared
  /** What the session is called by where its files lie. */
  readonly name: string
}

async function* readSession({ file, tree, shared, name }: SessionFiles): AsyncGenerator<readonly ReadItem[]> {
  const piece = file && (await readPiece(file))
  const info = asObject(piece?.value) ?? {}
  const sessionId = asId(info['id']) ?? name
  const reading = open(info, sessionId, file?.path ?? name, shared)
  yield [{ type: 'session', session: reading.session() }]
  if (piece?.damage !== undefined) yield [{ type: 'damage', damage: piece.damage }]
  else if (piece !== undefined) yield [reading.event(piece, 'session')]
  for (const message of take(tree.messages, sessionId)) yield* readMessage(message, tree, reading)
  for (const extra of take(tree.beside, sessionId)) {
    const { damage, ...rest } = await readPiece(extra)
    const record = extra.path.split('/').at(-2) ?? 'unknown'
    yield [damage === undefined ? reading.event(rest, record) : { type: 'damage', damage }]
  }
  yield [{ type: 'session', session: reading.session() }]
}

function open(
  info: JsonObject,
  sessionId: string | undefined,
  path: string,
  { taken, spawned, drift }: Shared,
): OpencodeReading {
  const citation = sessionId === undefined ? undefined : spawned.get(sessionId)
  const known = { info, sessionId, path, taken, ...(citation !== undefined && { citation }) }
  const reading = createOpencodeReading(known, spawned, drift)
  taken.add(reading.session().id)
  return reading
}

async function* readMessage(
  file: SourceFile,
  tree: Tree,
  reading: OpencodeReading,
): AsyncGenerator<readonly ReadItem[]> {
  const { damage, ...piece } = await readPiece(file)
  const info = asObject(piece.value)
  const id = asId(info?.['id']) ?? stem(file.path)
  const { pieces, damaged } = await readParts(take(tree.parts, id))
  const message: Message = { info: info && { value: info, place: piece.place }, parts: pieces }
  if (damage !== undefined) yield [{ type: 'damage', damage }]
  else if (info === undefined) yield [reading.event(piece, 'unknown')]
  yield [...reading.message(message), ...damaged]
}

/** Parts whose message is nowhere: a recording of their own, of the session that they name. */
async function* readOrphans(
  files: readonly SourceFile[],
  shared: Shared,
): AsyncGenerator<readonly ReadItem[]> {
  const { pieces, damaged } = await readParts(files)
  const named = pieces.map(({ value }) => asId(asObject(value)?.['sessionID'])).find((id) => id !== undefined)
  const path = files[0]?.path ?? ''
  const reading = open({}, named, path, shared)
  yield [{ type: 'session', session: reading.session() }]
  yield [...reading.message({ info: undefined, parts: pieces }), ...damaged]
}

async function readParts(
  files: readonly SourceFile[],
): Promise<{ readonly pieces: readonly Piece[]; readonly damaged: readonly ReadItem[] }> {
  const pieces: Piece[] = []
  const damaged: ReadItem[] = []
  for (const file of files) {
    const { damage, ...piece } = await readPiece(file)
    if (damage === undefined) pieces.push(piece)
    else damaged.push({ type: 'damage', damage })
  }
  return { pieces, damaged }
}

/** What could not be opened is one file of thousands: said, and passed by. */
const UNREADABLE: ReadonlySet<string> = new Set(['not-found', 'not-permitted', 'io', 'unsafe-path'])

async function readPiece(file: SourceFile): Promise<Piece & { readonly damage?: Damage }> {
  const fail = (kind: DamageKind, reason: string, byteLength = file.sizeBytes) => ({
    value: null,
    place: { file: file.path, number: 1, byteOffset: 0, byteLength },
    damage: { kind, file: file.path, line: 1, byteOffset: 0, byteLength, reason },
  })
  let bytes: Buffer
  try {
    bytes = await file.bytes(RECORD_LIMIT)
  } catch (error) {
    if (!isHansardError(error)) throw error
    if (error.code === 'too-large') return fail('too-large', `over ${RECORD_LIMIT} bytes`)
    if (!UNREADABLE.has(error.code)) throw error
    return fail('missing', 'a file that cannot be read', 0)
  }
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  const value = parseJson(text)
  const place = { file: file.path, number: 1, byteOffset: 0, byteLength: bytes.length }
  if (value !== undefined) return { value, place }
  if (bytes.length === 0) return fail('torn', 'empty', 0)
  return /^\s*\{/.test(text.slice(0, 100)) && !/\}\s*$/.test(text.slice(-100))
    ? fail('torn', 'the file ends inside this record', bytes.length)
    : fail('not-json', 'not JSON', bytes.length)
}

function take(files: Map<string, SourceFile[]>, key: string): readonly SourceFile[] {
  const found = files.get(key) ?? []
  files.delete(key)
  return found
}

function stem(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.json$/, '')
}
