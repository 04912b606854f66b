/**
 * Rollouts as Codex writes them: what was read from one goes back as it was, line by line; what came from elsewhere becomes items
 * in the same envelopes, with the events that Codex's own resume looks for. Each source has its own rollout, as Codex's subagents
 * have. What does not read back is reported by reading back each line that is written.
 */
import { PRIMARY } from '../transcript/entry.ts'
import { checkId, isSafeId, isUuid, uuidFrom } from '../transcript/ids.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { CODEX, createCodexFacts, toSessionId, type FactsFold } from './codex-facts.ts'
import { createLineFold, type FoldedLine } from './codex-fold.ts'
import { createForeignLines, type ForeignLines } from './codex-foreign.ts'
import { toOwnLine } from './codex-lines.ts'
import type { Writer } from './format.ts'
import { loseFacts } from './lost-facts.ts'
import { loseByReading, type ReadBack } from './read-back.ts'
import { canGoBack, checkFree, toLines } from './written-lines.ts'
import { EXACT } from './exact-numbers.ts'

export const codexWriter: Writer = {
  root: '.codex',
  ignored: () => 'sessions',
  begin(session, context) {
    const name = threadOf(session)
    const lanes = new Map<string, Lane>()

    const laneOf = (source: string): Lane => {
      const known = lanes.get(source)
      if (known !== undefined) return known
      const thread = source === PRIMARY ? name : uuidFrom(CODEX, name, source)
      const path = toPath(session, thread)
      checkFree(path, context)
      const lane = createLane({ path, thread, session, source, root: name })
      lanes.set(source, lane)
      return lane
    }
    const open = ({ isOpen, lines }: Lane, at: string | undefined): JsonObject[] => {
      if (isOpen) return []
      if (session.cwd === undefined) context.filled(undefined, 'cwd')
      if (session.version === undefined) context.filled(undefined, 'cli_version')
      if (session.startedAt === undefined && at === undefined) context.filled(undefined, 'timestamp')
      return lines.open(at, context.version)
    }

    return {
      start: () => [],
      entry(entry) {
        const lane = laneOf(entry.source)
        if (entry.origin?.format === CODEX) {
          lane.isOpen = true
          if (!canGoBack(entry, context)) return []
          return [lane.append([toOwnLine(entry)], entry.metadata?.[EXACT]).operation]
        }
        lane.isForeign = true
        const header = open(lane, entry.at)
        const before = lane.append(header)
        const { lines, lost } = lane.lines.of(entry, context)
        const { operation, read } = lane.append(lines)
        const { why, ...back } = toReadBack(read, entry.parent === lane.last ? lane.last : undefined)
        loseByReading(entry, { ...back, lost }, why, context)
        lane.last = entry.id
        const { op, path } = operation
        const text = `${before.operation.text}${operation.text}`
        lane.isOpen = true
        return text === '' ? [] : [{ op, path, text }]
      },
      end(ended) {
        const primary = laneOf(PRIMARY)
        const isOwn = primary.isOpen && !primary.isForeign
        const lines = isOwn ? [] : [...open(primary, ended.endedAt), ...primary.lines.close(ended)]
        const { operation } = primary.append(lines)
        const held = { id: toSessionId(name), native: { agent: CODEX, sessionId: name } }
        loseFacts(ended, { ...held, ...primary.facts.current() }, context)
        return operation.text === '' ? [] : [operation]
      },
    }
  },
}

/** One rollout that is being written. */
type Lane = {
  isOpen: boolean
  /** Something in it came from elsewhere. */
  isForeign: boolean
  /** The entry before. */
  last: string | undefined
  readonly facts: FactsFold
  readonly lines: ForeignLines
  append(
    lines: readonly Json[],
    exact?: Json,
  ): {
    readonly operation: { readonly op: 'append'; readonly path: string; readonly text: string }
    readonly read: readonly FoldedLine[]
  }
}

type LaneOptions = {
  readonly path: string
  readonly thread: string
  readonly session: Session
  readonly source: string
  readonly root: string
}

function createLane({ path, thread, session, source, root }: LaneOptions): Lane {
  const facts = createCodexFacts()
  const fold = createLineFold(facts, () => thread)
  const parent = source === PRIMARY ? undefined : { thread: root, name: source.slice('subagent:'.length) }
  const lane: Lane = {
    isOpen: false,
    isForeign: false,
    last: undefined,
    facts,
    lines: createForeignLines({ session, thread, ...(parent !== undefined && { parent }) }),
    append(lines, exact) {
      const read = lines.map((line) => fold.next(line))
      const text = toLines(lines, exact)
      return { operation: { op: 'append', path, text }, read }
    },
  }
  return lane
}

/**
 * `parent` is the entry before where this one says that it follows it: order says the same. What a call used stands on what the model
 * said last, and on no message where a prompt came after it or nothing was said.
 */
function toReadBack(
  read: readonly FoldedLine[],
  parent: string | undefined,
): Omit<ReadBack, 'lost'> & { readonly why: string } {
  const count = read.find((line) => line.count !== undefined)?.count
  const messages = read.flatMap(({ line }) => (line.kind === 'message' ? [line] : []))
  const last = messages.findLast(({ role }) => role === 'assistant' || role === 'user')
  const isCounted = count !== undefined && last?.role === 'assistant'
  return {
    messages,
    held: {
      ...(isCounted && { usage: count.usage }),
      ...(parent !== undefined && { parent }),
    },
    why: whyLost(read),
  }
}

function whyLost(read: readonly FoldedLine[]): string {
  const isUsed = read.some(({ count }) => count !== undefined)
  return isUsed ? 'Codex keeps only what it used' : 'Codex has no record for it'
}

/** The thread's own id where the session is Codex's, else one that is the same each time. */
function threadOf({ native, id }: Session): string {
  if (native?.agent === CODEX && isSafeId(native.sessionId)) return native.sessionId
  return isUuid(id) ? id : uuidFrom(CODEX, id)
}

const EPOCH = '1970-01-01T00:00:00.000Z'

/** `sessions/2026/02/10/rollout-2026-02-10T10-00-01-<thread>.jsonl`, in UTC: Codex itself uses local time. */
function toPath({ startedAt = EPOCH }: Session, thread: string): string {
  const [date = '', time = ''] = startedAt.split('T')
  const stamp = `${date}T${time.slice(0, 8).replaceAll(':', '-')}`
  return `sessions/${date.replaceAll('-', '/')}/rollout-${stamp}-${checkId(thread, 'thread id')}.jsonl`
}
