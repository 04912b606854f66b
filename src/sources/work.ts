/**
 * What a session did, counted while it is read: its tools, how often each failed and how long it took, the files it touched, when it
 * was busy, and what it did in vain. Memory does not grow with the session.
 */
import { callHash } from '../transcript/call-hash.ts'
import { hasFailed, TOLD, type Block, type ToolCallBlock, type ToolResultBlock } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { millisBetween } from '../transcript/instant.ts'
import { heldName, weightOfName } from '../transcript/held-text.ts'
import { callKey, toolName } from '../transcript/totals.ts'
import { filesIn, wayOf } from '../transcript/tool-files.ts'
import { createActivityFold, type Activity } from './work-activity.ts'
import { createTouchedFiles, pathsIn, type TouchedFiles } from './work-files.ts'
import { createOpenCalls, type OpenCalls } from './work-pairs.ts'
import { createWasteFold, type Called, type Finding, type WasteFold } from './work-waste.ts'

/** Of one tool: calls, those that failed, milliseconds of those whose time is known, how many these are, repetitions, re-reads. */
export type ToolCounts = readonly [number, number, number, number, number, number]
export const NO_COUNTS: ToolCounts = [0, 0, 0, 0, 0, 0]

export type SessionWork = {
  /** Results of tools that failed. */
  readonly failed: number
  /** Entries that hold an error, of a tool or another. */
  readonly errors: number
  readonly repeats: number
  readonly rereads: number
  /** What `has:` finds in it. */
  readonly parts: readonly string[]
  readonly sources: readonly string[]
  /** Every tool that an entry names, also in a result. */
  readonly tools: readonly string[]
  /** By path the ways in which it was touched, as the first letters of `WAYS`. */
  readonly files: { readonly [path: string]: string }
  /** Files that were touched: read, edited or written. */
  readonly touched: number
  /** True when there are more files, tools or sources than are named. */
  readonly isCut?: boolean
  readonly lastAt?: string
  readonly activity?: Activity
  readonly findings: readonly Finding[]
  /** Tool calls of no provider call that is told from others: what a copy of the session has in common with it is not known. */
  readonly rest: { readonly [tool: string]: ToolCounts }
}

export type WorkFold = {
  add(entry: Entry): void
  /** What a provider call's tools did, each once: what its row in the state says. Given out once. */
  take(call: string | undefined, tools: readonly string[] | undefined): readonly ToolCounts[] | undefined
  /** All that was not given out, and what is of the whole. */
  end(): SessionWork
  /** What `take` would give now, without giving it out. */
  look(call: string | undefined, tools: readonly string[] | undefined): readonly ToolCounts[] | undefined
  /** What `end` would say now, were those calls given out that are open: `toolsOf` has what each of them names. */
  now(toolsOf: (call: string) => readonly string[] | undefined): SessionWork
  /** Not everything is named, or remembered: what is, hangs on the order in which it came. */
  isFull(): boolean
  /** Provider calls whose tools did something since this was last asked; none unless it is followed. */
  changed(): readonly string[]
}

/** A hostile file may name any number. Beyond these they are counted and not named. */
export const MOST_TOOLS = 200
export const MOST_SOURCES = 200
/** As many as a call's row names. */
const MOST_TOOLS_OF_CALL = 50
export const OTHERS = '(others)'
/** Told apart by what its calls say together. */
export const MOST_TOOLS_OF_SESSION = 10_000
/** Provider calls whose tools are not given out yet: at least as many as stay open for a later report. */
const MOST_TALLIES = 20_000
/** The same of their tools, of which most have one, by what their names weigh. */
const MOST_TALLIED = 100_000

/** By tool. Most provider calls call one: a map for each of them would cost more than the rest of this. */
type Tally = [tool: string, counts: number[]][]
type Held = {
  readonly open: OpenCalls<Open>
  readonly waste: WasteFold
  readonly files: TouchedFiles
}
type Open = Called & { readonly at: string | undefined; readonly counts: number[] }

/** `isFollowed`: somebody asks now and then what has changed. */
export function createWorkFold(isFollowed = false): WorkFold {
  const changed = isFollowed ? new Set<string>() : undefined
  const tallies = new Map<string, Tally>()
  let tallied = 0
  const rest = new Map<string, number[]>()
  // Made when there is something to hold: a unit may have a hundred thousand sessions that call nothing.
  let made: Held | undefined
  const held = (): Held =>
    (made ??= { open: createOpenCalls(), waste: createWasteFold(), files: createTouchedFiles() })
  const activity = createActivityFold()
  const [parts, sources, tools] = [new Set<string>(), new Set<string>(), new Set<string>()]
  let [failed, errors, repeats, rereads] = [0, 0, 0, 0]
  let isCut = false
  let lastSource: string | undefined

  const name = (names: Set<string>, one: string, most: number): void => {
    if (names.has(one)) return
    if (names.size < most) names.add(one)
    else isCut = true
  }
  const countsFor = (call: string | undefined, tool: string): number[] => {
    if (call === undefined) return countsOf(rest, tool)
    const known = tallies.get(call)
    const own = known && countsIn(known, tool)
    if (own !== undefined) return own
    if (known !== undefined && known.length >= MOST_TOOLS_OF_CALL) return countsOf(rest, tool)
    const counts = [0, 0, 0, 0, 0, 0]
    tallied += weightOfName(tool)
    if (known !== undefined) known.push([tool, counts])
    else tallies.set(call, [[tool, counts]])
    if (tallies.size > MOST_TALLIES || tallied > MOST_TALLIED) {
      for (const [oldest, old] of tallies) {
        if (tallies.size <= MOST_TALLIES / 2 && tallied <= MOST_TALLIED / 2) break
        if (oldest === call) continue
        tallies.delete(oldest)
        for (const [name, counts] of old) {
          tallied -= weightOfName(name)
          addCounts(rest, name, counts)
        }
      }
    }
    return counts
  }
  const addCall = (entry: Entry, block: ToolCallBlock, call: string | undefined): void => {
    const tool = toolName(block.name)
    name(tools, tool, MOST_TOOLS)
    const told = block[TOLD]
    const way = told?.way ?? wayOf(block.name, block.input)
    const named = pathsIn(told?.files ?? filesIn(block.input))
    const { files, waste, open } = held()
    for (const file of named) files.add(file, way)
    const mark = { source: heldName(entry.source), sequence: entry.sequence }
    const again = waste.called({ tool, mark, call, way, files: named, hash: told?.hash ?? callHash(block) })
    if (again === 'repeat') repeats += 1
    if (again === 'reread') rereads += 1
    const counts = countsFor(call, tool)
    if (call !== undefined) changed?.add(call)
    counts[0] = (counts[0] ?? 0) + 1
    if (again !== undefined) bump(counts, again === 'repeat' ? 4 : 5, 1)
    open.open(entry.source, block.callId, block.name, { tool, mark, call, at: entry.at, counts })
  }
  const addResult = (entry: Entry, block: ToolResultBlock): void => {
    if (block.name !== undefined) name(tools, toolName(block.name), MOST_TOOLS)
    const isFailed = hasFailed(block)
    if (isFailed) failed += 1
    const call = made?.open.answer(entry.source, block)
    if (call === undefined) return
    if (call.call !== undefined) changed?.add(call.call)
    if (isFailed) bump(call.counts, 1, 1)
    // What the agent states of the one result is nearer than its clock.
    const stated = isOnlyResult(entry) ? entry.durationMs : undefined
    const tookMs = stated ?? millisBetween(call.at, entry.at)
    if (tookMs !== undefined && tookMs >= 0 && tookMs < LONGEST_MS) {
      bump(call.counts, 2, Math.round(tookMs))
      bump(call.counts, 3, 1)
    }
    made?.waste.answered(call, isFailed)
  }

  /** `rest`: what no call was given out with. */
  const told = (rest: ReadonlyMap<string, number[]>): SessionWork => {
    const [lastAt, busy] = [activity.lastAt(), activity.activity()]
    return {
      failed,
      errors,
      repeats,
      rereads,
      parts: [...parts],
      sources: [...sources],
      tools: [...tools],
      files: made?.files.named() ?? {},
      touched: made?.files.touched() ?? 0,
      ...((isCut || made?.files.isCut()) && { isCut: true }),
      ...(lastAt !== undefined && { lastAt }),
      ...(busy && { activity: busy }),
      findings: made?.waste.findings() ?? [],
      rest: Object.assign(Object.create(null), Object.fromEntries(rest)) as SessionWork['rest'],
    }
  }

  return {
    add(entry) {
      const { blocks, at } = entry
      const source = heldName(entry.source)
      activity.add(at)
      if (source !== lastSource) name(sources, source, MOST_SOURCES)
      lastSource = source
      let hasError = false
      for (const block of blocks) if (addParts(parts, block)) hasError = true
      if (hasError) errors += 1
      // What another file's history was copied from is that file's doing.
      if (entry.metadata?.['replayed'] === true) return
      for (const block of blocks) {
        if (block.type === 'tool-call' && typeof block.name === 'string')
          addCall(entry, block, callKey(entry))
        else if (block.type === 'tool-result') addResult(entry, block)
      }
    },
    take(call, named) {
      const tally = call === undefined ? undefined : tallies.get(call)
      if (call === undefined || tally === undefined) return undefined
      tallies.delete(call)
      for (const [tool] of tally) tallied -= weightOfName(tool)
      addUnnamed(rest, tally, named)
      return countsNamed(tally, named)
    },
    end() {
      for (const tally of tallies.values()) addUnnamed(rest, tally, undefined)
      tallies.clear()
      tallied = 0
      return told(rest)
    },
    look(call, named) {
      const tally = call === undefined ? undefined : tallies.get(call)
      return tally && countsNamed(tally, named).map(([...counts]) => counts)
    },
    now(toolsOf) {
      const left = new Map([...rest].map(([tool, counts]) => [tool, [...counts]]))
      for (const [call, tally] of tallies) addUnnamed(left, tally, toolsOf(call))
      return told(left)
    },
    isFull() {
      const isNamed = sources.size < MOST_SOURCES && tools.size < MOST_TOOLS && !isCut
      return !isNamed || made?.files.isCut() === true || made?.waste.isFull() === true
    },
    changed() {
      const calls = [...(changed ?? [])]
      changed?.clear()
      return calls
    },
  }
}

/** What a call's tools did that its row does not name. */
function addUnnamed(rest: Map<string, number[]>, tally: Tally, named: readonly string[] | undefined): void {
  for (const [tool, counts] of tally)
    if (named === undefined || !named.includes(tool)) addCounts(rest, tool, counts)
}

function countsNamed(tally: Tally, named: readonly string[] = []): readonly ToolCounts[] {
  return named.map((tool) => (countsIn(tally, tool) as unknown as ToolCounts | undefined) ?? NO_COUNTS)
}

/** A tool that runs for longer than a month was not answered, but found again. */
const LONGEST_MS = 31 * 86_400_000

function isOnlyResult({ blocks }: Entry): boolean {
  return blocks.length === 1 || blocks.filter(({ type }) => type === 'tool-result').length === 1
}

/** As `has:` means them. True for one that holds an error. */
function addParts(parts: Set<string>, block: Block): boolean {
  switch (block.type) {
    case 'text':
    case 'unknown':
      return false
    case 'thinking':
    case 'image':
    case 'error':
      parts.add(block.type)
      return block.type === 'error'
    case 'tool-call':
      parts.add('tool')
      return false
    case 'tool-result': {
      parts.add('tool')
      let isError = hasFailed(block)
      if (Array.isArray(block.output))
        for (const one of block.output) if (addParts(parts, one)) isError = true
      if (isError) parts.add('error')
      return isError
    }
  }
}

function countsIn(tally: Tally, tool: string): number[] | undefined {
  for (const [name, counts] of tally) if (name === tool) return counts
  return undefined
}

function countsOf(tally: Map<string, number[]>, tool: string): number[] {
  const key = tally.has(tool) || tally.size < MOST_TOOLS ? tool : OTHERS
  const known = tally.get(key)
  if (known !== undefined) return known
  const counts = [...NO_COUNTS]
  tally.set(key, counts)
  return counts
}

/** Beyond as many tools as are told apart, to the others. */
export function addCounts(tally: Map<string, number[]>, tool: string, more: readonly number[]): void {
  const counts = countsOf(tally, tool)
  for (const [at, count] of more.entries()) bump(counts, at, count)
}

function bump(counts: number[], at: number, by: number): void {
  counts[at] = (counts[at] ?? 0) + by
}
