/**
 * Writes leslie's transcripts: one file per conversation unit, put in place whole when the next user message ends the unit or
 * the session ends. Only the primary source speaks in these files; everything they leave out is reported.
 */
import { outputText, textOf, type Block, type ToolResultBlock } from '../transcript/block.ts'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { checkId, uuidFrom } from '../transcript/ids.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asArray, asCount, asObject, asString, type JsonObject, toSpacedJson } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { createPairing } from '../transcript/tools.ts'
import { claimPath, type FileOperation, type WriteContext, type Writing } from './format.ts'
import { STATUS_WORDS, type Mark } from './leslie-marks.ts'
import { byAge, createNamer } from './leslie-name.ts'
import { createUnit, truncate, type Unit } from './leslie-unit.ts'
import { createLocalClock } from './local-time.ts'

/** Files a thread keeps; the oldest go first. */
export const KEPT_FILES = 50

/** For what the header requires and the session does not say. */
const EPOCH = '1970-01-01T00:00:00.000Z'
const MODE = 'agent'
const TOOL = 'unknown'

/** What the unit's entries have told so far. */
type Facts = {
  unit: Unit
  toolCalls: number
  startedAt: string
  endedAt: string
  stopReason: string | undefined
}

/** Where a session's transcripts go, relative to the root. */
export function transcriptsFolder({ id, thread }: Session): string {
  const name = thread === undefined ? `thread-${fillerOf(id)}` : checkId(thread, 'thread id')
  return `threads/${name}/.meta/transcripts`
}

/** Stands for the ids a session does not have: the same for the same session. */
function fillerOf(id: string): string {
  return uuidFrom('leslie', id).slice(0, 8)
}

export function beginLeslie(session: Session, context: WriteContext): Writing {
  const clock = createLocalClock(context.timeZone)
  const filler = fillerOf(session.id)
  const fill = (value: string | undefined, field: string, filler: string): string => {
    if (value === undefined) context.filled(undefined, field)
    return value === undefined ? filler : toLine(value)
  }
  const thread =
    session.thread === undefined
      ? fill(undefined, 'Thread ID', `thread-${filler}`)
      : checkId(session.thread, 'thread id')
  const chat = fill(session.chat, 'Chat ID', `chat-${filler}`)
  const mode = fill(session.mode, 'Agent Mode', MODE)
  const folder = transcriptsFolder(session)
  const names: string[] = []
  const nameUnit = createNamer((name) => !claimPath(context, `${folder}/${name}`))
  const calls = createPairing<undefined>()
  let latest = session.startedAt
  let open: Facts | undefined

  const finish = (ended: Session | undefined): FileOperation[] => {
    if (open === undefined) return []
    const { unit, toolCalls, startedAt, endedAt } = open
    const stated = asObject(unit.first.metadata?.['leslie']) ?? {}
    const reason =
      ended === undefined ? (asString(stated['stopReason']) ?? open.stopReason) : lastReason(ended, open)
    const end = parseInstant(stated['endedAt']) ?? endedAt
    const header = [
      `Thread ID: ${thread}`,
      `Chat ID: ${chat}`,
      `Time Range: ${clock.toIso(startedAt)} ~ ${clock.toIso(end)}`,
      `Agent Mode: ${toLine(asString(stated['mode']) ?? mode)}`,
      ...(reason === undefined ? [] : [`Stop Reason: ${toLine(reason)}`]),
      `Tool Calls: ${asCount(stated['toolCalls']) ?? toolCalls}`,
      ...otherLines(stated),
    ]
    const name = nameUnit(clock.toStamp(startedAt), textOf(unit.first.blocks))
    names.push(name)
    if (names.length > KEPT_FILES) {
      context.lost(undefined, `${names.shift()}: a thread keeps its newest ${KEPT_FILES} files`)
    }
    open = undefined
    return [
      { op: 'write', path: `${folder}/${name}`, content: unit.render(header) },
      { op: 'prune', folder, suffix: '.txt', keep: KEPT_FILES, order: byAge([...names]) },
    ]
  }

  const lastReason = (ended: Session, facts: Facts): string | undefined => {
    const word = STATUS_WORDS.get(ended.status)
    if (word === undefined) return spell(ended.stopReason ?? facts.stopReason)
    if (ended.stopReason !== undefined && spell(ended.stopReason) !== word) {
      context.lost(undefined, `the stop reason ${ended.stopReason}: the status stands in its place`)
    }
    return word
  }

  const begin = (entry: Entry): Facts => {
    const startedAt = entry.at ?? latest ?? EPOCH
    if (entry.at === undefined) context.filled(entry, 'Time Range')
    return {
      unit: createUnit(entry, context),
      toolCalls: 0,
      startedAt,
      endedAt: startedAt,
      stopReason: undefined,
    }
  }

  const add = (facts: Facts, entry: Entry): void => {
    const { unit } = facts
    facts.endedAt = entry.at ?? facts.endedAt
    if (entry.role === 'assistant') facts.stopReason = entry.stopReason ?? facts.stopReason
    const isQuery = entry.role === 'user' && entry.kind === 'message'
    if (isQuery && (entry === unit.first || entry.blocks.some(({ type }) => type === 'text'))) {
      unit.add(entry, { type: 'user' }, textOf(entry.blocks))
      const texts = entry.blocks.filter(({ type }) => type === 'text').length
      if (texts > 1) context.lost(entry, `the borders of ${texts} text blocks`)
    }
    if (entry.blocks.length === 0) context.lost(entry, 'an entry without blocks')
    for (const block of entry.blocks) {
      if (block.type === 'text' && isQuery) continue
      if (block.type === 'tool-call') facts.toolCalls += 1
      addBlock(unit, entry, block)
    }
    reportFacts(entry, context)
  }

  const addBlock = (unit: Unit, entry: Entry, block: Block): void => {
    const cut = (mark: Mark, text: string): void => {
      const kept = truncate(text)
      if (kept !== text) context.lost(entry, `a ${mark.type} beyond 200 characters`)
      unit.add(entry, mark, kept)
    }
    const named = (name: string | undefined): string => {
      if (name === undefined || name === '') context.filled(entry, 'tool name')
      return name === undefined || name === '' ? TOOL : toLine(name)
    }
    if (block.type === 'text' && entry.role === 'assistant' && entry.kind === 'message') {
      unit.add(entry, { type: 'assistant' }, textOf([block]))
    } else if (block.type === 'tool-call') {
      calls.open(PRIMARY, block, undefined)
      cut({ type: 'tool-call', name: named(block.name) }, paramsOf(block))
    } else if (block.type === 'tool-result') {
      const name = block.name ?? calls.answer(PRIMARY, block)?.call.name
      if (block.name !== undefined) calls.answer(PRIMARY, block)
      if (failed(block)) context.lost(entry, 'that the tool failed')
      cut({ type: 'tool-result', name: named(name) }, outputText(block))
    } else if (block.type === 'error') {
      if (block.code !== undefined) context.lost(entry, 'the code of an error')
      unit.add(entry, { type: 'error' }, block.message)
    } else context.lost(entry, `${block.type} block of ${entry.role ?? entry.kind}`)
  }

  return {
    start: () => [],
    entry(entry) {
      latest = entry.at ?? latest
      if (entry.source !== PRIMARY) {
        context.lost(entry, `an entry of ${entry.source}: leslie holds the primary source`)
        return []
      }
      const starts = startsUnit(entry)
      const operations = starts ? finish(undefined) : []
      if (starts) open = begin(entry)
      if (open === undefined) context.lost(entry, 'what comes before the first user message')
      else add(open, entry)
      return operations
    },
    end(ended) {
      const { error, status } = ended
      if (error !== undefined && open === undefined) context.lost(undefined, 'the error: there is no unit')
      else if (error !== undefined && status !== 'completed' && open?.unit.lastText('error') !== error) {
        open?.unit.add(undefined, { type: 'error' }, error)
      }
      return finish(ended)
    },
  }
}

function spell(reason: string | undefined): string | undefined {
  return reason === 'canceled' ? 'cancelled' : reason
}

/** A user message begins a unit; tool results that a format wrote as the user's do not. */
function startsUnit({ kind, role, blocks }: Entry): boolean {
  return kind === 'message' && role === 'user' && !blocks.some(({ type }) => type === 'tool-result')
}

function paramsOf(block: Extract<Block, { type: 'tool-call' }>): string {
  if (block.inputBlob !== undefined) return textOf([{ type: 'text', text: block.inputBlob }])
  if (block.input === undefined) return ''
  return typeof block.input === 'string' ? block.input : toSpacedJson(block.input)
}

function failed({ isError, error }: ToolResultBlock): boolean {
  return isError === true || error !== undefined
}

/** Header lines that another writer added and the reader kept. */
function otherLines(stated: JsonObject): string[] {
  return (asArray(stated['others']) ?? []).filter((line) => typeof line === 'string').map(toLine)
}

/** A header line and a mark are one line each, whatever the value holds. */
function toLine(value: string): string {
  return value.replaceAll(/[\r\n]+/g, ' ')
}

/** What the text has no place for at all, in one note for each entry. The time of a user message is the unit's own. */
function reportFacts(entry: Entry, context: WriteContext): void {
  const time = entry.role === 'user' && entry.kind === 'message' ? undefined : entry.at
  const facts = { time, model: entry.model, usage: entry.usage, duration: entry.durationMs }
  const lost = Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (lost.length > 0) context.lost(entry, lost.join(', '))
}
