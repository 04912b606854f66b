/**
 * Some JSON or JSON Lines with roles and contents, by no format known here. The last to be asked, and never sure: it says of how many of a
 * file's records it could tell who spoke. What it does not understand stays what it is, an event that holds it.
 */
import { counted } from '../transcript/counted.ts'
import { asArray, asObject, isObject, rest, type Json, type JsonObject } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { detectAmong } from './candidates.ts'
import type { Detection, Format, ReadItem } from './format.ts'
import { GENERIC_WORDS, fromGeneric, fromRoleText, speakerOf } from './generic-message.ts'
import { readFurther } from './further-head.ts'
import { readHead, type Head } from './head-records.ts'
import { readBareList, readListDocument } from './list-document.ts'
import { createPlacing, type Said } from './placing.ts'
import { readFold, type SessionFold } from './session-fold.ts'
import { createSpan } from './span.ts'
import { layoutOf, readLineSteps, readListSteps, type FileRecord, type FileStep } from './file-steps.ts'
import { unknownSaid } from './unknown.ts'
import { createKeeping } from './unsaid.ts'

const ID = 'generic'
const SUREST = 0.45

export const generic: Format = {
  id: ID,
  title: 'Generic: some JSON or JSON Lines with roles and contents',
  surest: SUREST,
  detect: (source) => detectAmong(source, async (file) => look(await readHead(file))),
  async *read(source) {
    const taken = new Set<string>()
    for (const file of await source.list()) {
      const head = await readFurther(file)
      if (source.kind === 'folder' && look(head) === undefined) continue
      yield* readFile(file, head, taken)
    }
  },
}

const LOOKED_AT = 50

function look(head: Head): Detection | undefined {
  const values = valuesOf(head).slice(0, LOOKED_AT)
  const speakers = values.map((value) => (isObject(value) ? speakerOf(value) : undefined))
  const others = values.filter((_, index) => speakers[index] === undefined)
  // No message is a conversation, so where half of them are messages nothing else is looked for.
  const conversations = others.length * 2 > values.length ? others.map(conversationIn) : []
  const isConversations = conversations.filter((one) => one !== undefined).length * 2 > values.length
  const said = isConversations
    ? conversations.flatMap(
        (one) => one?.said.flatMap(({ kind, role }) => (kind === 'message' ? [role] : [])) ?? [],
      )
    : speakers
  const known = said.filter((role) => role !== undefined)
  const share = known.length / Math.max(1, said.length)
  if (known.length === 0 || share <= 0.5) return undefined
  const roles = new Set(known)
  // A person and a model: a conversation. One of them alone may be anything.
  const isTalk = roles.has('user') && roles.has('assistant')
  const confidence = isTalk ? (share > 0.8 ? SUREST : 0.35) : 0.2
  const what = isConversations
    ? `messages in ${counted(values.length, 'conversation')}`
    : `of ${counted(said.length, 'record')}`
  return { confidence, reason: `who spoke could be told in ${known.length} ${what}` }
}

/** Where documents keep their messages. */
const LISTS = [
  'messages',
  'conversation',
  'conversations',
  'history',
  'turns',
  'chat',
  'dialogue',
  'dialog',
  'transcript',
  'traj',
  'entries',
  'items',
  'events',
  'data',
  'log',
]

/** The records of the head: of a document, those of the list that holds messages. */
function valuesOf(head: Head): readonly Json[] {
  if (layoutOf(head) === 'lines') return head.records
  const document = head.document ?? head.peeked ?? head.records[0]
  if (document === undefined) return []
  const list = asArray(document)
  if (list !== undefined) return list
  const key = isObject(document) ? listKey(document) : undefined
  return key === undefined ? [document] : (asArray(asObject(document)?.[key]) ?? [])
}

function listKey(document: JsonObject): string | undefined {
  return LISTS.find((key) =>
    asArray(document[key])?.some((one) => isObject(one) && speakerOf(one) !== undefined),
  )
}

type Conversation = { readonly said: readonly Said[]; readonly around: JsonObject | undefined }

/** What was said in one record that is a whole conversation: a list of messages, or a text with roles in it. */
function conversationIn(value: Json): Conversation | undefined {
  if (!isObject(value) || speakerOf(value) !== undefined) return undefined
  const key = listKey(value)
  if (key !== undefined) {
    const list = asArray(value[key]) ?? []
    const said = list.map((one) => (isObject(one) ? fromGeneric(one) : undefined) ?? unknownSaid(one))
    return { said, around: rest(value, new Set([key])) }
  }
  for (const [name, text] of Object.entries(value)) {
    const said = typeof text === 'string' ? fromRoleText(text) : undefined
    if (said !== undefined) return { said, around: rest(value, new Set([name])) }
  }
  return undefined
}

async function* readFile(
  file: SourceFile,
  head: Head,
  taken: Set<string>,
): AsyncGenerator<readonly ReadItem[]> {
  const values = valuesOf(head).slice(0, LOOKED_AT)
  const isConversations =
    values.filter((value) => conversationIn(value) !== undefined).length * 2 > values.length
  if (!isConversations)
    return yield* readFold(file, createGenericFold(), {
      format: ID,
      taken,
      steps: stepsOf(file, head),
      keeping: createKeeping(GENERIC_WORDS),
    })
  for await (const steps of stepsOf(file, head))
    yield steps.flatMap((step) => toConversation(step, file.path))
}

async function* stepsOf(file: SourceFile, head: Head): AsyncGenerator<readonly FileStep[]> {
  const layout = layoutOf(head)
  if (layout === 'list') return yield* readListSteps(await readBareList(file))
  if (layout === 'lines') return yield* readLineSteps(file)
  const document = asObject(head.document ?? head.peeked ?? head.records[0])
  const found = await readListDocument(file, (document && listKey(document)) ?? '', { isForLines: true })
  if (found.isLines) return yield* readLineSteps(file)
  yield* readListSteps(found)
}

function createGenericFold(): SessionFold {
  const span = createSpan()
  let model: string | undefined
  return {
    next(value) {
      const said = isObject(value) ? fromGeneric(value) : undefined
      span.see(said?.at)
      model ??= said?.model
      return said === undefined ? [] : [said]
    },
    facts: () => ({ ...(model !== undefined && { model }), ...span.facts() }),
  }
}

/** A record that is a conversation is a session of its own. */
function toConversation(step: FileStep, file: string): readonly ReadItem[] {
  const number = 'damage' in step ? (step.damage.line ?? 0) : step.record.number
  const session = { id: uuidFrom(ID, file, String(number)), status: 'completed' } as const
  if ('damage' in step)
    return [
      { type: 'session', session },
      { type: 'damage', damage: step.damage },
    ]
  const { value } = step.record
  const { said = [unknownSaid(value)], around } =
    (value === undefined ? undefined : conversationIn(value)) ?? {}
  const placing = createPlacing(ID)
  const place = toPlace(step.record, file)
  const entries = [...(around === undefined ? [] : [unknownSaid(around, 'conversation')]), ...said]
  return [
    { type: 'session', session },
    ...entries.map((one): ReadItem => ({ type: 'entry', entry: placing(one, place) })),
  ]
}

const toPlace = ({ number, byteOffset, byteLength }: FileRecord, file: string) => ({
  file,
  number,
  byteOffset,
  byteLength,
})
