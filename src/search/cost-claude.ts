/**
 * The calls of a session of Claude Code, from the bytes of its logs: only lines that hold the word `assistant` can tell of one, and
 * only what makes the call is taken of them. What is not as Claude Code writes it is left to the reader of its format: either the
 * calls are those that the reader finds, or there is no answer here.
 */
import fs from 'node:fs'
import { join } from 'node:path'
import { agentOf, stem } from '../formats/claude-code-files.ts'
import { detectClaudeCode } from '../formats/claude-code.ts'
import { OURS, SYNTHETIC } from '../formats/claude-lines.ts'
import { fromTimestamp } from '../formats/claude-time.ts'
import { OPEN_CALLS, toCall, type Call } from '../sources/unit-facts.ts'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { isUuid, uuidFrom } from '../transcript/ids.ts'
import { isObject, parseJson, type JsonObject } from '../transcript/json.ts'
import { createCallFold, isNamed } from '../transcript/totals.ts'
import { withoutZeros } from '../transcript/usage.ts'
import { fromAnthropicUsage } from '../wire/anthropic-usage.ts'
import { createSkimmer, type Span } from './cost-skim.ts'

export type ClaudeUnit = {
  readonly root: string
  /** The session's own log, relative to the root. */
  readonly unit: string
  readonly paths: readonly string[]
}

export type SkimmedUnit = {
  /** The session's key. */
  readonly session: string
  readonly cwd?: string
  /** Without who made them and the tools they call. */
  readonly calls: readonly Call[]
}

/** Undefined for what has to be read by the format's own reader. */
export type ClaudeScanner = (unit: ClaudeUnit) => SkimmedUnit | undefined

const AGENT = 'claude-code'
const NEWLINE = 0x0a
const RETURN = 0x0d
const OBJECT = 0x7b
/** As much of a log as its format is told by. */
const HEAD_BYTES = 64 * 1024
/** A larger log is not held whole. */
const MOST_BYTES = 64 * 1024 * 1024
const ASSISTANT = Buffer.from('"assistant"')
const OWN_LINE = Buffer.from('{"parentUuid":')

export function createClaudeScanner(): ClaudeScanner {
  const read = createFileReader()
  const skimmer = createSkimmer(new Set(OURS))
  return ({ root, unit, paths }) => {
    const name = stem(unit)
    const logs = isUuid(name) ? logsOf(unit, paths) : undefined
    if (logs === undefined) return undefined
    const session = uuidFrom(AGENT, name)
    const calls: Call[] = []
    const fold = createCallFold({
      window: OPEN_CALLS,
      settle: (call) => calls.push(toCall(session, call, false, undefined)),
    })
    const seen = logs.length > 1 ? new Map<string, string>() : undefined
    let cwd: string | undefined
    for (const path of logs) {
      const bytes = read(join(root, path))
      if (bytes === undefined) return undefined
      if (path === unit) {
        const head = readHead(bytes, name)
        if (head === undefined) return undefined
        cwd = head.cwd
      }
      const agent = agentOf(path)
      const source = agent === undefined ? PRIMARY : `subagent:${agent}`
      const isRead = scanLog(bytes, skimmer, (entry, id) => {
        // Which log comes first is told by lines that are not looked at here.
        if (seen !== undefined && (seen.get(id) ?? path) !== path) return false
        seen?.set(id, path)
        fold.add({ ...entry, source })
        return true
      })
      if (!isRead) return undefined
    }
    fold.totals()
    return { session, ...(cwd !== undefined && { cwd }), calls }
  }
}

/** The session's own log and those of the subagents in its folder; undefined where there is anything else that may be one. */
function logsOf(unit: string, paths: readonly string[]): readonly string[] | undefined {
  if (!paths.includes(unit) || agentOf(unit) !== undefined) return undefined
  const folder = unit.replace(/\.jsonl$/, '/')
  const others = paths.filter((path) => path !== unit)
  if (others.some((path) => !path.startsWith(folder))) return undefined
  const agents = others.filter((path) => path.endsWith('.jsonl') && agentOf(path) !== undefined)
  return agents.every((path) => path.startsWith(`${folder}subagents/`)) ? [unit, ...agents] : undefined
}

/** The same bytes for each file: what was read before is written over. */
function createFileReader(): (path: string) => Buffer | undefined {
  let buffer = Buffer.allocUnsafe(1024 * 1024)
  return (path) => {
    let fd: number | undefined
    try {
      fd = fs.openSync(path, 'r')
      let length = 0
      for (;;) {
        const count = fs.readSync(fd, buffer, length, buffer.length - length, null)
        length += count
        if (count === 0) return buffer.subarray(0, length)
        if (length < buffer.length) continue
        if (length >= MOST_BYTES) return undefined
        const larger = Buffer.allocUnsafe(buffer.length * 2)
        buffer.copy(larger, 0, 0, length)
        buffer = larger
      }
    } catch {
      return undefined
    } finally {
      if (fd !== undefined) fs.closeSync(fd)
    }
  }
}

/**
 * Whether a log is what its place says, told by its first lines: all are Claude Code's own or its state's, and the first that names
 * a session names that of the file. One of its own lines is read, for they are alike.
 */
function readHead(bytes: Buffer, session: string): { readonly cwd?: string } | undefined {
  const end = Math.min(bytes.length, HEAD_BYTES)
  let own: JsonObject | undefined
  let isOurs = false
  for (let from = 0; from < end;) {
    const newline = bytes.indexOf(NEWLINE, from)
    const to = newline === -1 ? bytes.length : newline
    const isOwnLine =
      bytes.compare(OWN_LINE, 0, OWN_LINE.length, from, Math.min(to, from + OWN_LINE.length)) === 0
    if (!isOwnLine || own === undefined) {
      const record = parseJson(bytes.toString('utf8', from, to))
      if (!isObject(record)) return undefined
      const told = detectClaudeCode({ records: [record], strange: 0, document: undefined, text: '' })
      if (told === undefined || isOwnLine !== told.confidence > 0.9) return undefined
      if (isOwnLine) own = record
      const { sessionId } = record
      if (!isOurs && typeof sessionId === 'string' && sessionId !== '') {
        if (sessionId !== session) return undefined
        isOurs = true
      }
    }
    from = to + 1
  }
  if (own === undefined || !isOurs) return undefined
  const { cwd } = own
  return typeof cwd === 'string' && cwd !== '' ? { cwd } : {}
}

type Answer = Omit<Entry, 'id' | 'source' | 'sequence' | 'parent'>

/** False for a log that has to be read whole, or where `onAnswer` says so. */
function scanLog(
  bytes: Buffer,
  { skim, found }: ReturnType<typeof createSkimmer>,
  onAnswer: (entry: Answer & Pick<Entry, 'id' | 'sequence' | 'parent'>, id: string) => boolean,
): boolean {
  const text = ({ from, to }: Span): string | undefined => textAt(bytes, from, to)
  let answered: string | undefined
  for (let at = bytes.indexOf(ASSISTANT); at !== -1;) {
    const from = bytes.lastIndexOf(NEWLINE, at) + 1
    const newline = bytes.indexOf(NEWLINE, at)
    const end = newline === -1 ? bytes.length : newline
    const to = bytes[end - 1] === RETURN ? end - 1 : end
    if (!skim(bytes, from, to) || found.isOdd) return false
    const type = text(found.type)
    // These may hold a message of another.
    if (type === 'progress' || type === 'event') return false
    if (type === 'assistant' && bytes[found.message.from] === OBJECT && isContent(bytes, found.content)) {
      const model = text(found.model)
      const id = text(found.id)
      const usage =
        bytes[found.usage.from] === OBJECT && found.usage.to > 0
          ? parseJson(bytes.toString('utf8', found.usage.from, found.usage.to))
          : undefined
      if (model === undefined) return false
      const isAnswer = model !== SYNTHETIC
      const hasUsage = isAnswer && isObject(usage)
      const isError = found.isApiErrorMessage.to > 0 && bytes[found.isApiErrorMessage.from] === TRUE
      // An error right below an answer says that its counts are not the last.
      if (!hasUsage && isError && answered !== undefined && text(found.parentUuid) === answered) return false
      if (hasUsage) answered = text(found.uuid)
      if (isAnswer) {
        if (id === undefined || !isNamed(id)) return false
        if (hasUsage && isSeveral(usage)) return false
        const timestamp = text(found.timestamp)
        const time = timestamp === undefined ? undefined : fromTimestamp(timestamp)
        const quality = text(found.stopReason) === undefined ? 'partial' : 'reported'
        const entry: Answer = {
          kind: 'message',
          role: 'assistant',
          blocks: [],
          model,
          call: { provider: 'anthropic', messageId: id },
          ...(time !== undefined && { at: time }),
          ...(hasUsage && { usage: withoutZeros(fromAnthropicUsage(usage, quality)) }),
        }
        if (!onAnswer({ ...entry, id: '', sequence: 0, parent: null }, id)) return false
      }
    }
    if (newline === -1) return true
    at = bytes.indexOf(ASSISTANT, newline + 1)
  }
  return true
}

const TRUE = 0x74

function isContent(bytes: Buffer, { from, to }: Span): boolean {
  return to > 0 && (bytes[from] === 0x22 || bytes[from] === 0x5b)
}

/** Samplings of a call that are billed one by one. */
function isSeveral(usage: JsonObject): boolean {
  const { iterations } = usage
  return Array.isArray(iterations) && iterations.length > 1
}

/** The string there; undefined for anything else. */
function textAt(bytes: Buffer, from: number, to: number): string | undefined {
  if (to === 0 || bytes[from] !== 0x22) return undefined
  const text = bytes.toString('utf8', from + 1, to - 1)
  if (!text.includes('\\')) return text
  const value = parseJson(bytes.toString('utf8', from, to))
  return typeof value === 'string' ? value : undefined
}
