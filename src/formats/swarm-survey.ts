/** What lies in a source: transcripts, receipts and runs' events, told apart by the seed's folders first and by content else. */
import type { Damage } from '../transcript/damage.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asString, isObject, type JsonObject } from '../transcript/json.ts'
import type { Run } from '../transcript/session.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { readDocument } from './document.ts'
import type { Detection } from './format.ts'
import { readFurther } from './further-head.ts'
import { readHead } from './head-records.ts'
import { namesStep, parseFileName } from './swarm-names.ts'
import type { ReceiptFile, TranscriptFile } from './swarm-pair.ts'
import { isReceipt } from './swarm-receipt.ts'

export type SurveyedTranscript = TranscriptFile & {
  /** What its folders say: a run and a flow, where it lies in an `llm` folder. */
  readonly placed: Run
  /** The content of its first line, where it is a system message. */
  readonly firstLine: string | undefined
}

export type Survey = {
  readonly transcripts: readonly SurveyedTranscript[]
  readonly receipts: readonly (ReceiptFile & { readonly placed: Run })[]
  readonly events: readonly SourceFile[]
  readonly damage: readonly Damage[]
}

export async function surveySwarm(source: Source): Promise<Survey> {
  const transcripts: SurveyedTranscript[] = []
  const receipts: Survey['receipts'][number][] = []
  const events: SourceFile[] = []
  const damage: Damage[] = []

  const addReceipt = async (file: SourceFile, flow: string, placed: Run): Promise<void> => {
    const document = await readDocument(file)
    if (document.damage !== undefined) damage.push(document.damage)
    else if (isObject(document.raw))
      receipts.push({ file, flow, placed, raw: document.raw, bytes: document.bytes })
    else damage.push(notReceipt(file))
  }

  const files = await source.list()
  const isAlone = source.kind === 'file' || !files.some(({ path }) => /(?:^|\/)receipts\//.test(path))
  for (const file of files) {
    const { folder, flow, placed } = placeOf(source, file)
    if (folder === 'receipts' && file.path.endsWith('.json')) {
      await addReceipt(file, flow, placed)
      continue
    }
    if (source.kind === 'folder' && !file.path.endsWith('.jsonl')) continue
    const { records, document } = await readFurther(file)
    const [first] = records
    if (isReceipt(document)) await addReceipt(file, flow, placed)
    else if (first !== undefined && isRunEvent(first)) events.push(file)
    else if (source.kind === 'file' || folder === 'llm' || (first !== undefined && isSwarmLine(first))) {
      transcripts.push({ file, flow, placed, ...firstOf(first) })
      if (isAlone) await addNeighbour(source, file, flow, addReceipt)
    }
  }
  return { transcripts, receipts, events, damage }
}

/** By content: a receipt is unmistakable, a line of the seed's dialect nearly so. */
export async function detectSwarm(source: Source): Promise<Detection | undefined> {
  let best: Detection | undefined
  const files = (await source.list()).filter(({ path }) => source.kind === 'file' || /\.jsonl?$/.test(path))
  for (const file of files.slice(0, DETECT_FILES)) {
    const { records, document } = await readHead(file)
    const isPlaced = placeOf(source, file).placed.flow !== undefined
    const found = isReceipt(document) ? aReceipt(file.path) : detectRecords(file.path, records, isPlaced)
    if (found !== undefined && found.confidence > (best?.confidence ?? 0)) best = found
    if ((best?.confidence ?? 0) >= 0.95) break
  }
  return best
}

const DETECT_FILES = 50

function aReceipt(path: string): Detection {
  return { confidence: 0.95, reason: `${path} is a step's receipt` }
}

/**
 * The first line must be one, for it says what dialect follows; the others vote on how sure that is. Lines of who said what and when are
 * anybody's: without a tool's line, the engines' own first sentence, or the seed's folders around them, they are not taken for a step.
 */
function detectRecords(
  path: string,
  records: readonly JsonObject[],
  isPlaced: boolean,
): Detection | undefined {
  const [first] = records
  if (first === undefined) return undefined
  if (isReceipt(first)) return aReceipt(path)
  if (isRunEvent(first)) return { confidence: 0.9, reason: `${path} holds a run's events` }
  const own = records.filter(isSwarmLine)
  if (!isSwarmLine(first) || own.length * 2 <= records.length) return undefined
  const isOwn = isPlaced || namesStep(asString(first['content'])) || own.some(isToolLine)
  if (!isOwn) return undefined
  const isPlain = own.every((record) => Object.keys(record).every((key) => SEED_KEYS.has(key)))
  return { confidence: isPlain ? 0.9 : 0.5, reason: `${path} has ${own.length} of a step transcript's lines` }
}

const SEED_KEYS: ReadonlySet<string> = new Set([
  'timestamp',
  'role',
  'content',
  'tool_name',
  'tool_input',
  'tool_output',
])

/** Fields that other formats' lines carry and swarm's do not. */
const FOREIGN = ['uuid', 'sessionId', 'source', 'sequence', 'entry_id', 'id', 'v'] as const

function isSwarmLine(record: JsonObject): boolean {
  if (FOREIGN.some((key) => key in record)) return false
  // A time without a zone is somebody else's: gptme's lines are like these.
  if (!/(?:Z|[+-]\d{2}:?\d{2})$/.test(asString(record['timestamp']) ?? '')) return false
  const { role } = record
  return isToolLine(record) || (typeof role === 'string' && role !== 'tool' && 'content' in record)
}

/** What only swarm writes: a tool's call and result in one line, or apart under the tool's name. */
function isToolLine({ role, type, tool, tool_name: named }: JsonObject): boolean {
  if (role === 'tool') return typeof named === 'string'
  return role === undefined && (type === 'tool_use' || type === 'tool_result') && tool !== undefined
}

function isRunEvent(record: JsonObject): boolean {
  return ['run_id', 'ts', 'kind', 'payload'].every((key) => key in record)
}

/** `<run>/<flow>/<folder>/<file>`, as far as the path tells. */
function placeOf(source: Source, file: SourceFile): { folder: string; flow: string; placed: Run } {
  const path = source.kind === 'file' ? source.path : `${source.path}/${file.path}`
  const parts = path.split(/[\\/]/).filter((part) => part !== '' && part !== '.')
  const folder = parts.at(-2) ?? ''
  const isPlaced = (folder === 'llm' || folder === 'receipts') && !parts.slice(-4, -1).includes('..')
  const id = isPlaced ? parts.at(-4) : undefined
  const flow = isPlaced ? parts.at(-3) : undefined
  const placed = { ...(id !== undefined && { id }), ...(flow !== undefined && { flow }) }
  return { folder, flow: parts.slice(0, -2).join('/'), placed }
}

function firstOf(first: JsonObject | undefined): Pick<SurveyedTranscript, 'firstAt' | 'firstLine'> {
  return {
    firstAt: parseInstant(asString(first?.['timestamp']) ?? asString(first?.['ts'])),
    firstLine: first?.['role'] === 'system' ? asString(first['content']) : undefined,
  }
}

/** The receipt of a transcript that was opened on its own, where its neighbours can be reached. */
async function addNeighbour(
  source: Source,
  file: SourceFile,
  flow: string,
  add: (file: SourceFile, flow: string, placed: Run) => Promise<void>,
): Promise<void> {
  const { stem, number } = parseFileName(file.path)
  const dash = stem.lastIndexOf('-')
  if (dash <= 0) return
  const name = `${stem.slice(0, dash)}${number === undefined ? '' : `.${number}`}.json`
  const found = await source.find(`../receipts/${name}`)
  if (found !== undefined) await add(found, flow, {})
}

function notReceipt(file: SourceFile): Damage {
  const place = { file: file.path, byteOffset: 0, byteLength: file.sizeBytes }
  return { kind: 'not-an-entry', ...place, reason: 'a receipt must be an object' }
}
