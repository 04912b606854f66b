/**
 * The calls of a session of Claude Code, from the bytes of its logs: only lines that hold the word `assistant` can tell of one, and
 * only what makes the call is taken of them. What is not as Claude Code writes it is left to the reader of its format: either the
 * calls are those that the reader finds, or there is no answer here.
 */
import fs from 'node:fs'
import { join } from 'node:path'
import { agentOf, stem } from '../formats/claude-code-files.ts'
import { detectClaudeCode } from '../formats/claude-code.ts'
import { OURS } from '../formats/claude-lines.ts'
import { costOf, NOT_BILLED } from '../cost/cost.ts'
import type { Call } from '../sources/session-facts.ts'
import { isUuid, uuidFrom } from '../transcript/ids.ts'
import { isObject, parseJson, type JsonObject } from '../transcript/json.ts'
import { COUNTS, hasCounts, type Count, type Usage } from '../transcript/usage.ts'
import { scanLog, type Answer } from './cost-claude-log.ts'
import { createLineSkimmer, type LineSkimmer } from './cost-lines.ts'
import { PADDING } from './skimmed-lines.ts'
import { createSlots, hashKey, type Slot } from './cost-slots.ts'

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
  /** By the id of the answer, as it is held. */
  readonly answers: ReadonlyMap<string, Answer>
}

/** Without who made them and the tools they call. */
export function callsOf({ session, answers }: SkimmedUnit): readonly Call[] {
  return Array.from(answers, ([id, answer]) => toCall(session, id, answer))
}

/** Calls added up, and the hashes of what they are known by. */
export function slotsOf({ answers }: SkimmedUnit): {
  readonly slots: readonly Slot[]
  readonly keys: Float64Array
} {
  const sums = createSlots()
  const keys = new Float64Array(answers.size)
  let nth = 0
  for (const [id, { model, usage, at }] of answers) {
    const cost = hasCounts(usage) ? costOf({ model, at, usage }) : undefined
    const unpriced = cost !== undefined && 'unpriced' in cost ? model.slice(0, 200) : undefined
    const pico = cost === undefined || 'unpriced' in cost || cost.row === NOT_BILLED ? undefined : cost.pico
    sums.add({ model, usage, at, unpriced, pico })
    keys[nth] = hashKey(keyOf(id))
    nth += 1
  }
  return { slots: sums.slots(), keys }
}

/** As `callKey` has it. */
const keyOf = (id: string): string => `m:${id}`

/** Undefined for what has to be read by the format's own reader. */
export type ClaudeScanner = (unit: ClaudeUnit) => SkimmedUnit | undefined

const AGENT = 'claude-code'
const NEWLINE = 0x0a
/** As much of a log as its format is told by. */
const HEAD_BYTES = 64 * 1024
/** A larger log is not held whole. */
const MOST_BYTES = 64 * 1024 * 1024
/** Ends of lines behind what was read. */
const BEHIND = PADDING
const OWN_LINE = Buffer.from('{"parentUuid":')

export function createClaudeScanner(): ClaudeScanner {
  const skimmer = createLineSkimmer(OURS)
  const read = createFileReader(skimmer)
  return ({ root, unit, paths }) => {
    const name = stem(unit)
    const logs = isUuid(name) ? logsOf(unit, paths) : undefined
    if (logs === undefined) return undefined
    const session = uuidFrom(AGENT, name)
    const answers = new Map<string, Answer>()
    let cwd: string | undefined
    for (const path of logs) {
      const bytes = read(join(root, path))
      if (bytes === undefined) return undefined
      if (path === unit) {
        const head = readHead(bytes, name)
        if (head === undefined) return undefined
        cwd = head.cwd
      }
      if (!scanLog(bytes, skimmer.lines(bytes), { answers, path })) return undefined
    }
    return { session, ...(cwd !== undefined && { cwd }), answers }
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

const FIRST_BYTES = 1024 * 1024

/** A file's bytes, and some empty lines: the same bytes for each file, so that what was read before is written over. */
function createFileReader(skimmer: LineSkimmer): (path: string) => Buffer | undefined {
  let buffer = skimmer.room(FIRST_BYTES)
  return (path) => {
    let fd: number | undefined
    try {
      fd = fs.openSync(path, 'r')
      let length = 0
      for (;;) {
        const count = fs.readSync(fd, buffer, length, buffer.length - BEHIND - length, null)
        length += count
        if (count === 0) {
          // A last line without its end is one like any other, and is looked at with some bytes behind it.
          buffer.fill(NEWLINE, length, length + BEHIND)
          return buffer.subarray(0, length + BEHIND)
        }
        if (length + BEHIND < buffer.length) continue
        if (length >= MOST_BYTES) return undefined
        buffer = skimmer.room(buffer.length * 2)
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
    const to = bytes.indexOf(NEWLINE, from)
    const isOwnLine =
      bytes.compare(OWN_LINE, 0, OWN_LINE.length, from, Math.min(to, from + OWN_LINE.length)) === 0
    if (to > from && (!isOwnLine || own === undefined)) {
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

/** As the reader's calls are made. */
function toCall(session: string, id: string, { model, usage, at }: Answer): Call {
  const cost = hasCounts(usage) ? costOf({ model, at, usage }) : undefined
  const call: { -readonly [K in keyof Call]: Call[K] } = {
    session,
    key: keyOf(id),
    provider: 'anthropic',
    model,
    usage: countsOf(usage),
  }
  if (at !== undefined) call.at = at
  if (cost === undefined) return call
  if ('unpriced' in cost) call.unpriced = model.slice(0, 200)
  else if (cost.row !== NOT_BILLED) call.pico = cost.pico
  return call
}

/** The counts alone. Not spread: there is a call in every other line. */
function countsOf(usage: Usage): Usage {
  const counts: { -readonly [K in Count]?: number } & { quality: Usage['quality'] } = {
    quality: usage.quality,
  }
  for (const count of COUNTS) {
    const value = usage[count]
    if (value !== undefined) counts[count] = value
  }
  return counts
}
