/** Writes the transcript slice: a line for each part of a message as it comes, numbered within its source. Nothing is cut short. */
import { hasBlob, type Block } from '../transcript/block.ts'
import { createSequence, hasOwnId, type Entry } from '../transcript/entry.ts'
import { checkId, isUuid, uuid4From, uuidFrom } from '../transcript/ids.ts'
import { asObject, toJson, type Json, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { createPairing } from '../transcript/tools.ts'
import { fromAnthropicUsage, toAnthropicUsage } from '../wire/anthropic-usage.ts'
import { keptRecord } from './claude-write.ts'
import { claimPath, type WriteContext, type Writer } from './format.ts'
import { FILE_NAME, TYPE_KEY, type TranscriptEntry } from './weakincentives-entry.ts'
import { createPassed } from './passed-entries.ts'
import { isWholeImage, loseEntry, loseEntryFacts, loseFacts, loseSession } from './lost-facts.ts'
import { OWN, toLine, toParts } from './weakincentives-parts.ts'

export const weakincentivesWriter: Writer = {
  root: 'agent_transcripts',
  ignored: () => '.',
  begin(session, context) {
    const apart = `${checkId(session.id, 'session id')}/${FILE_NAME}`
    let path: string | undefined
    const nextSequence = createSequence()
    const pairing = createPairing<undefined>()
    const followed = createFollowed()
    let at = session.startedAt
    /** The session as its lines alone tell it. */
    let read: Partial<Session> = { status: 'completed' }

    const toLines = (entry: Entry): Json[] => {
      if (entry.at === undefined) context.filled(entry, 'created_at')
      at = entry.at ?? at
      const { parent, isNext, isFirst } = followed.write(entry)
      read = readSession(read, entry, toEntryId(entry, 0, session), toMicros(at ?? EPOCH))
      for (const block of entry.blocks) {
        if (block.type === 'tool-call') pairing.open(entry.source, block, undefined)
      }
      const { parent: given, ...orphan } = entry
      // Order says what follows what: only a parent that is another says more.
      const said = isNext || typeof parent !== 'string' ? orphan : { ...entry, parent }
      const parts = toParts(said, (result) => {
        const answered = pairing.answer(entry.source, result)
        return result.name ?? answered?.call.name
      })
      const isOrphaned = parent === null && !isFirst
      const held = isOrphaned ? undefined : given
      loseOfEntry(entry, { parent: held, lines: parts.length, id: toEntryId(entry, 0, session) }, context)
      return parts.map((part, index) => {
        const line = toLine(part, {
          at: at ?? EPOCH,
          id: toEntryId(entry, index, session),
          source: entry.source,
          sequence: nextSequence(entry.source),
        })
        return withOwn(line, entry)
      })
    }

    return {
      start: () => [],
      entry(entry) {
        const strange = strangeLine(entry)
        if (strange === undefined && !isMessage(entry)) {
          followed.pass(entry)
          loseEntry(entry, 'it is no message of a system, user, assistant or tool', context)
          return []
        }
        // The slice holds one session: a second one in the same place gets a folder of its own.
        path ??= claimPath(context, FILE_NAME) ? FILE_NAME : apart
        const lines = strange === undefined ? toLines(entry) : [strange]
        return [{ op: 'append', path, text: lines.map((line) => `${toJson(line)}\n`).join('') }]
      },
      end(ended) {
        if (read.id === undefined) loseSession('it has no messages', context)
        else loseFacts(ended, read, context)
        return []
      },
    }
  },
}

/** The seed's roles are those of a conversation: parameters, retries, errors and the like are no entries of it. */
function isMessage({ kind, role }: Entry): boolean {
  return kind === 'message' && role !== undefined
}

/** A line of a slice's file that is no TranscriptEntry goes back as it was. */
function strangeLine(entry: Entry): Json | undefined {
  return entry.origin?.format === OWN && !hasOwnId(entry) ? keptRecord(entry) : undefined
}

/** What each line follows, past entries that have no line. */
function createFollowed() {
  const last = new Map<string, string>()
  const { pass, resolve } = createPassed()
  return {
    pass,
    write({ id, parent, source }: Entry) {
      const before = last.get(source)
      last.set(source, id)
      const followed = resolve(parent)
      return { parent: followed, isNext: followed === before, isFirst: before === undefined }
    },
  }
}

const EPOCH = '1970-01-01T00:00:00.000Z'

/** The entry's own id on its first line; the lines after it have ids made from it, the same each time. */
function toEntryId(entry: Entry, index: number, session: Session): string {
  const isOwn = (entry.origin?.format === OWN && hasOwnId(entry)) || isUuid(entry.id)
  if (index > 0) return uuid4From(session.id, entry.id, String(index))
  return isOwn ? entry.id : uuid4From(session.id, entry.id)
}

/** A line that was read is written as it was: its own fields win over ours. */
function withOwn(line: TranscriptEntry, entry: Entry): JsonObject {
  const own = entry.origin?.format === OWN ? asObject(entry.metadata?.[OWN]) : undefined
  if (own === undefined) return line
  const { [TYPE_KEY]: type, ...fields } = own
  return { ...(type !== undefined && { [TYPE_KEY]: type }), ...line, ...fields }
}

/** What the reader will make of the session: its id from its first line, its times from the earliest and the latest. */
function readSession(read: Partial<Session>, { model }: Entry, id: string, at: string): Partial<Session> {
  const { startedAt = at, endedAt = at } = read
  return {
    ...(model !== undefined && { model }),
    id: uuidFrom(OWN, id),
    ...read,
    startedAt: at < startedAt ? at : startedAt,
    endedAt: at > endedAt ? at : endedAt,
  }
}

type Written = { readonly id: string; readonly parent: Entry['parent']; readonly lines: number }

function loseOfEntry(entry: Entry, { id, parent, lines }: Written, context: WriteContext): void {
  const { role, at, usage, blocks, ...held } = entry
  const isRoleHeld = blocks.every(({ type }) => roleOf(type) === undefined || roleOf(type) === role)
  const { parent: _, ...others } = held
  const losses = blocks.flatMap((block) => [...blockLosses(block)])
  loseEntryFacts(
    entry,
    {
      ...others,
      id,
      ...(parent !== undefined && { parent }),
      ...(isRoleHeld && role !== undefined && { role }),
      ...(at !== undefined && { at: toMicros(at) }),
      ...(usage !== undefined && {
        usage: { ...fromAnthropicUsage(toAnthropicUsage(usage)), quality: usage.quality },
      }),
      callIds: true,
    },
    context,
    lines > 1 ? [...losses, 'block boundaries'] : losses,
  )
}

/** A line of a tool has one role, whoever's message it was. */
function roleOf(type: Block['type']): Entry['role'] {
  return type === 'tool-call' ? 'assistant' : type === 'tool-result' ? 'tool' : undefined
}

function* blockLosses(block: Block): Generator<string> {
  if (hasBlob(block)) yield 'content kept in a blob'
  if (block.type === 'unknown' && block.reason !== undefined) yield `content withheld: ${block.reason}`
  if (block.type === 'image' && !isWholeImage(block)) yield 'image facts'
  if (block.type !== 'thinking' || block.redacted === undefined) return
  if (block.text !== '' || block.signature !== undefined) yield 'encrypted thinking beside its text'
}

/** Nanoseconds are cut off. */
function toMicros(at: string): string {
  return at.length > MICROS.length ? `${at.slice(0, MICROS.length - 1)}Z` : at
}

const MICROS = '2026-01-01T00:00:00.000000Z'
