/**
 * Writes leslie's transcripts: one file per conversation unit, put in place whole when the next user message ends the unit or
 * the session ends. Only the primary source speaks in these files; everything they leave out is reported.
 */
import { outputText, textOf, type Block } from '../transcript/block.ts'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { checkId, uuidFrom } from '../transcript/ids.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asArray, asCount, asObject, asString, type JsonObject, toSpacedJson } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { createPairing } from '../transcript/tools.ts'
import { claimPath, type FileOperation, type WriteContext, type Writing } from './format.ts'
import { STATUS_WORDS, type Mark } from './leslie-marks.ts'
import { createReadFold, loseOfEntry } from './leslie-losses.ts'
import { byAge, createNamer } from './leslie-name.ts'
import { createUnit, truncate, type Unit } from './leslie-unit.ts'
import { createLocalClock } from './local-time.ts'
import { loseEntry, loseFacts, loseSession } from './lost-facts.ts'

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
  /** Who gave that reason, and the last answer, which is who will have given it when the file is read. */
  stoppedBy: Entry | undefined
  answer: Entry | undefined
  /** Another unit has begun no earlier: reading will not give this one its place. */
  isMoved: boolean
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
  const read = createReadFold({ thread, chat, mode })

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
    loseReason(open, reason, ended)
    const name = nameUnit(clock.toStamp(startedAt), textOf(unit.first.blocks))
    names.push(name)
    const isWritten = ended !== undefined && STATUS_WORDS.has(ended.status)
    read.add({
      path: `${folder}/${name}`,
      startedAt,
      endedAt: end,
      status: isWritten ? ended.status : 'completed',
      stopReason: reason,
      error: isWritten ? ended.error : undefined,
    })
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
    return word
  }

  /** An answer's reason reads back where it is the unit's, and where the last answer gave it. */
  const loseReason = (facts: Facts, written: string | undefined, ended: Session | undefined): void => {
    const { stoppedBy, answer } = facts
    if (stoppedBy === undefined) return
    const isStatus = ended !== undefined && STATUS_WORDS.has(ended.status)
    const isHeld = stoppedBy === answer && stoppedBy.stopReason === written && !isStatus
    if (!isHeld) context.lost(stoppedBy, 'stop reason')
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
      stoppedBy: undefined,
      answer: undefined,
      isMoved: read.isMoved(startedAt),
    }
  }

  const add = (facts: Facts, entry: Entry): void => {
    const { unit } = facts
    facts.endedAt = entry.at ?? facts.endedAt
    if (entry.role === 'assistant' && entry.stopReason !== undefined) {
      if (facts.stoppedBy !== undefined) context.lost(facts.stoppedBy, 'stop reason')
      facts.stopReason = entry.stopReason
      facts.stoppedBy = entry
    }
    const isQuery = entry.role === 'user' && entry.kind === 'message'
    if (isQuery && (entry === unit.first || entry.blocks.some(({ type }) => type === 'text'))) {
      unit.add(entry, { type: 'user' }, textOf(entry.blocks))
    }
    for (const block of entry.blocks) {
      if (block.type === 'text' && isQuery) continue
      if (block.type === 'tool-call') facts.toolCalls += 1
      addBlock(unit, entry, block)
    }
    loseOfEntry(entry, { isFirst: entry === unit.first, isMoved: facts.isMoved }, context)
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
      if (open !== undefined) open.answer = entry
      unit.add(entry, { type: 'assistant' }, textOf([block]))
    } else if (block.type === 'tool-call') {
      calls.open(PRIMARY, block, undefined)
      cut({ type: 'tool-call', name: named(block.name) }, paramsOf(block))
    } else if (block.type === 'tool-result') {
      const answered = calls.answer(PRIMARY, block)
      const name = block.name ?? answered?.call.name
      cut({ type: 'tool-result', name: named(name) }, outputText(block))
    } else if (block.type === 'error') {
      unit.add(entry, { type: 'error' }, block.message)
    }
  }

  return {
    start: () => [],
    entry(entry) {
      latest = entry.at ?? latest
      if (entry.source !== PRIMARY) {
        loseEntry(entry, 'leslie holds the primary source', context)
        return []
      }
      const starts = startsUnit(entry)
      const operations = starts ? finish(undefined) : []
      if (starts) open = begin(entry)
      if (open === undefined) loseEntry(entry, 'it comes before the first user message', context)
      else add(open, entry)
      return operations
    },
    end(ended) {
      const { error, status } = ended
      if (error !== undefined && status !== 'completed' && open?.unit.lastText('error') !== error) {
        open?.unit.add(undefined, { type: 'error' }, error)
      }
      const operations = finish(ended)
      const held = read.session()
      if (held === undefined) loseSession('it has no user message', context)
      else loseFacts(ended, held, context)
      return operations
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

/** Header lines that another writer added and the reader kept. */
function otherLines(stated: JsonObject): string[] {
  return (asArray(stated['others']) ?? []).filter((line) => typeof line === 'string').map(toLine)
}

/** A header line and a mark are one line each, whatever the value holds. */
function toLine(value: string): string {
  return value.replaceAll(/[\r\n]+/g, ' ')
}
