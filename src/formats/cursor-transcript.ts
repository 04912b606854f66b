/**
 * One of Cursor's agent transcripts, as JSON lines or as text. They say who spoke and what, and nothing else: no ids, times, tokens or
 * model. The session's name is the file's. A subagent's is a session of its own, linked to the call whose prompt it was given.
 */
import { citation as cite, type Entry } from '../transcript/entry.ts'
import { isUuid, uuidFrom } from '../transcript/ids.ts'
import { asArray, asObject, asString, isObject, type Json } from '../transcript/json.ts'
import { readLines } from '../transcript/lines.ts'
import type { Session } from '../transcript/session.ts'
import type { SourceFile } from '../transcript/source.ts'
import { aboutOf, fromMessage, unwrapQuery } from './cursor-content.ts'
import { createTextFold, type TextEntry } from './cursor-text.ts'
import type { DriftWatch } from './drift.ts'
import type { ReadItem } from './format.ts'
import type { IdSet } from './id-set.ts'
import type { Head } from './head-records.ts'
import { readInOrder, type Step } from './in-order.ts'
import { createPlacing, type Place, type Placing, type Said } from './placing.ts'

export const ID = 'cursor'

export type Shared = {
  /** Session ids given out so far: another recording of the same session gets its own. */
  readonly taken: Pick<IdSet, 'has' | 'add'>
  readonly drift: DriftWatch | undefined
}

/** The calls of a transcript by what they ask, for the subagents that answer them. */
export type Asked = Map<string, string>

/** A transcript that subagents lie below; `isNamed` when its folder is called like it. */
export type Above = { readonly session: string; readonly asked: Asked; readonly isNamed: boolean }

/** Prompts are held to find the call again: their beginnings tell them apart. */
const PROMPT_LENGTH = 2000
const MAX_ASKED = 10_000

export async function* readLinesTranscript(
  file: SourceFile,
  head: Head,
  shared: Shared,
  above: readonly Above[],
): AsyncGenerator<readonly ReadItem[], Above> {
  const session = toSession(file, shared, parentOf(head, above))
  const placing = createPlacing(ID)
  const asked: Asked = new Map()
  yield [{ type: 'session', session }]
  // Not in the frame that waits for the next: it would hold on to the last record meanwhile.
  const toItems = (step: Step): readonly ReadItem[] => {
    if ('damage' in step) {
      const { damage } = step
      const { kind, line = 1, byteOffset, byteLength, reason } = damage
      if (kind !== 'too-large') return [{ type: 'damage', damage }]
      const place = { file: file.path, number: line, byteOffset, byteLength }
      const blocks = [{ type: 'unknown', raw: null, reason }] as const
      return [
        { type: 'damage', damage },
        { type: 'entry', entry: placing({ kind: 'event', blocks }, place) },
      ]
    }
    const { value, number, byteOffset, byteLength } = step.record
    const entry = placing(fromRecord(value, shared.drift), {
      file: file.path,
      number,
      byteOffset,
      byteLength,
    })
    note(entry, session.id, asked)
    return [{ type: 'entry', entry }]
  }
  for await (const steps of readInOrder(file)) yield steps.flatMap(toItems)
  return { session: session.id, asked, isNamed: isCalledLikeItsFolder(file.path) }
}

export async function* readTextTranscript(
  file: SourceFile,
  shared: Shared,
): AsyncGenerator<readonly ReadItem[]> {
  const placing = createPlacing(ID)
  const fold = createTextFold()
  const give = (entries: readonly TextEntry[]): readonly ReadItem[] =>
    entries.map((one) => place(one, file, placing))
  yield [{ type: 'session', session: toSession(file, shared, undefined) }]
  for await (const lines of readLines(file.chunks())) {
    const items: ReadItem[] = []
    for (const line of lines) {
      const { number, byteOffset, byteLength } = line
      const damage = { file: file.path, line: number, byteOffset, byteLength }
      if (line.text === undefined)
        items.push({
          type: 'damage',
          damage: { ...damage, kind: 'too-large', reason: 'a line over the limit' },
        })
      else if (!line.isUtf8) {
        const reason = 'bytes that are no UTF-8, read as U+FFFD'
        items.push({ type: 'damage', damage: { ...damage, kind: 'not-utf8', reason } })
      }
      items.push(...give(fold.push(line)))
    }
    yield items
  }
  yield give(fold.end())
}

function place({ said, place: at }: TextEntry, file: SourceFile, placing: Placing): ReadItem {
  const whole: Place = { file: file.path, ...at }
  return { type: 'entry', entry: placing(said, whole) }
}

/** The file's name is the session's where it is a name at all: elsewhere many files are called the same. */
function toSession(file: SourceFile, { taken }: Shared, parent: Session['parent']): Session {
  const stem = file.path.slice(file.path.lastIndexOf('/') + 1).replace(/\.[a-z]+$/, '')
  const sessionId = isUuid(stem) ? stem : undefined
  const own = uuidFrom(ID, sessionId ?? file.path)
  const id = taken.has(own) ? uuidFrom(ID, sessionId ?? '', file.path) : own
  taken.add(id)
  return {
    id,
    ...(sessionId !== undefined && { native: { agent: ID, sessionId } }),
    agent: ID,
    // A transcript has no last word: one that stopped reads like one that is done.
    status: 'completed',
    ...(parent !== undefined && { parent }),
  }
}

function fromRecord(value: Json, drift: DriftWatch | undefined): Said {
  const role = isObject(value) ? asString(value['role']) : undefined
  const message = isObject(value) ? asObject(value['message']) : undefined
  if (!isObject(value) || role === undefined || message === undefined) {
    drift?.record('unknown', {})
    return { kind: 'event', blocks: [{ type: 'unknown', raw: value }] }
  }
  drift?.record('line', value)
  drift?.record('message', message)
  drift?.block(`role:${role}`)
  const model = asString(value['model']) ?? asString(message['model'])
  const said = fromMessage(role, message['content'], aboutOf(value), drift)
  return { ...said, ...(model !== undefined && said.role === 'assistant' && { model }) }
}

function note(entry: Entry, session: string, asked: Asked): void {
  for (const block of entry.blocks) {
    if (block.type !== 'tool-call' || asked.size >= MAX_ASKED) continue
    const prompt = asString(asObject(block.input)?.['prompt'])?.trim().slice(0, PROMPT_LENGTH)
    if (prompt !== undefined && prompt !== '' && !asked.has(prompt)) asked.set(prompt, cite(session, entry))
  }
}

/** The first thing that a subagent is told is the call's prompt. Without it, the folder tells whose it is, where it can. */
function parentOf({ records }: Head, above: readonly Above[]): Session['parent'] {
  const content = asObject(records.find(({ role }) => role === 'user')?.['message'])?.['content']
  const [first] = asArray(content) ?? [content]
  const text = typeof first === 'string' ? first : asString(asObject(first)?.['text'])
  const prompt = (text && (unwrapQuery(text)?.text ?? text).trim().slice(0, PROMPT_LENGTH)) || undefined
  for (const { session, asked } of above) {
    const citation = prompt === undefined ? undefined : asked.get(prompt)
    if (citation !== undefined) return { session, citation, relation: 'subagent' }
  }
  const [only, ...others] = above
  const owner = others.length === 0 ? only : above.find(({ isNamed }) => isNamed)
  return owner && { session: owner.session, relation: 'subagent' }
}

function isCalledLikeItsFolder(path: string): boolean {
  const [name, folder] = path.split('/').toReversed()
  return folder !== undefined && name === `${folder}.jsonl`
}
