/**
 * Reads leslie's files: a whole folder as one session per thread and chat with its units in order, or a single file. Text
 * carries no ids and one time per unit, so entries have neither more nor less than the file says.
 */
import { isHansardError } from '../errors.ts'
import type { Block } from '../transcript/block.ts'
import type { Damage } from '../transcript/damage.ts'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { isObject, parseJson, type JsonObject } from '../transcript/json.ts'
import type { Session, Status } from '../transcript/session.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import type { Detection, ReadItem } from './format.ts'
import { STATUS_WORDS } from './leslie-marks.ts'
import {
  parseLeslie,
  parseLeslieHead,
  type LeslieBlock,
  type LeslieFile,
  type LeslieHeader,
} from './leslie-parse.ts'

/** The seed's files end at 20 KB and its first implementation's at 80; what is far beyond is none of them, and is not taken in. */
const READ_LIMIT = 4 * 1024 * 1024
const HEAD_BYTES = 4096
/** Files looked at before a folder is said not to be leslie's. */
const DETECT_FILES = 200

type Headed = { readonly file: SourceFile; readonly header: LeslieHeader | undefined }

export async function detectLeslie(source: Source): Promise<Detection | undefined> {
  const texts = (await source.list()).filter(({ path }) => source.kind === 'file' || path.endsWith('.txt'))
  for (const file of texts.slice(0, DETECT_FILES)) {
    const header = parseLeslieHead(await file.head(HEAD_BYTES))
    if (header === undefined) continue
    const whole = header.thread !== undefined && header.chat !== undefined && header.startedAt !== undefined
    return { confidence: whole ? 0.95 : 0.6, reason: `${file.path} begins with leslie's header` }
  }
  return undefined
}

export async function* readLeslie(source: Source): AsyncGenerator<readonly ReadItem[]> {
  const groups = new Map<string, Headed[]>()
  for (const file of await source.list()) {
    const header = parseLeslieHead(await file.head(HEAD_BYTES))
    if (header === undefined && !isExpected(source, file)) continue
    const known = header?.thread !== undefined || header?.chat !== undefined
    const key = known ? JSON.stringify([header?.thread, header?.chat]) : file.path
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [{ file, header }])
    else group.push({ file, header })
  }
  for (const [key, group] of groups) yield* readSession(uuidFrom('leslie', key), group.sort(inOrder))
}

/** A file without a header is damage where a transcript should be, and somebody else's anywhere else. */
function isExpected(source: Source, { path }: SourceFile): boolean {
  return source.kind === 'file' || (path.endsWith('.txt') && /(?:^|\/)transcripts\//.test(path))
}

function inOrder(a: Headed, b: Headed): number {
  const placeOf = ({ file, header }: Headed): Place => ({ startedAt: header?.startedAt, path: file.path })
  return compareUnits(placeOf(a), placeOf(b))
}

type Place = { readonly startedAt: string | undefined; readonly path: string }

/** By start; names only say the minute. Twins by their number: `x.txt`, `x-2.txt`, `x-10.txt`. */
export function compareUnits(a: Place, b: Place): number {
  const [left, right] = [a.startedAt ?? '', b.startedAt ?? '']
  if (left !== right) return left < right ? -1 : 1
  if (a.path.length !== b.path.length) return a.path.length - b.path.length
  return a.path < b.path ? -1 : 1
}

async function* readSession(id: string, units: readonly Headed[]): AsyncGenerator<readonly ReadItem[]> {
  const session = toSession(id, units)
  yield [{ type: 'session', session }]
  let sequence = 0
  let last: Entry | undefined
  for (const { file } of units) {
    const read = await readFile(file)
    const items: ReadItem[] = read.damage.map((damage) => ({ type: 'damage', damage }))
    const entries = read.unit === undefined ? [] : toEntries(read.unit, file.path, sequence)
    sequence += entries.length
    last = entries.at(-1) ?? last
    yield [...items, ...entries.map((entry): ReadItem => ({ type: 'entry', entry }))]
  }
  const error = last?.blocks[0]
  if (session.status !== 'completed' && error?.type === 'error') {
    yield [{ type: 'session', session: { ...session, error: error.message } }]
  }
}

function toSession(id: string, units: readonly Headed[]): Session {
  const headers = units.flatMap(({ header }) => (header === undefined ? [] : [header]))
  const first = headers[0]
  const last = headers.at(-1)
  return {
    id,
    ...(first?.thread !== undefined && { thread: first.thread }),
    ...(first?.chat !== undefined && { chat: first.chat }),
    ...(first?.mode !== undefined && { mode: first.mode }),
    ...(first?.startedAt !== undefined && { startedAt: first.startedAt }),
    ...(last?.endedAt !== undefined && { endedAt: last.endedAt }),
    status: toStatus(last?.stopReason),
    ...(last?.stopReason !== undefined && { stopReason: last.stopReason }),
  }
}

function toStatus(reason: string | undefined): Status {
  if (reason === 'canceled') return 'canceled'
  for (const [status, word] of STATUS_WORDS) if (word === reason) return status
  return 'completed'
}

async function readFile(file: SourceFile): Promise<{ unit?: LeslieFile; damage: Damage[] }> {
  const place = { file: file.path, byteOffset: 0, byteLength: file.sizeBytes }
  try {
    const unit = parseLeslie(await file.bytes(READ_LIMIT))
    const damage: Damage[] = []
    if (!unit.isUtf8) {
      damage.push({ kind: 'not-utf8', ...place, reason: 'bytes that are no UTF-8, read as U+FFFD' })
    }
    if (unit.header === undefined) damage.push({ kind: 'not-an-entry', ...place, reason: 'no leslie header' })
    return { unit, damage }
  } catch (error) {
    if (!isHansardError(error) || error.code !== 'too-large') throw error
    return { damage: [{ kind: 'too-large', ...place, reason: 'far larger than any leslie file' }] }
  }
}

/** The unit's first entry covers the header and carries what it says of the unit, for a writer to say again. */
function toEntries({ header, blocks }: LeslieFile, file: string, sequence: number): Entry[] {
  const empty: LeslieBlock = { type: 'text', text: '', line: 1, byteOffset: 0, byteLength: 0 }
  const own = blocks.length === 0 && header !== undefined ? [empty] : blocks
  const answer = own.findLastIndex(({ type }) => type === 'assistant')
  const reason = header?.stopReason
  return own.map((block, index) => {
    const at = sequence + index
    const start = index === 0 ? 0 : block.byteOffset
    const isAnswer = index === answer && reason !== undefined && toStatus(reason) === 'completed'
    const leslie = index === 0 && header !== undefined ? statedOf(header) : undefined
    const record = RECORDS.get(block.type)
    const metadata: JsonObject = { ...(record !== undefined && { record }), ...(leslie && { leslie }) }
    return {
      id: `${PRIMARY}/${at}`,
      source: PRIMARY,
      sequence: at,
      ...KINDS[block.type],
      ...(index === 0 && header?.startedAt !== undefined && { at: header.startedAt }),
      blocks: [toBlock(block)],
      ...(isAnswer && { stopReason: reason }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
      origin: {
        format: 'leslie',
        file,
        record: index + 1,
        byteOffset: start,
        byteLength: block.byteOffset + block.byteLength - start,
      },
    }
  })
}

const KINDS: Readonly<Record<LeslieBlock['type'], Pick<Entry, 'kind' | 'role'>>> = {
  user: { kind: 'message', role: 'user' },
  assistant: { kind: 'message', role: 'assistant' },
  'tool-call': { kind: 'message', role: 'assistant' },
  'tool-result': { kind: 'message', role: 'tool' },
  error: { kind: 'event' },
  text: { kind: 'event' },
}

const RECORDS: ReadonlyMap<LeslieBlock['type'], string> = new Map([
  ['error', 'error'],
  ['text', 'text'],
])

function toBlock({ type, name, text }: LeslieBlock): Block {
  if (type === 'user' || type === 'assistant') return { type: 'text', text }
  if (type === 'error') return { type: 'error', message: text }
  if (type === 'tool-result') return { type, name: name ?? '', output: text }
  if (type === 'text') return { type: 'unknown', raw: text }
  const input = parseJson(text)
  const isWhole = isObject(input) || Array.isArray(input)
  return { type, name: name ?? '', ...(text !== '' && { input: isWhole ? input : text }) }
}

function statedOf({ endedAt, mode, stopReason, toolCalls, others }: LeslieHeader): JsonObject {
  return {
    ...(endedAt !== undefined && { endedAt }),
    ...(mode !== undefined && { mode }),
    ...(stopReason !== undefined && { stopReason }),
    ...(toolCalls !== undefined && { toolCalls }),
    ...(others.length > 0 && { others }),
  }
}
