/**
 * A session out of Claude-style files: the main log, then those of its subagents, in the order of their lines. Every record is
 * an entry, and every bad line is damage. Memory is one batch of lines and the ids.
 */
import { PRIMARY, type Entry, type Origin } from '../transcript/entry.ts'
import { asString, isObject, type JsonObject } from '../transcript/json.ts'
import { isLongRecord } from '../transcript/long-records.ts'
import { readRecords, type JsonRecord, type RecordBatch } from '../transcript/records.ts'
import { ShapedRecord } from '../transcript/cut-records.ts'
import type { Session } from '../transcript/session.ts'
import type { ShortFile, SourceFile } from '../transcript/source.ts'
import { readDocumentBlock, readTextBlock } from './claude-beside.ts'
import { claudeRecordsAtOnce, isCutTooShort, readClaudeRecords, type RecordsAtOnce } from './claude-cut.ts'
import { createClaudeFacts, type ClaudeFacts } from './claude-facts.ts'
import { createCuts, createIterations, embeddedLine } from './claude-derived.ts'
import { fromClaudeLine } from './claude-lines.ts'
import { areSurelyOwn } from './claude-own.ts'
import { createOthers, type DocumentOptions, type RecordOptions } from './claude-others.ts'
import { createOpening, type Opening } from './claude-opening.ts'
import { createPlacing, keep } from './claude-placing.ts'
import { agentOf } from './claude-rest.ts'
import { createShapedLines } from './claude-shaped-lines.ts'
import type { ClaudePlan } from './claude-plans.ts'
import { createSpawns, sourceOf } from './claude-spawns.ts'
import { EXACT, exactNumbers } from './exact-numbers.ts'
import type { ItemsAtOnce, ReadItem } from './format.ts'
import { readRawRecords } from './raw-records.ts'

export type ClaudeReading = {
  /** The records of one file. The first file opens the session. */
  read(file: SourceFile, options?: FileOptions): AsyncGenerator<readonly ReadItem[]>
  /**
   * The same without promises, and to the end of the session, where only facts are asked for; undefined where that cannot be done, or
   * not surely all is Claude Code's own and has to be. The file is left in any case.
   */
  atOnce(
    path: string,
    file: ShortFile,
    options?: FileOptions & { readonly isOwnOnly?: boolean },
  ): ItemsAtOnce | undefined
  /** A small JSON file beside the log, whole, as one event; damage when it cannot be taken in. */
  document(file: SourceFile, options: DocumentOptions): Promise<ReadItem>
  /** A text that a tool returned and that stands in a file of its own, as one event. */
  text(file: SourceFile, options: DocumentOptions): Promise<ReadItem>
  /** The subagents that lines read so far name, in the order they do. */
  readonly named: readonly string[]
  /** True once a message of a subagent was taken from a progress line: its log would have it. */
  readonly hasEmbedded: () => boolean
  /** True once its records have decided which session it is. */
  readonly isChosen: () => boolean
  /** What was said of the session as a whole, but for times, in words: another one when anything of it changed. */
  readonly ofSession: () => string
  readonly hasOwnModel: () => boolean
  /** Opens the session when no record has done so yet: a folder may hold only what stands beside the log. */
  open(): readonly ReadItem[]
  /** The session's facts as all files together say them. */
  end(): readonly ReadItem[]
}

type FileOptions = RecordOptions & {
  /** The session that the file's name speaks of: chosen when a record says so too, for forks begin with another's records. */
  readonly expected?: string
  /** Another program's records: each is kept whole, and none is asked what it says. */
  readonly isForeign?: boolean
  /** Asked where no record of the file names the session: what is read after it may, and then it is too late. */
  readonly otherwise?: () => Promise<string | undefined>
}

type Options = {
  readonly format: string
  /** The session as the format names it, from what its lines say so far. */
  readonly toSession: (facts: ClaudeFacts) => Session
  /** The lines are Claude Code's own and will go back as they were: nothing in them may go without saying. */
  readonly exact?: boolean
  readonly isForFacts?: boolean
  /** True for subagents with a log of their own: what progress lines say of them is said there. */
  readonly hasLog?: (agent: string) => boolean
  /** Told of every line that is an object. */
  readonly watch?: (line: JsonObject) => void
  /** Files are read some lines at a time, in turns: what is told by the lines before one is held for each of them. */
  readonly isInTurns?: boolean
}

/**
 * The functions of the last reading are held until there are others: what was compiled of them is let go with the last of them, and
 * compiling it again for the next log takes longer than reading a short one.
 */
let latest: ClaudeReading | undefined

export function createClaudeReading(options: Options): ClaudeReading {
  latest = createReading(options)
  return latest
}

function createReading(options: Options): ClaudeReading {
  const { format, toSession, exact = false, isForFacts = false, hasLog = () => false, watch } = options
  const { isInTurns = false } = options
  const facts = createClaudeFacts({ exact, isForFacts })
  const spawns = createSpawns()
  const { place, toId, nextSequence, seen } = createPlacing({
    isForFacts,
    facts,
    spawns,
    onPlaced: (source) => shaped.begun(source),
  })
  const sidechains = new Map<string, string>()
  let { iterations, cuts } = createDerived()
  const derived = new Map<string, ReturnType<typeof createDerived>>()
  /** What a line says of the one before it is of the one before it in its file. */
  const turnTo = (file: string): void => {
    const own = derived.get(file) ?? createDerived()
    if (isInTurns) derived.set(file, own)
    ;({ iterations, cuts } = own)
  }
  let isOpen = false
  let hasEmbedded = false

  const takeLine = (
    record: JsonRecord,
    file: string,
    fileSource: string | undefined,
    items: ReadItem[],
  ): void => {
    const { number, byteOffset, byteLength, whole } = record
    const value = whole !== undefined && isCutTooShort(record.value, spawns.isCalled) ? whole() : record.value
    // Where entries came from is no fact of a session's.
    const origin = isForFacts ? undefined : { format, file, record: number, byteOffset, byteLength }
    const give = (entry: Entry): void => void items.push({ type: 'entry', entry })
    const noted = exact && !isForFacts ? exactNumbers(record.text) : undefined
    if (!isObject(value)) {
      const strange = fromClaudeLine(value, facts.defaults)
      if (noted !== undefined) keep(strange, EXACT, noted)
      give(place(strange, fileSource ?? PRIMARY, undefined, origin))
      return
    }
    facts.observe(value)
    watch?.(value)
    const said = fromClaudeLine(value, facts.defaults)
    const source = sourceOf(value, fileSource, sidechains)
    if (said.model !== undefined) {
      facts.observeModel(said.model, source)
      for (const one of iterations(value, said)) give(place(one, source, undefined, origin))
    }
    if (noted !== undefined) keep(said, EXACT, noted)
    const entry = place(said, source, value['uuid'], origin)
    give(entry)
    const cut = said.role === 'assistant' ? cuts(value, said) : undefined
    if (cut !== undefined) give(place(cut, source, undefined, origin))
    spawns.observe(value, entry.blocks, source)
    const inner = value['type'] === 'progress' ? embeddedLine(value) : undefined
    const embedded = inner === undefined ? undefined : fromEmbedded(inner, origin)
    if (embedded !== undefined) give(embedded)
  }

  /** A message that a log or a line before has is not given again. */
  const fromEmbedded = (line: JsonObject, origin: Origin | undefined): Entry | undefined => {
    const agent = agentOf(line)
    const { uuid } = line
    if (agent === undefined || hasLog(agent) || (typeof uuid === 'string' && seen.has(uuid))) return undefined
    const said = fromClaudeLine(line, facts.defaults)
    if (said.kind !== 'message') return undefined
    const source = `subagent:${agent}`
    if (said.model !== undefined) facts.observeModel(said.model, source)
    keep(said, 'derived', 'progress')
    hasEmbedded = true
    return place(said, source, uuid, origin)
  }

  const others = createOthers({ format, facts, nextSequence, toId })

  const shaped = createShapedLines({
    facts,
    spawns,
    seen,
    nextSequence,
    cuts: (line, said) => cuts(line, said),
  })

  const toItems = (batch: RecordBatch, file: string, options: FileOptions): ReadItem[] => {
    const isClaude = options.parse === undefined && options.isForeign !== true
    const items: ReadItem[] = []
    let damaged = 0
    const giveDamage = (before: number): void => {
      for (let next = batch.damage[damaged]; next !== undefined; next = batch.damage[damaged]) {
        if ((next.line ?? 0) > before) return
        damaged += 1
        items.push({ type: 'damage', damage: next })
        if (next.kind === 'too-large') items.push(others.oversized(next, file, options))
      }
    }
    for (const record of batch.records) {
      if (damaged < batch.damage.length) giveDamage(record.number)
      if (!isClaude) for (const item of others.record(record, file, options)) items.push(item)
      else if (
        !(record instanceof ShapedRecord) ||
        !shaped.take(record as ShapedRecord<ClaudePlan>, options.source, items)
      ) {
        shaped.settle()
        takeLine(record, file, options.source, items)
      }
    }
    shaped.settle()
    giveDamage(Number.POSITIVE_INFINITY)
    return items
  }

  const open = (): ReadItem => {
    isOpen = true
    return { type: 'session', session: toSession(facts.current()) }
  }

  const end = (): readonly ReadItem[] =>
    isOpen ? [{ type: 'session', session: toSession(facts.current(seen)) }] : []

  const sessionOf = (record: JsonRecord): string | undefined => {
    if (record instanceof ShapedRecord) return shaped.sessionOf(record as ShapedRecord<ClaudePlan>)
    return isObject(record.value) ? asString(record.value['sessionId']) : undefined
  }
  const isCut = ({ parse, isForeign }: FileOptions): boolean =>
    isForFacts && exact && parse === undefined && isForeign !== true
  const openingOf = (path: string, options: FileOptions): Opening => {
    const { expected, isForeign = false, parse } = options
    return createOpening({
      isOpen: () => isOpen,
      isNamed: (records) =>
        isForeign || parse !== undefined || facts.chooseSession(records, sessionOf, expected),
      toItems: (batch) => toItems(batch, path, options),
      open,
    })
  }

  return {
    async *read(file, options = {}) {
      const { isForeign = false } = options
      turnTo(file.path)
      const opening = openingOf(file.path, options)
      const batches = isForeign
        ? readRawRecords(file)
        : isCut(options)
          ? readClaudeRecords(file, shaped.asksBy)
          : readRecords(file)
      for await (const batch of batches) {
        const items = opening.take(batch)
        if (items === undefined) continue
        const isLong = batch.records.some(isLongRecord)
        yield items
        // Whoever asks for more is done with these, and frames that wait hold on to what they were given.
        if (isLong) items.length = 0
      }
      const isNamed = isOpen || facts.defaults.sessionId !== undefined
      const name = isNamed ? undefined : await options.otherwise?.()
      if (name !== undefined) facts.chooseSession([name], (one) => one, undefined)
      const last = opening.end()
      if (last !== undefined) yield last
    },
    atOnce(path, file, options = {}) {
      let records: RecordsAtOnce | undefined
      const leave = (): void => {
        records?.leave()
        file.leave()
      }
      let isBegun = false
      try {
        if (isCut(options)) records = claudeRecordsAtOnce(path, file, shaped.asksBy)
        const first = records?.next()
        if (records === undefined || first === undefined) return undefined
        const { isOwnOnly = false } = options
        isBegun = !isOwnOnly || areSurelyOwn(first.records, file.first.length, sessionOf)
        if (!isBegun) return undefined
        return { next: itemsAtOnce(first, records, openingOf(path, options), end), leave }
      } finally {
        if (!isBegun) leave()
      }
    },
    document: async (file, options) => others.file(file, options, await readDocumentBlock(file)),
    text: async (file, options) => others.file(file, options, await readTextBlock(file)),
    named: spawns.named,
    hasEmbedded: () => hasEmbedded,
    isChosen: facts.isChosen,
    ofSession() {
      const { sessionId, cwd, version, gitBranch, title, comesFrom } = facts.current(seen)
      return JSON.stringify([sessionId, cwd, version, gitBranch, title, comesFrom])
    },
    hasOwnModel: facts.hasOwnModel,
    open: () => (isOpen ? [] : [open()]),
    end,
  }
}

/** What is told by the lines before one. */
const createDerived = (): {
  readonly iterations: ReturnType<typeof createIterations>
  readonly cuts: ReturnType<typeof createCuts>
} => ({ iterations: createIterations(), cuts: createCuts() })

/** Of what is taken in one batch after the other, the last list with what is left at the end. */
function itemsAtOnce(
  first: RecordBatch,
  { next }: RecordsAtOnce,
  opening: Opening,
  end: () => readonly ReadItem[],
): () => readonly ReadItem[] | undefined {
  let batch: RecordBatch | undefined = first
  let isOver = false
  return () => {
    for (batch ??= next(); batch !== undefined; batch = next()) {
      const items = opening.take(batch)
      batch = undefined
      if (items !== undefined) return items
    }
    if (isOver) return undefined
    isOver = true
    return [...(opening.end() ?? []), ...end()]
  }
}
