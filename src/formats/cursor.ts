/**
 * Cursor's sessions, read: the agent's transcripts (JSON lines, and the older text), the chats of the editor, and the agents' stores.
 * Told by content. None of them says what a call cost, and most say no tokens.
 */
import { counted } from '../transcript/counted.ts'
import type { Source, SourceDatabase, SourceFile } from '../transcript/source.ts'
import { isObject, type JsonObject } from '../transcript/json.ts'
import { detectAmong } from './candidates.ts'
import { lookAtChats, readChats } from './cursor-chats.ts'
import { followChats } from './cursor-chats-follow.ts'
import { isStore, lookAtStore, lookAtStoreHead, readStore } from './cursor-store.ts'
import { isMarkLine, isRoleLine } from './cursor-text.ts'
import { type Above, ID, readLinesTranscript, readTextTranscript, type Shared } from './cursor-transcript.ts'
import { CURSOR_VOCABULARY } from './cursor-vocabulary.ts'
import { isDamage, isDatabase, openOrDamage } from './database-row.ts'
import { createDriftWatch } from './drift.ts'
import type { Detection, Format, ReadItem } from './format.ts'
import { readFurther } from './further-head.ts'
import { type Head, readHead } from './head-records.ts'
import { readTables } from './head-tables.ts'
import { createIdSet } from './id-set.ts'
import { PLACES } from './places.ts'

export const cursor: Format = {
  id: ID,
  title: 'Cursor: agent transcripts, store.db, and the chats in state.vscdb',
  detect: (source) => detectAmong(source, (file) => look(file, source.kind)),
  async *read(source, options) {
    const shared: Shared = { taken: createIdSet(), drift: createDriftWatch(CURSOR_VOCABULARY, options) }
    const isAlone = source.kind === 'file'
    /** What was asked in each folder's transcript, for the subagents below it. */
    const above = new Map<string, readonly Above[]>()
    for (const file of parentsFirst(await source.list())) {
      if (await isDatabase(file)) {
        yield* readDatabase(file, shared)
        continue
      }
      const head = await readFurther(file)
      const kind = lookAtHead(head)?.kind ?? (isAlone ? 'lines' : undefined)
      if (kind === 'text') yield* readTextTranscript(file, shared)
      if (kind !== 'lines') continue
      const parent = parentFolder(file.path)
      const known = parent === undefined ? [] : (above.get(parent) ?? [])
      const own = yield* readLinesTranscript(file, head, shared, known)
      const folder = folderOf(file.path)
      if (parent === undefined) above.set(folder, [...(above.get(folder) ?? []), own].slice(0, MAX_ABOVE))
    }
  },
  followDatabase: followChats,
  places: PLACES.cursor,
  // A transcript and the subagents below it lie in a folder of the session's.
  unit: ({ path }) => /^(?:.*\/)?agent-transcripts\/[^/]+(?=\/)/.exec(path)?.[0] ?? path,
}

/** Transcripts of one folder whose calls are held for subagents. */
const MAX_ABOVE = 100
type Looks = Detection & { readonly kind: 'lines' | 'text' }

async function look(file: SourceFile, kind: Source['kind']): Promise<Detection | undefined> {
  if (!(await isDatabase(file))) return lookAtHead(await readHead(file))
  const near = await readTables(file)
  const found = near && (lookAtChats(near) ?? lookAtStoreHead(near))
  if (found !== undefined || (near?.isTold === true && !isStore(near))) return found
  let database: SourceDatabase | undefined
  try {
    database = await file.database?.()
    return database && (lookAtChats(database) ?? (await lookAtStore(database)))
  } catch (error) {
    // Alone, one that cannot be opened is the answer; among others it is not.
    if (kind === 'file') throw error
    return undefined
  } finally {
    await database?.close()
  }
}

/** How sure the first bytes make us that a file is one of Cursor's transcripts. */
function lookAtHead({ records, strange, text }: Head): Looks | undefined {
  const own = records.filter(isLine).length
  if (own > 0 && own * 2 > records.length + strange)
    return { kind: 'lines', confidence: 0.85, reason: `${counted(own, 'line')} of a role and its message` }
  if (records.length > 0) return undefined
  const [first] = /[^\r\n]{1,200}/.exec(text.trimStart()) ?? []
  if (first === undefined || !isRoleLine(first)) return undefined
  const lines = text.split(/\r?\n/)
  const marks = lines.filter((line) => isMarkLine(line) || line === '<user_query>').length
  if (marks > 0)
    return { kind: 'text', confidence: 0.85, reason: `a text of turns with ${marks} of Cursor's marks` }
  return { kind: 'text', confidence: 0.4, reason: 'a text of turns' }
}

/** Others that write a role and a message also say an id, a time or a type. */
function isLine({ role, message, type, uuid, id }: JsonObject): boolean {
  if (typeof role !== 'string' || !isObject(message) || !('content' in message)) return false
  return type === undefined && uuid === undefined && id === undefined && message['role'] === undefined
}

async function* readDatabase(file: SourceFile, shared: Shared): AsyncGenerator<readonly ReadItem[]> {
  const opened = await openOrDamage(file)
  if (isDamage(opened)) {
    yield [{ type: 'damage', damage: opened }]
    return
  }
  try {
    if (lookAtChats(opened) !== undefined) yield* readChats(file, opened, shared)
    else if ((await lookAtStore(opened)) !== undefined) yield* readStore(file, opened, shared)
  } finally {
    await opened.close()
  }
}

/** Where the transcript lies that a subagent's belongs to; undefined for one that is no subagent's. */
function parentFolder(path: string): string | undefined {
  const folder = folderOf(path)
  if (folder === 'subagents') return ''
  return folder.endsWith('/subagents') ? folder.slice(0, -'/subagents'.length) : undefined
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** Not as a list: there may be a million. */
function* parentsFirst(files: readonly SourceFile[]): Generator<SourceFile> {
  const isChild = ({ path }: SourceFile): boolean => parentFolder(path) !== undefined
  for (const file of files) if (!isChild(file)) yield file
  for (const file of files) if (isChild(file)) yield file
}
