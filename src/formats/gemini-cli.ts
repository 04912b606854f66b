/**
 * Gemini CLI's own sessions, read: `chats/session-*.json`, one document, and since 0.40 `.jsonl`, a log of events that is
 * replayed. Told by content: the same document lies in other programs' checkpoints under other names.
 */
import { counted } from '../transcript/counted.ts'
import { asArray, asString, isObject, parseJson, type Json, type JsonObject } from '../transcript/json.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { detectAmong } from './candidates.ts'
import { readText } from './document.ts'
import { createDriftWatch, type DriftWatch } from './drift.ts'
import type { Detection, Format, ReadItem } from './format.ts'
import { readGeminiLog, unknownMessage } from './gemini-cli-log.ts'
import { fromGeminiMessage } from './gemini-cli-message.ts'
import { ID, createGeminiFold, toGeminiSession, type GeminiFacts } from './gemini-cli-session.ts'
import { createSubagentLinks, type SubagentLinks } from './gemini-cli-subagents.ts'
import { surveyGeminiLog, toGeminiRecord } from './gemini-cli-survey.ts'
import { VOCABULARY, watchMessage } from './gemini-cli-vocabulary.ts'
import { readFurther } from './further-head.ts'
import { firstValue, readHead, type Head } from './head-records.ts'
import { letGo } from './let-go.ts'
import { readListDocument, type ListDocument } from './list-document.ts'
import type { ListElement } from './list-salvage.ts'
import { createPlacing, type Place, type Said } from './placing.ts'
import { PLACES } from './places.ts'

export const geminiCli: Format = {
  id: ID,
  title: 'Gemini CLI: chats/session-*.json and .jsonl',
  detect: (source) => detectAmong(source, async (file) => detectGeminiCli(await readHead(file)), isCandidate),
  async *read(source, options) {
    const shared: Shared = {
      taken: new Set(),
      links: createSubagentLinks(),
      watch: createDriftWatch(VOCABULARY, options),
    }
    for (const file of parentsFirst(source, await source.list())) {
      if (source.kind === 'folder' && !(await isOwn(file))) continue
      if (isProjectRoot(file)) continue
      for await (const items of readFile(file, source, shared)) {
        const observed = shared.links.observe(items)
        yield observed
        letGo(items, observed)
      }
    }
  },
  places: PLACES['gemini-cli'],
}

/** Kept for the sessions beside it; it holds none itself. */
const isProjectRoot = ({ path }: SourceFile): boolean => /(^|\/)\.project_root$/.test(path)

/** How sure the first bytes make us that a file is Gemini CLI's. */
export function detectGeminiCli(head: Head): Detection | undefined {
  return detectLog(head) ?? detectDocument(head)
}

/** Messages of a document looked at. */
const FIRST_MESSAGES = 20
const TYPES: ReadonlySet<string> = new Set(['user', 'gemini', 'info', 'warning', 'error'])

const isCandidate = ({ path }: SourceFile): boolean => /\.jsonl?$/.test(path) || !path.includes('/')

function detectLog({ records, strange }: Head): Detection | undefined {
  if (records.length < 2) return undefined
  let own = 0
  let sure = 0
  for (const record of records) {
    const { type } = toGeminiRecord(record)
    const isSure = type === 'rewind' || type === 'patch' || (type === 'header' && isHeader(record))
    if (isSure || record['type'] === 'gemini') sure += 1
    if (isSure || (type === 'message' && isMessage(record))) own += 1
  }
  if (sure === 0 || own * 2 <= records.length + strange) return undefined
  const reason = `${counted(own, 'line')} of Gemini CLI's log`
  return { confidence: own === records.length ? 0.95 : 0.8, reason }
}

function detectDocument(head: Head): Detection | undefined {
  const document = firstValue(head)
  if (!isObject(document) || !('messages' in document || 'projectHash' in document)) return undefined
  const messages = (asArray(document['messages']) ?? []).slice(0, FIRST_MESSAGES)
  const own = messages.filter((message) => isObject(message) && isMessage(message)).length
  const isNamed = 'sessionId' in document && 'projectHash' in document
  if (isNamed && (messages.length === 0 || own > 0)) {
    return { confidence: 0.95, reason: 'sessionId, projectHash and messages' }
  }
  const isModel = messages.some((message) => isObject(message) && message['type'] === 'gemini')
  if (isModel && own * 2 > messages.length)
    return { confidence: isNamed ? 0.95 : 0.8, reason: `${counted(own, 'message')} with Gemini CLI's keys` }
  return undefined
}

/** Qwen's lines name the project too, and have a uuid. */
function isHeader(record: JsonObject): boolean {
  return !('uuid' in record) && 'sessionId' in record && ('projectHash' in record || 'startTime' in record)
}

function isMessage(record: JsonObject): boolean {
  const { id, type, timestamp } = record
  if (typeof id !== 'string' || typeof timestamp !== 'string' || 'uuid' in record) return false
  return typeof type === 'string' && TYPES.has(type) && ('content' in record || 'toolCalls' in record)
}

/** In `chats/` every session file is Gemini CLI's, however damaged; elsewhere the content decides. */
async function isOwn(file: SourceFile): Promise<boolean> {
  if (!/\.jsonl?$/.test(file.path)) return false
  if (file.sizeBytes > 0 && /(^|\/)chats\//.test(file.path)) return true
  return detectGeminiCli(await readFurther(file)) !== undefined
}

/** Of all files that are read together. */
type Shared = {
  readonly taken: Set<string>
  readonly links: SubagentLinks
  readonly watch: DriftWatch | undefined
}

/** So that a call is known before the session that it started. */
function parentsFirst(source: Source, files: readonly SourceFile[]): readonly SourceFile[] {
  const isChild = (file: SourceFile): boolean => folderOf(source, file) !== undefined
  return [...files.filter((file) => !isChild(file)), ...files.filter(isChild)]
}

async function* readFile(
  file: SourceFile,
  source: Source,
  { taken, links, watch }: Shared,
): AsyncGenerator<readonly ReadItem[]> {
  const head = await readFurther(file)
  const document = isLog(head) ? undefined : await readListDocument(file, 'messages', { isForLines: true })
  const known = {
    path: file.path,
    taken,
    cwd: await projectRoot(source, file),
    parent: folderOf(source, file),
  }
  const open = (facts: GeminiFacts): readonly ReadItem[] => {
    const session = toGeminiSession(facts, { ...known, startedBy: links.parentOf(facts.sessionId) })
    taken.add(session.id)
    return [{ type: 'session', session }]
  }
  if (document !== undefined && !document.isLines) {
    const facts = await factsOf(document, watch)
    yield open(facts)
    yield document.damage.map((damage): ReadItem => ({ type: 'damage', damage }))
    yield* readDocument(document, file.path, facts)
    return
  }
  const survey = await surveyGeminiLog(file)
  if (survey.lastRecord === 0) return
  yield open(survey.facts)
  yield* readGeminiLog(file, survey, createPlacing(ID), watch)
}

/** Several records, or a first line that is JSON by itself with something behind it, records or not. */
function isLog({ records, text }: Head): boolean {
  if (records.length > 1) return true
  const end = text.indexOf('\n')
  if (end === -1 || text.slice(end).trim() === '') return false
  return isObject(parseJson(text.slice(0, end)))
}

/** What a document says together, before its messages are given. */
async function factsOf(
  { members, elements }: ListDocument,
  watch: DriftWatch | undefined,
): Promise<GeminiFacts> {
  const fold = createGeminiFold()
  fold.patch(members)
  watch?.record('header', members)
  const take = ({ value }: ListElement): void => {
    if (!isObject(value)) return
    fold.message(value)
    if (watch !== undefined) watchMessage(watch, value)
  }
  // Not in this frame: it would hold on to the last of them while the next are read.
  for await (const some of elements()) some.forEach(take)
  return fold.facts()
}

async function* readDocument(
  { members, elements, sizeBytes }: ListDocument,
  file: string,
  { sessionId: session }: GeminiFacts,
): AsyncGenerator<readonly ReadItem[]> {
  const placing = createPlacing(ID)
  const toItem = (said: Said, place: Place): ReadItem => ({ type: 'entry', entry: placing(said, place) })
  if (Object.keys(members).length > 0) {
    const header: Said = {
      kind: 'event',
      blocks: [{ type: 'unknown', raw: members }],
      metadata: { record: 'header' },
    }
    yield [toItem(header, { file, number: 0, byteOffset: 0, byteLength: sizeBytes })]
  }
  let number = 0
  for await (const some of elements()) {
    yield some.flatMap(({ value, byteOffset, byteLength }) => {
      number += 1
      const said = isObject(value) ? fromGeminiMessage(value, { session, number }) : undefined
      const place = { file, number, byteOffset, byteLength }
      return (said ?? [isObject(value) ? unknownMessage(value) : strangeOf(value)]).map((one) =>
        toItem(one, place),
      )
    })
  }
}

/** What stands in the list and is no message; undefined is one over the limit. */
function strangeOf(value: Json | undefined): Said {
  const reason = value === undefined && { reason: 'a message over the limit, left where it is' }
  return { kind: 'event', blocks: [{ type: 'unknown', raw: value ?? null, ...reason }] }
}

/** Newer versions write the project's folder beside `chats/`; the session itself holds only its hash. */
async function projectRoot(source: Source, { path }: SourceFile): Promise<string | undefined> {
  const at = path.lastIndexOf('chats/')
  const root = source.kind === 'file' ? '../.project_root' : at === -1 ? undefined : path.slice(0, at)
  if (root === undefined) return undefined
  const file = await source.find(source.kind === 'file' ? root : `${root}.project_root`)
  const text = file === undefined ? undefined : await readText(file)
  const folder = asString(text)?.trim()
  return folder === undefined || folder === '' || folder.includes('\n') ? undefined : folder
}

/** `chats/<parent session>/<session>.jsonl`. */
function folderOf(source: Source, { path }: SourceFile): string | undefined {
  const folders = (source.kind === 'file' ? source.path.replaceAll('\\', '/') : path).split('/')
  const folder = folders.at(-2)
  return folder === undefined || folder === 'chats' || folders.at(-3) !== 'chats' ? undefined : folder
}
