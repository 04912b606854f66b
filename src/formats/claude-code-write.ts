/**
 * Logs as Claude Code writes them: what was read from one goes back as it was, line by line and file by file; what came from
 * elsewhere becomes lines of the same shape, in a chain of messages that Claude Code can resume, each subagent's in a log of its own.
 */
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { isSafeId, isUuid, uuidFrom } from '../transcript/ids.ts'
import { isObject, toJson, type Json } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { agentOf } from './claude-code-files.ts'
import { createForeignLines } from './claude-code-foreign.ts'
import { isDerived } from './claude-derived.ts'
import { claudeParent, claudeSession, createClaudeFacts } from './claude-facts.ts'
import { fromClaudeLine } from './claude-lines.ts'
import { toTimestamp } from './claude-time.ts'
import { entryTimestamp, toOwnLine } from './claude-write.ts'
import { EXACT } from './exact-numbers.ts'
import type { FileOperation, Writer } from './format.ts'
import { createIdSet } from './id-set.ts'
import { loseFacts, loseSession } from './lost-facts.ts'
import { canGoBack, checkFree, toLines } from './written-lines.ts'

export const CLAUDE_CODE = 'claude-code'

/** The record tags of what stands beside the logs. */
export const AGENT_META = 'agent-meta'
export const TOOL_RESULT = 'tool-result-file'

export const claudeCodeWriter: Writer = {
  root: '.claude',
  ignored: () => 'projects',
  begin(session, context) {
    const name = nameOf(session)
    /** As its lines say it, which may be no name for a file. */
    const sessionId = session.native?.agent === CLAUDE_CODE ? session.native.sessionId : name
    const folder = `projects/${slugOf(session)}`
    const known = new Set<string>()
    const facts = createClaudeFacts({ exact: true })
    const ids = createIdSet()
    const foreign = createForeignLines({ session, name: sessionId, context })
    let isForeign = false
    facts.chooseSession([sessionId], (id) => id, undefined)

    const claim = (path: string): string => {
      if (known.has(path)) return path
      known.add(path)
      return checkFree(path, context)
    }
    /** What the reader will make of the line, for the session's facts and for the lines that follow. */
    const observe = (line: Json, source: string): void => {
      if (!isObject(line)) return
      facts.observe(line)
      const { at, model } = fromClaudeLine(line, facts.defaults)
      if (at !== undefined) facts.observeTime(at)
      if (model !== undefined) facts.observeModel(model, source)
      if (typeof line['uuid'] === 'string') ids.add(line['uuid'])
    }
    const append = (path: string, lines: readonly Json[], source: string, exact?: Json): FileOperation[] => {
      for (const line of lines) observe(line, source)
      const text = toLines(lines, exact)
      return text === '' ? [] : [{ op: 'append', path: claim(path), text }]
    }

    const writeOwn = (entry: Entry): FileOperation[] => {
      if (isDerived(entry) || !canGoBack(entry, context)) return []
      const path = `${folder}/${ownPath(entry, name)}`
      const [first] = entry.blocks
      if (entry.metadata?.['record'] === AGENT_META && first?.type === 'unknown') {
        return [{ op: 'write', path: claim(path), content: toJson(first.raw) }]
      }
      if (entry.metadata?.['record'] === TOOL_RESULT && first?.type === 'text') {
        return [{ op: 'write', path: claim(path), content: typeof first.text === 'string' ? first.text : '' }]
      }
      const { cwd, version, gitBranch } = facts.defaults
      const branch = gitBranch ?? session.git?.branch
      const line = toOwnLine(entry, {
        sessionId,
        uuid: entry.id,
        parentUuid: entry.parent ?? null,
        timestamp: entryTimestamp(entry) ?? toTimestamp(EPOCH),
        cwd: cwd ?? session.cwd ?? '',
        version: version ?? session.version ?? '',
        ...(branch !== undefined && { gitBranch: branch }),
      })
      return append(path, [line], entry.source, entry.metadata?.[EXACT])
    }

    return {
      start: () => [],
      entry(entry) {
        if (entry.origin?.format === CLAUDE_CODE) return writeOwn(entry)
        isForeign = true
        return append(`${folder}/${foreignPath(entry.source, name)}`, [foreign.of(entry)], entry.source)
      },
      end(ended) {
        const operations: FileOperation[] = []
        const isNamed = facts.current(ids).title === ended.title
        if (ended.title !== undefined && !isNamed && (isForeign || known.size === 0)) {
          const line = { type: 'custom-title', customTitle: ended.title, sessionId }
          operations.push(...append(`${folder}/${name}.jsonl`, [line], PRIMARY))
        }
        if (known.size === 0) {
          loseSession('Claude Code has no log without a line', context)
          return []
        }
        const native = { agent: CLAUDE_CODE, sessionId }
        const held = {
          id: uuidFrom(CLAUDE_CODE, sessionId),
          native,
          agent: CLAUDE_CODE,
          status: 'completed' as const,
        }
        const said = facts.current(ids)
        const parent = claudeParent(CLAUDE_CODE, said)
        loseFacts(ended, { ...held, ...claudeSession(said), ...(parent && { parent }) }, context)
        return operations
      },
    }
  },
}

const EPOCH = '1970-01-01T00:00:00.000Z'

/** The session's own id where it is Claude Code's, else one that is the same each time. */
function nameOf({ native, id }: Session): string {
  if (native?.agent === CLAUDE_CODE && isSafeId(native.sessionId)) return native.sessionId
  return isUuid(id) ? id : uuidFrom(CLAUDE_CODE, id)
}

/** Longer folders than this no file system takes. */
const FOLDER_CHARACTERS = 200

/** The working directory as Claude Code names its folders: all but letters and digits are dashes. */
function slugOf({ cwd = '' }: Session): string {
  return cwd.replaceAll(/[^A-Za-z0-9]/g, '-').slice(0, FOLDER_CHARACTERS) || 'unknown'
}

/** Where a line was, below its project's folder: in the session's log, or in a file beside it at the same place. */
function ownPath({ origin, source }: Entry, name: string): string {
  const parts = (origin?.file ?? '').split('/')
  const at = Math.max(parts.lastIndexOf('subagents'), parts.lastIndexOf('tool-results'))
  const below = at === -1 ? [] : parts.slice(at)
  if (below.length > 1 && below.every(isSafeId)) return [name, ...below].join('/')
  const file = parts.at(-1) ?? ''
  if (agentOf(file) === undefined) return `${name}.jsonl`
  return isSafeId(file) ? file : foreignPath(source, name)
}

function foreignPath(source: string, name: string): string {
  if (source === PRIMARY) return `${name}.jsonl`
  const agent = source.slice('subagent:'.length)
  const safe = isSafeId(agent) && agent.length < 100 ? agent : uuidFrom(name, agent)
  return `${name}/subagents/agent-${safe}.jsonl`
}
