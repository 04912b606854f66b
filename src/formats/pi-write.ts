/**
 * Sessions as pi writes them: what was read from one goes back as it was, line by line; what came from elsewhere becomes messages
 * of the tree, each below the one before unless it says otherwise. Each source has its own file, which names the main one as its
 * parent. What does not read back is reported by reading back each line that is written.
 */
import { PRIMARY } from '../transcript/entry.ts'
import { checkId, isSafeId, isUuid, uuidFrom } from '../transcript/ids.ts'
import type { Json } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { Writer } from './format.ts'
import { loseFacts } from './lost-facts.ts'
import { PI, createPiFold, toSessionId, type PiFold } from './pi-fold.ts'
import { createForeignLines, type ForeignLines } from './pi-foreign.ts'
import { toOwnLine, type PiEntry } from './pi-lines.ts'
import { loseByReading } from './read-back.ts'
import { canGoBack, checkFree, toLines } from './written-lines.ts'
import { EXACT } from './exact-numbers.ts'

export const piWriter: Writer = {
  root: '.pi',
  ignored: () => 'agent/sessions',
  begin(session, context) {
    const name = nameOf(session)
    const main = toPath(session, name)
    const lanes = new Map<string, Lane>()

    const laneOf = (source: string): Lane => {
      const known = lanes.get(source)
      if (known !== undefined) return known
      const id = source === PRIMARY ? name : uuidFrom(PI, name, source)
      const path = source === PRIMARY ? main : toPath(session, id)
      checkFree(path, context)
      const parent = source === PRIMARY ? undefined : main
      const lane = createLane(path, createForeignLines({ session, id, parent }))
      lanes.set(source, lane)
      return lane
    }
    const open = (lane: Lane, at: string | undefined): Json[] => {
      if (lane.isOpen) return []
      lane.isOpen = true
      if (session.cwd === undefined) context.filled(undefined, 'cwd')
      if (session.startedAt === undefined && at === undefined) context.filled(undefined, 'timestamp')
      return lane.lines.open(at)
    }

    return {
      start: () => [],
      entry(entry) {
        const lane = laneOf(entry.source)
        if (entry.origin?.format === PI) {
          lane.isOpen = true
          if (!canGoBack(entry, context)) return []
          return [lane.append([toOwnLine(entry)], entry.metadata?.[EXACT]).operation]
        }
        const header = lane.append(open(lane, entry.at)).operation.text
        const { lines, blocks, lost } = lane.lines.of(entry, context)
        const { operation, read } = lane.append(lines)
        const messages = read.filter(({ kind }) => kind === 'message')
        const [first] = messages
        const answer = messages.findLast(({ role }) => role === 'assistant')
        const held = {
          ...(first !== undefined && { id: first.id }),
          ...(entry.parent !== undefined &&
            first?.parent === lane.lines.toId(entry.parent) && { parent: entry.parent }),
          ...(answer?.usage !== undefined && { usage: answer.usage }),
          ...(answer?.stopReason !== undefined && { stopReason: answer.stopReason }),
          ...(answer?.call !== undefined && { call: answer.call }),
        }
        loseByReading(entry, { messages, held, blocks, lost }, 'pi has no message for it', context)
        const text = `${header}${operation.text}`
        return text === '' ? [] : [{ op: 'append', path: operation.path, text }]
      },
      end(ended) {
        const lane = laneOf(PRIMARY)
        const { operation } = lane.append(open(lane, ended.endedAt))
        const held = { id: toSessionId(name), native: { agent: PI, sessionId: name } }
        loseFacts(ended, { ...held, ...lane.fold.current() }, context)
        return operation.text === '' ? [] : [operation]
      },
    }
  },
}

/** One file that is being written. */
type Lane = {
  isOpen: boolean
  readonly fold: PiFold
  readonly lines: ForeignLines
  append(
    lines: readonly Json[],
    exact?: Json,
  ): {
    readonly operation: { readonly op: 'append'; readonly path: string; readonly text: string }
    readonly read: readonly PiEntry[]
  }
}

function createLane(path: string, lines: ForeignLines): Lane {
  const fold = createPiFold()
  return {
    isOpen: false,
    fold,
    lines,
    append(written, exact) {
      const read = written.map((line) => fold.next(line))
      const text = toLines(written, exact)
      return { operation: { op: 'append', path, text }, read }
    },
  }
}

/** The session's own id where it is pi's, else one that is the same each time. */
function nameOf({ native, id }: Session): string {
  if (native?.agent === PI && isSafeId(native.sessionId)) return native.sessionId
  return isUuid(id) ? id : uuidFrom(PI, id)
}

/** Longer folders than this no file system takes. */
const FOLDER_CHARACTERS = 200
const EPOCH = '1970-01-01T00:00:00.000Z'

/** `agent/sessions/--home-me-project--/2026-02-10T10-00-01-123Z_<id>.jsonl` */
function toPath({ cwd = '', startedAt = EPOCH }: Session, id: string): string {
  const folder = cwd
    .replace(/^[/\\]/, '')
    .replaceAll(/[^\w.-]/g, '-')
    .slice(0, FOLDER_CHARACTERS)
  const time = `${startedAt.slice(0, 23)}Z`.replaceAll(/[:.]/g, '-')
  return `agent/sessions/--${folder}--/${time}_${checkId(id, 'session id')}.jsonl`
}
