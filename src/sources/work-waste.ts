/**
 * What a session did again and again, noticed as its calls go by, each source by itself: the same call with nothing changed in
 * between, the same file read again though nothing of the session's own changed it, failures upon failures. Memory is bounded.
 */
import { PRIMARY } from '../transcript/entry.ts'
import type { Way } from '../transcript/tool-files.ts'

/** An entry, within its session. */
export type Mark = { readonly source: string; readonly sequence: number }

export const FINDING_KINDS = ['repeated-calls', 're-reads', 'failures'] as const
export type FindingKind = (typeof FINDING_KINDS)[number]

export type Finding = {
  readonly kind: FindingKind
  /** What was called; for failures the tool that failed last. */
  readonly tool: string
  /** For re-reads. */
  readonly file?: string
  /** How often in all: the first time counts. */
  readonly count: number
  /** The first few, and the last. */
  readonly marks: readonly Mark[]
  /** The provider call of the last: who pays for that one, has done this. See `callKey`. */
  readonly call?: string
}

/** A tool's call. `call`: the provider call that it is of, see `callKey`. */
export type Called = { readonly tool: string; readonly mark: Mark; readonly call: string | undefined }
export type ToolUse = Called & {
  readonly way: Way
  readonly files: readonly string[]
  readonly hash: number
}

export type WasteFold = {
  /** What it is again, if it is. */
  called(use: ToolUse): 'repeat' | 'reread' | undefined
  answered(use: Called, isFailed: boolean): void
  findings(): readonly Finding[]
  /** Sources were let go of: which, hangs on the order in which they came. */
  isFull(): boolean
}

/** A call is a repetition when the same one was made within so many calls of its source before. */
const WINDOW = 16
/** From so many on it is told of. */
const LEAST = 3
/** Of each kind. */
export const MOST_FINDINGS = 5
const MARKS = 3
/** Of each source: files remembered as read or changed, the oldest let go. Of a session: sources. */
const MOST_FILES = 1000
const MOST_LANES = 50

type Run = {
  readonly kind: FindingKind
  tool: string
  readonly file: string | undefined
  count: number
  readonly first: Mark[]
  last: Mark
  call: string | undefined
  /** The number of its last call in the source. */
  at: number
  epoch: number
}

type Lane = {
  calls: number
  /** Raised with everything that changes a file. */
  epoch: number
  readonly recent: Map<number, Run>
  readonly reads: Map<number, Run>
  /** By file: the number of the last call that changed it. */
  readonly changed: Map<string, number>
  failing: Run | undefined
  readonly kept: Kept
}

type Kept = Readonly<Record<FindingKind, Run[]>>

export function createWasteFold(): WasteFold {
  const lanes = new Map<string, Lane>()
  /** Of sources that were let go of. */
  const gone = createKept()
  let isFull = false

  const laneOf = (source: string): Lane => {
    const known = lanes.get(source)
    if (known !== undefined) return known
    const lane: Lane = {
      calls: 0,
      epoch: 0,
      recent: new Map(),
      reads: new Map(),
      changed: new Map(),
      failing: undefined,
      kept: createKept(),
    }
    lanes.set(source, lane)
    if (lanes.size > MOST_LANES) letGoOfOldest()
    return lane
  }
  const letGoOfOldest = (): void => {
    isFull = true
    for (const [source, { kept }] of lanes) {
      if (lanes.size <= MOST_LANES / 2) return
      lanes.delete(source)
      for (const kind of FINDING_KINDS) for (const run of kept[kind]) keep(gone[kind], run)
    }
  }
  const goOn = (run: Run, { tool, mark, call }: Called): void => {
    run.count += 1
    run.tool = tool
    run.last = mark
    run.call = call
    if (run.first.length < MARKS) run.first.push(mark)
    if (run.count >= LEAST) keep(lanes.get(mark.source)?.kept[run.kind] ?? gone[run.kind], run)
  }

  return {
    called(use) {
      const lane = laneOf(use.mark.source)
      lane.calls += 1
      return use.way === 'read' && use.files.length > 0 ? reread(lane, use, goOn) : repeat(lane, use, goOn)
    },
    answered(use, isFailed) {
      const lane = laneOf(use.mark.source)
      if (!isFailed) lane.failing = undefined
      else if (lane.failing === undefined) lane.failing = begin('failures', use, undefined, lane)
      else goOn(lane.failing, use)
    },
    findings: () =>
      FINDING_KINDS.flatMap((kind) =>
        [gone, ...[...lanes.values()].map(({ kept }) => kept)]
          .flatMap((kept) => kept[kind])
          .toSorted(byCount)
          .slice(0, MOST_FINDINGS)
          .map(toFinding),
      ),
    isFull: () => isFull,
  }
}

const createKept = (): Kept => ({ 'repeated-calls': [], 're-reads': [], failures: [] })

/** Of as many, the main agent's come first, then in the order in which they began: whichever source was read first. */
function byCount(a: Run, b: Run): number {
  const [one, other] = [a.last, b.last]
  if (a.count !== b.count) return b.count - a.count
  if (one.source !== other.source)
    return one.source === PRIMARY || (other.source !== PRIMARY && one.source < other.source) ? -1 : 1
  return (a.first[0]?.sequence ?? 0) - (b.first[0]?.sequence ?? 0)
}

type GoOn = (run: Run, use: Called) => void

function repeat(lane: Lane, use: ToolUse, goOn: GoOn): 'repeat' | undefined {
  const run = lane.recent.get(use.hash)
  const isAgain = run !== undefined && lane.calls - run.at <= WINDOW && run.epoch === lane.epoch
  // What was done before a change may be worth doing after it; the change itself, done again, is not another one.
  if (use.way === 'edited' || use.way === 'written') {
    lane.epoch += 1
    for (const file of use.files) remember(lane.changed, file, lane.calls, MOST_FILES)
  }
  if (isAgain) {
    goOn(run, use)
    run.at = lane.calls
    run.epoch = lane.epoch
    return 'repeat'
  }
  remember(lane.recent, use.hash, begin('repeated-calls', use, undefined, lane), WINDOW * 2)
  return undefined
}

function reread(lane: Lane, use: ToolUse, goOn: GoOn): 'reread' | undefined {
  const run = lane.reads.get(use.hash)
  const isChanged = (at: number): boolean => {
    for (const file of use.files) if ((lane.changed.get(file) ?? 0) > at) return true
    return false
  }
  if (run !== undefined && !isChanged(run.at)) {
    goOn(run, use)
    run.at = lane.calls
    return 'reread'
  }
  const [file] = use.files
  remember(lane.reads, use.hash, begin('re-reads', use, file, lane), MOST_FILES)
  return undefined
}

function begin(
  kind: FindingKind,
  { tool, mark, call }: Called,
  file: string | undefined,
  { calls, epoch }: Lane,
): Run {
  return { kind, tool, file, count: 1, first: [mark], last: mark, call, at: calls, epoch }
}

/** As the newest of so many, of which the older half goes at once: to find the oldest takes as long as finding all of them. */
function remember<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= most) return
  for (const oldest of map.keys()) {
    if (map.size <= most / 2) return
    map.delete(oldest)
  }
}

/** Runs grow while they are kept, so that the list is right when it is asked for. */
function keep(runs: Run[], run: Run): void {
  if (runs.includes(run)) return
  if (runs.length < MOST_FINDINGS) {
    runs.push(run)
    return
  }
  const least = runs.reduce((a, b) => (b.count < a.count ? b : a))
  if (run.count > least.count) runs[runs.indexOf(least)] = run
}

function toFinding({ kind, tool, file, count, first, last, call }: Run): Finding {
  const marks = first.some(({ sequence }) => sequence === last.sequence) ? first : [...first, last]
  return {
    kind,
    tool,
    ...(file !== undefined && { file }),
    count,
    marks,
    ...(call !== undefined && { call }),
  }
}
