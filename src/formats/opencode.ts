/**
 * OpenCode's sessions, read: the database of 1.2 and later, what `opencode export` writes, and the tree of JSON files that
 * versions before 1.2 keep. Told by content: the same export lies in other programs' checkpoints under other names.
 */
import { counted } from '../transcript/counted.ts'
import { asArray, asNumber, asObject, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Source, SourceDatabase, SourceFile } from '../transcript/source.ts'
import { isDatabase } from './database-row.ts'
import { createDriftWatch } from './drift.ts'
import type { Detection, Format, Place } from './format.ts'
import { readFurther } from './further-head.ts'
import { firstValue, readHead, type Head } from './head-records.ts'
import { readTables } from './head-tables.ts'
import { createIdSet } from './id-set.ts'
import { lookAtTables, readDatabase } from './opencode-database.ts'
import { followDatabase } from './opencode-database-follow.ts'
import { readExport, type Shared } from './opencode-export.ts'
import { readAlone, readTree, toTree } from './opencode-tree.ts'
import { OPENCODE_VOCABULARY } from './opencode-vocabulary.ts'
import { PLACES } from './places.ts'

/** In a folder only these are opened: there may be thousands of others. */
const DATABASE = /\.db$/

export const opencode: Format = {
  title: 'OpenCode: opencode.db, exports, and storage/{session,message,part}',
  async detect(source) {
    const { sessions, messages, parts, others } = toTree(await source.list())
    const records = [...messages.first(LOOKED_AT), ...parts.first(LOOKED_AT)]
    const candidates = [...sessions.slice(0, LOOKED_AT), ...records, ...others.slice(0, LOOKED_AT)]
    let best = await detectDatabase(source, (tables) => !isKilo(tables))
    for (const file of candidates) {
      const { confidence, reason } = look(await readHead(file)) ?? {}
      if (confidence === undefined || reason === undefined) continue
      if (confidence > (best?.confidence ?? 0)) best = { confidence, reason }
    }
    return best
  },
  ...reader('opencode', PLACES.opencode),
}

/** Kilo's command line: a fork of OpenCode that kept its database. Its agents leave each other notes on a board, in tables of their own. */
export const kilo: Format = {
  title: 'Kilo CLI: kilo.db, a database with the tables of OpenCode',
  detect: (source) => detectDatabase(source, isKilo),
  // Its first versions had no board, and the files before the database are the same.
  isSurely: async (source) => ((await opencode.detect(source)) ?? (await kilo.detect(source))) !== undefined,
  ...reader('kilo', PLACES.kilo),
}

type Tables = Pick<SourceDatabase, 'columns'>

function isKilo(database: Tables): boolean {
  return database.columns('kilo_board').length > 0
}

/** How OpenCode's files are read, and those of forks that kept its layout. */
function reader(id: string, places: readonly Place[]): Omit<Format, 'title' | 'detect'> {
  return {
    id,
    async *read(source, options) {
      const drift = createDriftWatch(OPENCODE_VOCABULARY, options)
      const shared: Shared = { agent: id, taken: createIdSet(), spawned: new Map(), drift }
      const files = await source.list()
      if (source.kind === 'file') {
        for (const file of files) {
          if (await isDatabase(file)) {
            yield* readDatabase(file, shared)
            continue
          }
          const kind = look(await readFurther(file))?.kind ?? 'export'
          yield* kind === 'export' ? readExport(file, shared) : readAlone(file, kind, shared)
        }
        return
      }
      const tree = toTree(files)
      for (const file of tree.others)
        if (DATABASE.test(file.path) && (await isDatabase(file))) yield* readDatabase(file, shared)
      yield* readTree(tree, shared)
      for (const file of tree.others) {
        if (/\.jsonl?$/.test(file.path) && look(await readFurther(file))?.kind === 'export')
          yield* readExport(file, shared)
      }
    },
    followDatabase: (file) => followDatabase(id, file),
    places,
    // A session's messages and parts lie in folders of their own, all over the tree.
    unit: ({ path }) => /^(?:.*\/)?storage(?=\/)/.exec(path)?.[0] ?? storageOf(path) ?? path,
  }
}

async function detectDatabase(
  source: Source,
  isOwn: (tables: Tables) => boolean,
): Promise<Detection | undefined> {
  const { others } = toTree(await source.list())
  for (const file of others.filter((one) => source.kind === 'file' || DATABASE.test(one.path))) {
    const found = (await isDatabase(file)) ? await lookAtDatabase(file, source.kind, isOwn) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** A copy of the tree may have any name, or none when it was itself named: what lies in it tells. */
const IN_STORAGE =
  /^(?:(.*?)\/)?(?:session(?:\/[^/]+){1,3}|message\/[^/]+|part(?:\/[^/]+){1,2}|session_diff|session_share|todo|project)\/[^/]+\.json$/

function storageOf(path: string): string | undefined {
  const found = IN_STORAGE.exec(path)
  return found === null ? undefined : (found[1] ?? '.')
}

async function lookAtDatabase(
  file: SourceFile,
  kind: Source['kind'],
  isOwn: (tables: Tables) => boolean,
): Promise<Detection | undefined> {
  const lookAt = (tables: Tables): Detection | undefined => (isOwn(tables) ? lookAtTables(tables) : undefined)
  const near = await readTables(file)
  if (near?.isTold === true) return lookAt(near)
  let database: SourceDatabase | undefined
  try {
    database = await file.database?.()
    return database && lookAt(database)
  } catch (error) {
    const found = near && lookAt(near)
    // Alone, one that cannot be opened is the answer; among others it is not.
    if (found === undefined && kind === 'file') throw error
    return found
  } finally {
    await database?.close()
  }
}

/** How sure the first bytes make us that a file is OpenCode's. */
export function detectOpencode(head: Head): Detection | undefined {
  const looks = look(head)
  return looks && { confidence: looks.confidence, reason: looks.reason }
}

/** Files of each kind looked at to tell whose a folder is. */
const LOOKED_AT = 10

type Looks = Detection & { readonly kind: 'export' | 'session' | 'message' | 'part' }

function look(head: Head): Looks | undefined {
  const members = firstValue(head)
  if (!isObject(members)) return undefined
  if ('messages' in members) return lookAtExport(members)
  const { id, sessionID, messageID, role, type, time } = members
  if (typeof id !== 'string') return undefined
  const said = (kind: Looks['kind'], confidence: number, reason: string) => ({ kind, confidence, reason })
  if (typeof sessionID === 'string' && typeof messageID === 'string' && isPartType(type))
    return said('part', 0.9, 'a part with its session and message')
  if (typeof sessionID === 'string' && (role === 'user' || role === 'assistant'))
    return said('message', 0.9, 'a message with its session')
  if (isSession(members)) return said('session', 0.9, 'a session with its project and time')
  const isText = (type === 'text' || type === 'reasoning') && typeof members['text'] === 'string'
  if (isText && asNumber(asObject(time)?.['start']) !== undefined)
    return said('part', 0.5, 'a text with a start in milliseconds')
  return undefined
}

function lookAtExport({ info, messages }: JsonObject): Looks | undefined {
  const first = (asArray(messages) ?? []).slice(0, LOOKED_AT)
  const own = first.filter((message) => isObject(message) && isMessage(message)).length
  const isEmpty = asArray(messages)?.length === 0
  const isNamed = isObject(info) && isSession(info)
  if (isNamed && (own > 0 || isEmpty))
    return { kind: 'export', confidence: 0.95, reason: 'a session with its messages and their parts' }
  if (own > 0 && own === first.length)
    return { kind: 'export', confidence: 0.8, reason: `${counted(own, 'message')} with info and parts` }
  if (isNamed) return { kind: 'export', confidence: 0.7, reason: 'a session, and a list of messages' }
  return undefined
}

/** The one that the head ends in shows only that it has an `info`. */
function isMessage({ info, parts }: JsonObject): boolean {
  if (info === undefined) return false
  if (info === null) return true
  return (
    isObject(info) &&
    typeof info['role'] === 'string' &&
    (parts === undefined || parts === null || Array.isArray(parts))
  )
}

function isSession({ id, projectID, directory, version, time }: JsonObject): boolean {
  if (typeof id !== 'string') return false
  if (id.startsWith('ses_')) return true
  const isPlaced = typeof projectID === 'string' || typeof directory === 'string'
  return isPlaced && typeof version === 'string' && asNumber(asObject(time)?.['created']) !== undefined
}

const PART_TYPES: ReadonlySet<string> = new Set([
  'text',
  'reasoning',
  'tool',
  'file',
  'step-start',
  'step-finish',
  'patch',
  'snapshot',
  'agent',
  'subtask',
  'retry',
  'compaction',
])

function isPartType(type: Json | undefined): boolean {
  return typeof type === 'string' && PART_TYPES.has(type)
}
