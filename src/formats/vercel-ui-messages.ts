/**
 * Messages of Vercel's AI SDK as its user interfaces keep them (`UIMessage`, version 5 and later; version 4's `toolInvocations` too): a list,
 * a document around one, or a line each. One of them holds all steps of an answer; each step is an entry, and so is each tool's result.
 */
import { counted } from '../transcript/counted.ts'
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { detectAmong } from './candidates.ts'
import type { Detection, Format, ReadItem } from './format.ts'
import { readFurther } from './further-head.ts'
import { readHead, type Head } from './head-records.ts'
import { readBareList, readListDocument } from './list-document.ts'
import { readFold, type SessionFold } from './session-fold.ts'
import { layoutOf, readLineSteps, readListSteps, type FileStep } from './file-steps.ts'
import { unknownSaid } from './unknown.ts'
import { createSpan } from './span.ts'
import { createKeeping } from './unsaid.ts'
import { fromUiMessage } from './vercel-ui-parts.ts'
import { vercelUiWriter } from './vercel-ui-write.ts'

const ID = 'vercel-ui-messages'

export const vercelUiMessages: Format = {
  id: ID,
  title: "Vercel's AI SDK: UI messages",
  detect: (source) => detectAmong(source, async (file) => look(await readHead(file))),
  async *read(source) {
    const taken = new Set<string>()
    for (const file of await source.list()) {
      const head = await readFurther(file)
      if (source.kind === 'folder' && look(head) === undefined) continue
      yield* readMessages(file, head, taken)
    }
  },
  write: vercelUiWriter,
}

const LOOKED_AT = 50

function look(head: Head): Detection | undefined {
  const isLines = layoutOf(head) === 'lines'
  const document = isLines ? undefined : (head.document ?? head.peeked ?? head.records[0])
  const list = isLines ? head.records : (asArray(document) ?? asArray(asObject(document)?.['messages']) ?? [])
  const values = list.slice(0, LOOKED_AT)
  const own = values.filter((value) => isObject(value) && (isUiMessage(value) || isFixture(value))).length
  if (own === 0 || own * 2 <= values.length + (isLines ? head.strange : 0)) return undefined
  // Text alone is said alike by others who have parts.
  const isSure = values.some((value) => isObject(value) && (isFixture(value) || isToldByParts(value)))
  return { confidence: isSure ? 0.93 : 0.7, reason: `${counted(own, 'message')} of Vercel's AI SDK` }
}

const ROLES: ReadonlySet<string> = new Set(['system', 'user', 'assistant'])

function isUiMessage(value: JsonObject): boolean {
  const { id, role, parts, toolInvocations, content } = value
  if (!ROLES.has(asString(role) ?? '') || 'info' in value) return false
  if (Array.isArray(parts))
    return (
      parts.every((part: Json) => asString(asObject(part)?.['type']) !== undefined) && !('sessionID' in value)
    )
  return Array.isArray(toolInvocations) && typeof content === 'string' && typeof id === 'string'
}

function isToldByParts({ parts, toolInvocations }: JsonObject): boolean {
  if (Array.isArray(toolInvocations)) return true
  return (asArray(parts) ?? []).some((part) => {
    const { type, state } = asObject(part) ?? {}
    return (
      type === 'step-start' ||
      type === 'dynamic-tool' ||
      (typeof type === 'string' && type.startsWith('tool-') && typeof state === 'string')
    )
  })
}

/** How the SDK's own tests keep what a stream became: `{input: {chunks}, writes}`, the last of which is the message. */
function isFixture({ input, writes }: JsonObject): boolean {
  return Array.isArray(asObject(input)?.['chunks']) && Array.isArray(writes)
}

/** Names of fields, and values that entries say in their own way. */
const WORDS = `id role parts metadata type text state content toolInvocations system user assistant done streaming step-start reasoning file
  mediaType url toolCallId toolName input output errorText output-available output-error input-available input-streaming args result call`

async function* readMessages(
  file: SourceFile,
  head: Head,
  taken: Set<string>,
): AsyncGenerator<readonly ReadItem[]> {
  const keeping = createKeeping(WORDS)
  yield* readFold(file, createUiFold(), { format: ID, taken, steps: stepsOf(file, head), keeping })
}

async function* stepsOf(file: SourceFile, head: Head): AsyncGenerator<readonly FileStep[]> {
  const layout = layoutOf(head)
  if (layout === 'list') return yield* readListSteps(await readBareList(file))
  if (layout === 'lines') return yield* readLineSteps(file)
  const document = await readListDocument(file, 'messages', { isForLines: true })
  if (document.isLines) return yield* readLineSteps(file)
  yield* readListSteps(document)
}

export function createUiFold(): SessionFold {
  const span = createSpan()
  let around: JsonObject | undefined
  return {
    next(value, number) {
      if (!isObject(value)) return []
      if (number === 0) {
        around = value
        return [unknownSaid(value, 'chat')]
      }
      const last = isFixture(value) ? asObject(asArray(value['writes'])?.at(-1)) : undefined
      const said =
        last !== undefined
          ? [unknownSaid(value, 'stream'), ...fromUiMessage(last)]
          : isUiMessage(value)
            ? fromUiMessage(value)
            : []
      for (const { at } of said) span.see(at)
      return said
    },
    facts() {
      const sessionId = asString(around?.['id'])
      const title = asString(around?.['title']) || undefined
      return {
        ...(sessionId !== undefined && sessionId !== '' && { sessionId }),
        ...(title !== undefined && { title }),
        ...span.facts(),
      }
    },
  }
}
