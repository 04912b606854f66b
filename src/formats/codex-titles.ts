/** What threads are called: `session_index.jsonl`, which Codex keeps beside its folders of rollouts; the last name of a thread counts. */
import { asString, isObject, parseJson } from '../transcript/json.ts'
import type { Source } from '../transcript/source.ts'
import { readText } from './document.ts'
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
    const thread = isObject(value) ? asId(value['id']) : undefined
    const title = isObject(value) ? asString(value['thread_name']) : undefined
    if (thread !== undefined && title !== undefined && title !== '') titles.set(thread, title)
  }
  return titles
}
