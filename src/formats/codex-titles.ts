/** What threads are called: `session_index.jsonl`, which Codex keeps beside its folders of rollouts; the last name of a thread counts. */
import { asString, isObject, parseJson, type JsonObject } from '../transcript/json.ts'
import { readRecords } from '../transcript/records.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { CODEX, toSessionId } from './codex-facts.ts'
import { readText } from './document.ts'
import type { ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { asId } from './placing.ts'

const NAME = 'session_index.jsonl'

/** By thread. Empty where there is no index, or none that can be read. */
export async function readTitles(source: Source): Promise<ReadonlyMap<string, string>> {
  const titles = new Map<string, string>()
  // An archived rollout lies one folder below it. Others lie four below, and nothing is looked for that far above a file.
  const file = await source.find(source.kind === 'file' ? `../${NAME}` : NAME)
  // Nothing of the session is in it: one that cannot be read costs titles alone.
  const text = file === undefined ? undefined : await readText(file).catch(() => undefined)
  for (const line of typeof text === 'string' ? text.split('\n') : []) {
    const value = parseJson(line)
    const named = isObject(value) ? titleIn(value) : undefined
    if (named !== undefined) titles.set(named.thread, named.title)
  }
  return titles
}

/** True for the first records of such an index. */
export function isIndex({ records, strange }: Head): boolean {
  return (
    records.length > 0 &&
    strange === 0 &&
    records.every((record) => titleIn(record) !== undefined && !('type' in record))
  )
}

/**
 * An index read by itself: each thread that it names, with nothing recorded of it but that. Of more than are held, those so far are told
 * of, and again when they get another name.
 */
export async function* readIndex(file: SourceFile): AsyncGenerator<readonly ReadItem[]> {
  const titles = new Map<string, string>()
  let length = 0
  for await (const { records, damage } of readRecords(file)) {
    for (const { value } of records) {
      const named = isObject(value) ? titleIn(value) : undefined
      if (named === undefined) continue
      titles.set(named.thread, named.title)
      length += named.title.length
    }
    yield damage.map((one): ReadItem => ({ type: 'damage', damage: one }))
    if (titles.size < MOST_TITLES && length < MOST_LENGTH) continue
    yield toSessions(titles)
    titles.clear()
    length = 0
  }
  yield toSessions(titles)
}

function toSessions(titles: ReadonlyMap<string, string>): ReadItem[] {
  return [...titles].map(([sessionId, title]): ReadItem => ({
    type: 'session',
    session: {
      id: toSessionId(sessionId),
      native: { agent: CODEX, sessionId },
      agent: CODEX,
      title,
      status: 'completed',
    },
  }))
}

/** More threads than anybody has, and characters of their names: bounds memory. */
const MOST_TITLES = 20_000
const MOST_LENGTH = 4 * 1024 * 1024

function titleIn(record: JsonObject): { readonly thread: string; readonly title: string } | undefined {
  const thread = asId(record['id'])
  const title = asString(record['thread_name'])
  return thread === undefined || title === undefined || title === '' ? undefined : { thread, title }
}
