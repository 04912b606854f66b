/**
 * Entries of other formats as lines of Claude Code: one line each, every message below the one before it in its source unless it
 * says otherwise. Events stand between them and outside the chain, for Claude Code follows it through messages only.
 */
import { textOf } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { isUuid, uuidFrom } from '../transcript/ids.ts'
import { asObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { createToolNames, loseOfLine } from './claude-losses.ts'
import { toTimestamp } from './claude-time.ts'
import { entryTimestamp, isOwnLine, lineType, toClaudeLine } from './claude-write.ts'
import type { WriteContext } from './format.ts'

export type ForeignLines = { of(entry: Entry): Json }

type Options = {
  readonly session: Session
  /** The session's id in its lines. */
  readonly name: string
  readonly context: WriteContext
}

const EPOCH = '1970-01-01T00:00:00.000Z'

export function createForeignLines({ session, name, context }: Options): ForeignLines {
  const names = createToolNames()
  /** The last message of each source. */
  const last = new Map<string, string>()
  /** What stands in the chain for an event: the message before it. */
  const standIns = new Map<string, string | null>()
  let isFirst = true
  let at = session.startedAt

  const fillSession = (): void => {
    isFirst = false
    if (session.cwd === undefined) context.filled(undefined, 'cwd')
    if (session.version === undefined) context.filled(undefined, 'version')
  }
  const toUuid = (id: string, entry: Entry): string =>
    isOwnLine(entry) || isUuid(id) ? id : uuidFrom(name, id)

  return {
    of(entry) {
      if (isFirst) fillSession()
      if (entry.at === undefined) context.filled(entry, 'timestamp')
      at = entry.at ?? at
      const uuid = toUuid(entry.id, entry)
      const before = last.get(entry.source) ?? null
      const above = typeof entry.parent === 'string' ? toUuid(entry.parent, entry) : entry.parent
      const isInChain = lineType(entry) !== 'event'
      const parentUuid =
        above === undefined
          ? before
          : typeof above === 'string' && isInChain
            ? (standIns.get(above) ?? above)
            : above
      if (isInChain) last.set(entry.source, uuid)
      else standIns.set(uuid, parentUuid)
      const branch = session.git?.branch
      const line = toClaudeLine(entry, {
        sessionId: name,
        uuid,
        parentUuid,
        timestamp: entryTimestamp(entry) ?? toTimestamp(at ?? EPOCH),
        cwd: session.cwd ?? '',
        version: session.version ?? context.version,
        ...(branch !== undefined && { gitBranch: branch }),
      })
      const others = names.lostOf(entry)
      if (typeof above === 'string' && parentUuid !== above) others.push('parent')
      loseOfLine(entry, uuid, context, others, 'claude-code')
      const object = asObject(line)
      return object === undefined || isOwnLine(entry) ? line : withEnvelope(object, entry, name, context)
    },
  }
}

/** What Claude Code looks for on every line, and on an answer. */
function withEnvelope(line: JsonObject, entry: Entry, name: string, context: WriteContext): JsonObject {
  const wrapped = { isSidechain: false, userType: 'external', ...line }
  const message = asObject(line['message'])
  if (line['type'] === 'system') {
    // It shows a system's line by its text, and has no message in it.
    return { ...wrapped, subtype: 'informational', level: 'info', content: textOf(entry.blocks) }
  }
  if (line['type'] !== 'assistant' || message === undefined) return wrapped
  if (message['id'] === undefined) context.filled(entry, 'message.id')
  const id = `msg_${uuidFrom(name, entry.id).replaceAll('-', '')}`
  return { ...wrapped, message: { id, type: 'message', ...message } }
}
