/**
 * OpenCode's storage before 1.2: a JSON file for each session, message and part. Sessions come oldest first, so that a
 * subagent's is read after the call that started it. A file that is lost or damaged costs itself.
 */
import { isHansardError } from '../errors.ts'
import type { Damage, DamageKind } from '../transcript/damage.ts'
import { asObject, isObject, parseJson, type JsonObject } from '../transcript/json.ts'
import { RECORD_LIMIT } from '../transcript/lines.ts'
import { madeList } from '../transcript/made-list.ts'
import type { SourceFile } from '../transcript/source.ts'
import type { ReadItem } from './format.ts'
import { createKeyed } from './keyed.ts'
import type { Shared } from './opencode-export.ts'
import { createOpencodeReading, type Message, type OpencodeReading, type Piece } from './opencode-reading.ts'
import { findOrphans, NO_ORPHANS, stem, type Orphans } from './opencode-tree-orphans.ts'
import { asId } from './placing.ts'

export type Tree = {
  readonly sessions: readonly SourceFile[]
  /** By the session's id, which is their folder's name. */
  readonly messages: Groups
  /** By the message's id. */
  readonly parts: Groups
  /** What else is kept of a session, by its id: its to-dos, its diff. */
  readonly beside: Groups
  /** Files that are none of these. */
  readonly others: readonly SourceFile[]
}

/** Files by a key, each given once: a tree may have a million, of which no more is held than their numbers. */
export type Groups = {
  /** The first of each group, of so many groups. */
  first(most: number): readonly SourceFile[]
  take(key: string): readonly SourceFile[]
  readonly files: readonly SourceFile[]
  keyAt(number: number): string
  /** What was not taken, group by group. Some may be taken meanwhile. */
  rest(): Generator<{ readonly key: string; readonly files: readonly SourceFile[] }, void, undefined>
}

const PART = /(?:^|\/)part\/(?:[^/]+\/)?([^/]+)\/[^/]+\.json$/
const MESSAGE = /(?:^|\/)message\/([^/]+)\/[^/]+\.json$/
const SESSION = /(?:^|\/)session\/[^/]+\/[^/]+\.json$/
const BESIDE = /(?:^|\/)(?:session_diff|todo)\/([^/]+)\.json$/

export function toTree(files: readonly SourceFile[]): Tree {
  const kinds: { [K in keyof Tree]: number[] } = {
    sessions: [],
    messages: [],
    parts: [],
    beside: [],
    others: [],
  }
  let number = 0
  for (const { path } of files) {
    kinds[kindOf(path)].push(number)
    number += 1
  }
  const some = (numbers: readonly number[]): readonly SourceFile[] =>
    madeList(numbers.length, (n) => files[numbers[n] as number] as SourceFile)
  const by = (pattern: RegExp, numbers: readonly number[]): Groups =>
    toGroups(some(numbers), ({ path }) => pattern.exec(path)?.[1] ?? '')
  return {
    // Ids of sessions sort newest first.
    sessions: some(kinds.sessions.toReversed()),
    messages: by(MESSAGE, kinds.messages),
    parts: by(PART, kinds.parts),
    beside: by(BESIDE, kinds.beside),
    others: some(kinds.others),
  }
}

function kindOf(path: string): keyof Tree {
  if (PART.test(path)) return 'parts'
  if (MESSAGE.test(path)) return 'messages'
  if (BESIDE.test(path)) return 'beside'
  return SESSION.test(path) ? 'sessions' : 'others'
}

function toGroups(files: readonly SourceFile[], keyOf: (file: SourceFile) => string): Groups {
  const keyAt = (number: number): string => keyOf(files[number] as SourceFile)
  const keyed = createKeyed(files.length, keyAt)
  const taken = new Uint8Array(files.length)
  const take = (key: string): readonly SourceFile[] => {
    // A group is taken as a whole. Any number of sessions may say that they have one id, and each asks for all that is under it.
    const first = keyed.first(key)
    if (first === undefined || taken[first] !== 0) return []
    const numbers = keyed.find(key)
    for (const number of numbers) taken[number] = 1
    return madeList(numbers.length, (n) => files[numbers[n] as number] as SourceFile)
  }
  return {
    first(most) {
      const keys = new Set<string>()
      const firsts: SourceFile[] = []
      for (const file of files) {
        if (firsts.length >= most) break
        if (keys.has(keyOf(file))) continue
        keys.add(keyOf(file))
        firsts.push(file)
      }
      return firsts
    },
    take,
    files,
    keyAt,
    *rest() {
      for (let number = 0; number < files.length; number += 1) {
        if (taken[number] !== 0) continue
        const key = keyAt(number)
        yield { key, files: take(key) }
      }
    },
  }
}

export async function* readTree(tree: Tree, shared: Shared): AsyncGenerator<readonly ReadItem[]> {
  const orphans = await findOrphans(tree, sessionIn)
  for (const file of tree.sessions) yield* readSession({ file, tree, orphans, shared, name: stem(file.path) })
  for (const { key: name, files } of tree.messages.rest())
    yield* readSession({ file: undefined, messages: files, tree, orphans, shared, name })
  for (const name of orphans.sessions())
    yield* readSession({ file: undefined, messages: [], tree, orphans, shared, name })
  for (const { files } of tree.parts.rest()) yield* readNameless(files, shared)
}

/** The session that a part names. */
async function sessionIn(file: SourceFile): Promise<string | undefined> {
  const { value } = await readPiece(file)
  return asId(asObject(value)?.['sessionID'])
}

/** One session, message or part on its own. */
export async function* readAlone(
  file: SourceFile,
  kind: 'session' | 'message' | 'part',
  shared: Shared,
): AsyncGenerator<readonly ReadItem[]> {
  const tree = toTree([])
  const orphans = NO_ORPHANS
  if (kind === 'session') yield* readSession({ file, tree, orphans, shared, name: stem(file.path) })
  else if (kind === 'part') yield* readNameless([file], shared)
  else {
    const { value } = await readPiece(file)
    const name = (isObject(value) ? asId(value['sessionID']) : undefined) ?? stem(file.path)
    yield* readSession({ file: undefined, messages: [file], tree, orphans, shared, name })
  }
}

type SessionFiles = {
  readonly file: SourceFile | undefined
  /** Absent where they are in the tree. */
  readonly messages?: readonly SourceFile[]
  readonly tree: Tree
  readonly orphans: Orphans
  readonly shared: Shared
  /** What the session is called by where its files lie. */
  readonly name: string
}

async function* readSession({
  file,
  messages,
  tree,
  orphans,
  shared,
  name,
}: SessionFiles): AsyncGenerator<readonly ReadItem[]> {
  const piece = file && (await readPiece(file))
  const info = asObject(piece?.value) ?? {}
  const sessionId = asId(info['id']) ?? name
  const reading = open(info, sessionId, file?.path ?? name, shared)
  yield [{ type: 'session', session: reading.session() }]
  if (piece?.damage !== undefined) yield [{ type: 'damage', damage: piece.damage }]
  else if (piece !== undefined) yield [reading.event(piece, 'session')]
  for (const message of messages ?? tree.messages.take(sessionId)) yield* readMessage(message, tree, reading)
  for (const parts of orphans.take(sessionId)) yield* readOrphans(parts, reading)
  for (const extra of tree.beside.take(sessionId)) {
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
  { agent, taken, spawned, drift }: Shared,
): OpencodeReading {
  const citation = sessionId === undefined ? undefined : spawned.get(sessionId)
  const known = { agent, info, sessionId, path, taken, ...(citation !== undefined && { citation }) }
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
  const { pieces, damaged } = await readParts(tree.parts.take(id))
  const message: Message = { info: info && { value: info, place: piece.place }, parts: pieces }
  if (damage !== undefined) yield [{ type: 'damage', damage }]
  else if (info === undefined) yield [reading.event(piece, 'unknown')]
  yield [...reading.message(message), ...damaged]
}

async function* readOrphans(
  files: readonly SourceFile[],
  reading: OpencodeReading,
): AsyncGenerator<readonly ReadItem[]> {
  const { pieces, damaged } = await readParts(files)
  if (pieces.length + damaged.length > 0)
    yield [...reading.message({ info: undefined, parts: pieces }), ...damaged]
}

/** Parts of which no more than their session's name may be known: a recording of their own. */
async function* readNameless(
  files: readonly SourceFile[],
  shared: Shared,
): AsyncGenerator<readonly ReadItem[]> {
  const { pieces, damaged } = await readParts(files)
  const named = pieces.map(({ value }) => asId(asObject(value)?.['sessionID'])).find((id) => id !== undefined)
  const reading = open({}, named, files[0]?.path ?? '', shared)
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
