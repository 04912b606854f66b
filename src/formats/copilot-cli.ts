/**
 * GitHub Copilot CLI's own logs, read: `session-state/<id>/events.jsonl`, and before 1.0.11 `session-state/<id>.jsonl`. Told by
 * content: the same lines lie in other programs' checkpoints under other names.
 */
import { counted } from '../transcript/counted.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { detectAmong } from './candidates.ts'
import { ID, createCopilotFold, type CopilotFold } from './copilot-cli-fold.ts'
import { surveyCopilotLog } from './copilot-cli-survey.ts'
import { VOCABULARY } from './copilot-cli-vocabulary.ts'
import { readText } from './document.ts'
import { createDriftWatch } from './drift.ts'
import type { Detection, Format, ReadItem, ReadOptions } from './format.ts'
import { readFurther } from './further-head.ts'
import { readHead, type Head } from './head-records.ts'
import { readInOrder, type Step } from './in-order.ts'
import { createPlacing } from './placing.ts'
import { PLACES } from './places.ts'

export const copilotCli: Format = {
  id: ID,
  title: 'GitHub Copilot CLI: session-state/<id>/events.jsonl',
  detect: (source) =>
    detectAmong(source, async (file) => detectCopilotCli(await readHead(file)), isCandidate),
  async *read(source, options) {
    const taken = new Set<string>()
    for (const file of await source.list()) {
      if (source.kind === 'folder' && !(await isOwn(file))) continue
      yield* readSession(file, source, { taken, ...options })
    }
  },
  places: PLACES['copilot-cli'],
  /** `workspace.yaml` lies beside the log that it names. */
  unit: ({ path }) =>
    /\/(events\.jsonl|workspace\.yaml)$/.test(path) ? path.slice(0, path.lastIndexOf('/')) : path,
}

/** How sure the first records make us that a file is Copilot CLI's. */
export function detectCopilotCli({ records, strange }: Head): Detection | undefined {
  const starts = records.filter(isStart).length
  const lines = records.filter(isLine).length
  const others = records.length - lines + strange
  if (lines <= others) return undefined
  if (starts > 0) return { confidence: 0.95, reason: "Copilot CLI's session.start and its events" }
  // A log that was cut at its beginning.
  const own = records.filter((record) => isLine(record) && OWN.has(record['type'] as string)).length
  return own === 0 ? undefined : { confidence: 0.8, reason: `${counted(lines, 'event')} like Copilot CLI's` }
}

const isCandidate = ({ path }: SourceFile): boolean => !/\.(ya?ml|db|md)$/.test(path)

/** What no other agent calls its events. */
const OWN: ReadonlySet<string> = new Set([
  'assistant.turn_start',
  'assistant.turn_end',
  'assistant.message',
  'tool.execution_start',
  'tool.execution_complete',
  'session.shutdown',
  'session.resume',
  'session.model_change',
])

function isStart({ type, data }: JsonObject): boolean {
  if (type !== 'session.start' || !isObject(data)) return false
  return typeof data['sessionId'] === 'string' && ('copilotVersion' in data || 'producer' in data)
}

/** Each event has an id of its own and names the one before it. */
function isLine({ type, data, id, timestamp, parentId }: JsonObject): boolean {
  if (typeof type !== 'string' || !/^([a-z_]+\.[a-z_]+|abort)$/.test(type)) return false
  // Of a record longer than the head only the keys may be known.
  if (!isObject(data) && data !== null) return false
  return isNamed(id) && isNamed(timestamp) && parentId !== undefined
}

const isNamed = (value: Json | undefined): boolean => typeof value === 'string' || value === null

async function isOwn(file: SourceFile): Promise<boolean> {
  if (!file.path.endsWith('.jsonl')) return false
  return detectCopilotCli(await readFurther(file)) !== undefined
}

type SessionOptions = ReadOptions & { readonly taken: Set<string> }

async function* readSession(
  file: SourceFile,
  source: Source,
  { taken, ...options }: SessionOptions,
): AsyncGenerator<readonly ReadItem[]> {
  const fold = createCopilotFold(await surveyCopilotLog(file))
  const workspace = await readWorkspace(source, file)
  const watch = createDriftWatch(VOCABULARY, options)
  const placing = createPlacing(ID)
  let named: Pick<Session, 'id' | 'native'> | undefined
  const toItem = (): ReadItem => {
    named ??= nameOf(file, fold.sessionId, taken)
    taken.add(named.id)
    return { type: 'session', session: { ...named, ...withWorkspace(fold.current(), workspace) } }
  }
  const place = (number: number, byteOffset: number, byteLength: number) => ({
    file: file.path,
    number,
    byteOffset,
    byteLength,
  })
  // Not in the frame that waits for the next: it would hold on to the last record meanwhile.
  const toItems = (step: Step): readonly ReadItem[] => {
    if ('record' in step) {
      const { value, number, byteOffset, byteLength } = step.record
      const said = fold.next(value, byteOffset)
      if (watch !== undefined) tellDrift(watch, value, fold)
      const at = place(number, byteOffset, byteLength)
      return said.map((one) => ({ type: 'entry', entry: placing(one, at) }))
    }
    const { damage } = step
    if (damage.kind !== 'too-large') return [{ type: 'damage', damage }]
    const { line = 1, byteOffset, byteLength, reason } = damage
    const said = { kind: 'event', blocks: [{ type: 'unknown', raw: null, reason }] } as const
    return [
      { type: 'damage', damage },
      { type: 'entry', entry: placing(said, place(line, byteOffset, byteLength)) },
    ]
  }
  for await (const steps of readInOrder(file)) {
    const items = steps.flatMap(toItems)
    if (items.length === 0) continue
    if (named === undefined) items.unshift(toItem())
    yield items
  }
  if (named !== undefined) yield [toItem()]
}

function tellDrift(
  watch: NonNullable<ReturnType<typeof createDriftWatch>>,
  line: Json,
  { version }: CopilotFold,
): void {
  if (!isObject(line)) return
  const data = asObject(line['data'])
  watch.record('line', line, version)
  watch.record(asString(line['type']) ?? '', data ?? {}, version)
  for (const request of asArray(data?.['toolRequests']) ?? [])
    if (isObject(request)) watch.record('toolRequest', request, version)
  for (const file of asArray(data?.['attachments']) ?? [])
    if (isObject(file)) watch.block(`attachment:${asString(file['type']) ?? ''}`, version, file)
  const result = line['type'] === 'tool.execution_complete' ? asObject(data?.['result']) : undefined
  if (result !== undefined) watch.record('result', result, version)
  for (const part of asArray(result?.['contents']) ?? [])
    if (isObject(part)) watch.block(asString(part['type']) ?? '', version, part)
  for (const metrics of Object.values(asObject(data?.['modelMetrics']) ?? {})) {
    if (!isObject(metrics)) continue
    watch.record('modelMetrics', metrics, version)
    if (isObject(metrics['usage'])) watch.record('usage', metrics['usage'], version)
  }
}

/** A later file of the same session is another recording of it: its own id, the same native name. */
function nameOf(
  file: SourceFile,
  sessionId: string | undefined,
  taken: ReadonlySet<string>,
): Pick<Session, 'id' | 'native'> {
  const id = uuidFrom(ID, sessionId ?? file.path)
  return {
    id: taken.has(id) ? uuidFrom(ID, sessionId ?? '', file.path) : id,
    ...(sessionId !== undefined && { native: { agent: ID, sessionId } }),
  }
}

/** The flat `key: value` lines of `workspace.yaml`, which holds the name that the person gave the session. */
async function readWorkspace(source: Source, { path }: SourceFile): Promise<JsonObject | undefined> {
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  const file = path.endsWith('events.jsonl') ? await source.find(`${folder}workspace.yaml`) : undefined
  const text = file === undefined ? undefined : await readText(file)
  if (typeof text !== 'string') return undefined
  const facts = Object.create(null) as Record<string, Json>
  for (const line of text.split('\n').slice(0, WORKSPACE_LINES)) {
    const [, key, value] = /^([a-z_]{1,64}): (.*)$/.exec(line.trimEnd()) ?? []
    if (key !== undefined && value !== undefined) facts[key] = unquote(value.trim())
  }
  return Object.keys(facts).length === 0 ? undefined : facts
}

const WORKSPACE_LINES = 200

function unquote(value: string): string {
  const quote = value[0]
  const isQuoted = (quote === '"' || quote === "'") && value.length > 1 && value.endsWith(quote)
  return isQuoted ? value.slice(1, -1) : value
}

function withWorkspace(
  session: Omit<Session, 'id' | 'native'>,
  workspace: JsonObject | undefined,
): Omit<Session, 'id' | 'native'> {
  if (workspace === undefined) return session
  const title = session.title ?? (asString(workspace['name']) || asString(workspace['summary']) || undefined)
  const cwd = session.cwd ?? (asString(workspace['cwd']) || undefined)
  return {
    ...session,
    ...(title !== undefined && { title }),
    ...(cwd !== undefined && { cwd }),
    metadata: { ...session.metadata, [ID]: { ...asObject(session.metadata?.[ID]), workspace } },
  }
}
