/**
 * pi's sessions: one `<time>_<uuid>.jsonl` for each, of version 1 (a line after the other) and later (a tree in one file). The order is
 * the file's; branches that were left stay, for they cost what they cost.
 */
import { counted } from '../transcript/counted.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { isObject, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { SourceFile } from '../transcript/source.ts'
import { detectAmong } from './candidates.ts'
import { createDriftWatch } from './drift.ts'
import type { Detection, Format, LogFollowing, ReadItem, ReadOptions } from './format.ts'
import { readFurther } from './further-head.ts'
import { readHead, type Head } from './head-records.ts'
import { originOf, readInOrder, type Step } from './in-order.ts'
import { PI, createPiFold, toSessionId } from './pi-fold.ts'
import { VOCABULARY, watchLine } from './pi-vocabulary.ts'
import { piWriter } from './pi-write.ts'
import { oversizedEntry } from './unknown.ts'
import { PLACES } from './places.ts'
import { EXACT, exactNumbers } from './exact-numbers.ts'

export const pi: Format = {
  id: PI,
  title: 'pi: <time>_<uuid>.jsonl',
  detect: (source) => detectAmong(source, async (file) => detectPi(await readHead(file))),
  async *read(source, options) {
    const taken = new Set<string>()
    for (const file of await source.list()) {
      // A folder of pi's also holds settings and extensions.
      if (source.kind === 'folder' && detectPi(await readFurther(file)) === undefined) continue
      yield* readSession(file, taken, options)
    }
  },
  follow: (_source, options) => followPi(options),
  write: piWriter,
  places: PLACES.pi,
}

/** How sure the first records make us that a file is pi's. */
export function detectPi({ records, strange }: Head): Detection | undefined {
  const headers = records.filter(isHeader).length
  const lines = records.filter(isLine).length
  const others = records.length - headers - lines + strange
  if (headers > 0 && headers + lines > others) return { confidence: 0.95, reason: "pi's header and lines" }
  if (headers > 0) return { confidence: 0.6, reason: `pi's header among ${counted(others, 'other line')}` }
  // Cousins write lines of the same shape below headers of their own.
  if (lines <= others || !records.some(isOwnLine)) return undefined
  return { confidence: 0.6, reason: `${counted(lines, 'line')} like pi's, without its header` }
}

/** Others of the family write `createdAt`. */
function isHeader(record: JsonObject): boolean {
  const { type, id, timestamp, cwd } = record
  if (type !== 'session' || 'createdAt' in record) return false
  return typeof id === 'string' && typeof timestamp === 'string' && typeof cwd === 'string'
}

const TYPES: ReadonlySet<string> = new Set([
  'message',
  'model_change',
  'thinking_level_change',
  'usage',
  'compaction',
  'context_edit',
  'branch_summary',
  'custom',
  'custom_message',
  'label',
  'session_info',
])

function isLine({ type, timestamp, message }: JsonObject): boolean {
  if (typeof type !== 'string' || !TYPES.has(type) || typeof timestamp !== 'string') return false
  return type !== 'message' || (isObject(message) && typeof message['role'] === 'string')
}

/** What only pi writes: who answered and why it stopped, results as messages of their own, changes of model. */
function isOwnLine({ type, message }: JsonObject): boolean {
  if (type === 'model_change' || type === 'thinking_level_change') return true
  if (type !== 'message' || !isObject(message)) return false
  return message['role'] === 'toolResult' || ('stopReason' in message && 'provider' in message)
}

async function* readSession(
  file: SourceFile,
  taken: Set<string>,
  options?: ReadOptions,
): AsyncGenerator<readonly ReadItem[]> {
  const reading = createReading(taken, options)
  yield* reading.read(file)
  yield reading.end()
}

type PiReading = {
  /** A file, or what was added to it. */
  read(file: SourceFile): AsyncGenerator<readonly ReadItem[]>
  /** The session's facts, when something is known of it. */
  end(): readonly ReadItem[]
  isNamed(): boolean
}

function createReading(taken: Set<string>, options?: ReadOptions): PiReading {
  const fold = createPiFold()
  const watch = createDriftWatch(VOCABULARY, options)
  let named: Pick<Session, 'id' | 'native'> | undefined
  const toItem = ({ path }: SourceFile): ReadItem => {
    named = nameOf(path, fold.sessionId, taken)
    taken.add(named.id)
    return { type: 'session', session: { ...named, ...fold.current() } }
  }
  // Not in the frame that waits for the next: it would hold on to the last record meanwhile.
  const toItems = (step: Step, { path }: SourceFile): readonly ReadItem[] => {
    if ('record' in step) {
      const { record } = step
      if (watch !== undefined && isObject(record.value)) watchLine(watch, record.value, fold.version)
      const noted = options?.isForFacts === true ? undefined : exactNumbers(record.text)
      const said = fold.next(record.value)
      if (noted !== undefined) said.metadata = { ...said.metadata, [EXACT]: noted }
      return [{ type: 'entry', entry: { ...said, origin: originOf(PI, path, record) } }]
    }
    const { damage } = step
    if (damage.kind !== 'too-large') return [{ type: 'damage', damage }]
    const { id, sequence } = fold.skip()
    const entry = oversizedEntry(damage, { format: PI, file: path, source: 'primary', sequence })
    return [
      { type: 'damage', damage },
      { type: 'entry', entry: { ...entry, id } },
    ]
  }
  return {
    async *read(file) {
      for await (const steps of readInOrder(file)) {
        const items = steps.flatMap((step) => toItems(step, file))
        if (items.length === 0) continue
        if (named === undefined) items.unshift(toItem(file))
        yield items
      }
    },
    end: () => (named === undefined ? [] : [{ type: 'session', session: { ...named, ...fold.current() } }]),
    isNamed: () => named?.native !== undefined,
  }
}

/** One file is one session, and nothing beside it has a say in it. */
async function followPi(options?: ReadOptions): Promise<LogFollowing> {
  const reading = createReading(new Set(), options)
  let path: string | undefined
  let isOne = true
  return {
    async *more(added) {
      for (const file of added) {
        path ??= file.path
        isOne &&= file.path === path
        yield* reading.read(file)
      }
      yield reading.end()
    },
    isSure: () => isOne && reading.isNamed(),
  }
}

/** A later file of the same session is another recording of it: its own id, the same native name. */
function nameOf(
  path: string,
  sessionId: string | undefined,
  taken: ReadonlySet<string>,
): Pick<Session, 'id' | 'native'> {
  const id = sessionId === undefined ? uuidFrom(PI, '', path) : toSessionId(sessionId)
  return {
    id: taken.has(id) ? uuidFrom(PI, sessionId ?? '', path) : id,
    ...(sessionId !== undefined && { native: { agent: PI, sessionId } }),
  }
}
