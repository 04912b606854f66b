/** The transcript slice, a line for each part of an entry as it comes, numbered within its source. Nothing is cut short. */
import { hasBlob } from '../transcript/block.ts'
import { createSequence, type Entry } from '../transcript/entry.ts'
import { checkId, isUuid, uuidFrom } from '../transcript/ids.ts'
import { asObject, toJson, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { createPairing } from '../transcript/tools.ts'
import { claimPath, type WriteContext, type Writer } from './format.ts'
import { FILE_NAME, TYPE_KEY, type TranscriptEntry } from './weakincentives-entry.ts'
import { FACTS, loseFacts } from './lost-facts.ts'
import { OWN, toLine, toParts } from './weakincentives-parts.ts'

export const weakincentivesWriter: Writer = {
  root: 'agent_transcripts',
  ignored: () => '.',
  begin(session, context) {
    const apart = `${checkId(session.id, 'session id')}/${FILE_NAME}`
    let path = FILE_NAME
    const nextSequence = createSequence()
    const pairing = createPairing<undefined>()
    const last = new Map<string, string>()
    let at = session.startedAt

    const toLines = (entry: Entry): string[] => {
      loseOfEntry(entry, context)
      if (entry.at === undefined) context.filled(entry, 'created_at')
      at = entry.at ?? at
      const isNext = entry.parent === last.get(entry.source)
      last.set(entry.source, entry.id)
      for (const block of entry.blocks) {
        if (block.type === 'tool-call') pairing.open(entry.source, block, undefined)
      }
      // Order says what follows what: only a parent that is another says more.
      const { parent, ...orphan } = entry
      const parts = toParts(isNext || parent === null ? orphan : entry, (result) => {
        const answered = pairing.answer(entry.source, result)
        return result.name ?? answered?.call.name
      })
      return parts.map((part, index) => {
        const line = toLine(part, {
          at: at ?? EPOCH,
          id: toEntryId(entry, index, session),
          source: entry.source,
          sequence: nextSequence(entry.source),
        })
        return toJson(withOwn(line, entry))
      })
    }

    return {
      start() {
        // The slice holds one session: a second one in the same place gets a folder of its own.
        path = claimPath(context, FILE_NAME) ? FILE_NAME : apart
        return [{ op: 'create', path, content: '' }]
      },
      entry: (entry) => [
        {
          op: 'append',
          path,
          text: toLines(entry)
            .map((line) => `${line}\n`)
            .join(''),
        },
      ],
      end(ended) {
        loseFacts(ended, [...FACTS, 'cwd', 'git', 'version'], at, context)
        return []
      },
    }
  },
}

const EPOCH = '1970-01-01T00:00:00.000Z'

/** The entry's own id on its first line; the lines after it have ids made from it, the same each time. */
function toEntryId(entry: Entry, index: number, session: Session): string {
  const isOwn = entry.origin?.format === OWN || isUuid(entry.id)
  if (index > 0) return uuidFrom(session.id, entry.id, String(index))
  return isOwn ? entry.id : uuidFrom(session.id, entry.id)
}

/** A line that was read is written as it was: its own fields win over ours. */
function withOwn(line: TranscriptEntry, entry: Entry): JsonObject {
  const own = entry.origin?.format === OWN ? asObject(entry.metadata?.[OWN]) : undefined
  if (own === undefined) return line
  const { [TYPE_KEY]: type, ...fields } = own
  return { ...(type !== undefined && { [TYPE_KEY]: type }), ...line, ...fields }
}

function loseOfEntry(entry: Entry, context: WriteContext): void {
  if (entry.at !== undefined && entry.at.length > '2026-01-01T00:00:00.000000Z'.length) {
    context.lost(entry, 'nanoseconds')
  }
  for (const block of entry.blocks) {
    if (block.type === 'tool-call' && entry.role !== 'assistant')
      context.lost(entry, `role ${entry.role ?? 'none'}`)
    if (block.type === 'tool-result' && entry.role !== 'tool' && entry.role !== 'user') {
      context.lost(entry, `role ${entry.role ?? 'none'}`)
    }
    if (hasBlob(block)) context.lost(entry, 'content kept in a blob')
    if (block.type === 'unknown' && block.reason !== undefined)
      context.lost(entry, `content withheld: ${block.reason}`)
    if (
      block.type === 'thinking' &&
      block.redacted !== undefined &&
      (block.text !== '' || block.signature !== undefined)
    ) {
      context.lost(entry, 'encrypted thinking beside its text')
    }
  }
}
