/** A task of the Cline family, from whichever of its files there are: what was sent, what was shown, and what is said about it. */
import { fromMillis } from '../transcript/instant.ts'
import { asNumber, asObject, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { createTaskFold, modelTimes, type TaskFacts } from './cline-facts.ts'
import { fromHistoryMessage } from './cline-history.ts'
import { mergeLists, type Merged } from './cline-merge.ts'
import { fromUiMessage } from './cline-ui.ts'
import { answerUsage } from './cline-usage.ts'
import { watchMessage } from './cline-vocabulary.ts'
import { readDocument, type Document } from './document.ts'
import type { DriftWatch } from './drift.ts'
import type { ReadItem } from './format.ts'
import { readBareList, type ListDocument } from './list-document.ts'
import type { ListElement } from './list-salvage.ts'
import { createPlacing, type Place, type Said } from './placing.ts'

export const ID = 'cline'

export type TaskFiles = {
  readonly history?: SourceFile
  readonly ui?: SourceFile
  readonly sidecars: readonly SourceFile[]
}

export type TaskOptions = {
  /** As the folder is called; undefined where that says nothing. */
  readonly folder: string | undefined
  readonly watch: DriftWatch | undefined
  /** The session's own item, once its facts are known. */
  readonly open: (facts: TaskFacts) => ReadItem
}

export async function* readTask(
  files: TaskFiles,
  { folder, watch, open }: TaskOptions,
): AsyncGenerator<readonly ReadItem[]> {
  const history = await readList(files.history)
  const ui = await readList(files.ui)
  const sidecars: { readonly file: SourceFile; readonly document: Document }[] = []
  for (const file of files.sidecars) sidecars.push({ file, document: await readDocument(file) })
  const said = sidecars.map(({ document }) => document.raw)
  // Read twice: what the whole of both lists says comes first.
  const fold = createTaskFold()
  let [isIndexed, isTimed] = [false, false]
  // Not in this frame: it would hold on to the last of them while the next are read.
  const takeShown = ({ value }: ListElement): void => {
    const message = asObject(value)
    isIndexed ||= asNumber(message?.['conversationHistoryIndex']) !== undefined
    fold.shown(message)
  }
  const takeSent = ({ value }: ListElement): void => {
    const message = asObject(value)
    isTimed ||= asNumber(message?.['ts']) !== undefined
    fold.sent(message)
  }
  for await (const some of ui.elements()) some.forEach(takeShown)
  for await (const some of history.elements()) some.forEach(takeSent)
  const facts = fold.facts(said)
  yield [open(facts)]
  const documents = sidecars.flatMap(({ document }) => document.damage ?? [])
  yield [...history.damage, ...ui.damage, ...documents].map((damage): ReadItem => ({
    type: 'damage',
    damage,
  }))

  const placing = createPlacing(ID)
  const toItem = (one: Said, place: Place): ReadItem => ({ type: 'entry', entry: placing(one, place) })
  yield sidecars
    .filter(({ document }) => document.damage === undefined)
    .map(({ file, document }) => toItem(fromSidecar(file.path, document.raw), wholeOf(file.path, document)))
  const [isBeside, isShown] = [(history.count ?? 0) > 0, (ui.count ?? 0) > 0]
  const modelAt = modelTimes(said)
  const order = { isIndexed, isTimed, task: facts.task ?? folder ?? facts.began }
  for await (const merged of mergeLists(history.elements(), ui.elements(), order)) {
    yield merged.map((one) => {
      const { value, byteOffset, byteLength } = one.element
      const { path } = one.from === 'history' ? history : ui
      const place = { file: path, number: one.index + 1, byteOffset, byteLength }
      if (value === undefined) return toItem(TOO_LARGE, place)
      if (!isObject(value)) return toItem({ kind: 'event', blocks: [{ type: 'unknown', raw: value }] }, place)
      if (watch !== undefined) watchMessage(watch, one.from, value, facts.version)
      return toItem(
        one.from === 'history'
          ? fromSent(value, one, isShown)
          : fromShown(value, one, { isBeside, known: modelAt(asNumber(value['ts'])) }),
        place,
      )
    })
  }
}

type List = Pick<ListDocument, 'damage' | 'count' | 'elements'> & { readonly path: string }

async function readList(file: SourceFile | undefined): Promise<List> {
  if (file === undefined) return { path: '', count: 0, damage: [], async *elements() {} }
  return { path: file.path, ...(await readBareList(file)) }
}

const TOO_LARGE: Said = {
  kind: 'event',
  blocks: [{ type: 'unknown', raw: null, reason: 'a message over the limit, left where it is' }],
}

/** Counts stand with the request that was shown; only a history that is alone has none but its own. */
function fromSent(value: JsonObject, { messageId, model }: Merged, isShown: boolean): Said {
  const said = fromHistoryMessage(value)
  if (said === undefined) return { kind: 'event', blocks: [{ type: 'unknown', raw: value }] }
  if (said.role !== 'assistant') return said
  const metrics = isShown ? undefined : asObject(value['metrics'])
  const usage = metrics && answerUsage(metrics)
  return {
    ...(model !== undefined && { model }),
    ...said,
    ...(usage !== undefined && { usage }),
    ...(messageId !== undefined && { call: { messageId } }),
  }
}

function fromShown(
  value: JsonObject,
  { index, messageId, model }: Merged,
  { isBeside, known }: { readonly isBeside: boolean; readonly known: string | undefined },
): Said {
  if (value['type'] !== 'say' && value['type'] !== 'ask') {
    return { kind: 'event', blocks: [{ type: 'unknown', raw: value }], ...timeOf(value) }
  }
  return fromUiMessage(value, { isBeside, isFirst: index === 0, model: known ?? model, messageId })
}

function timeOf(value: JsonObject): Pick<Said, 'at'> {
  const at = fromMillis(asNumber(value['ts']) ?? Number.NaN)
  return at === undefined ? {} : { at }
}

export function fromSidecar(path: string, raw: Json): Said {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.json$/, '')
  const known = isObject(raw) && /^(task_metadata|history_item)$/.test(name) ? name : 'document'
  return { kind: 'event', blocks: [{ type: 'unknown', raw }], metadata: { record: known } }
}

/** Number 0 stands for what is around a list, or has none. */
export function wholeOf(file: string, { bytes }: Pick<Document, 'bytes'>): Place {
  return { file, number: 0, byteOffset: 0, byteLength: bytes }
}
