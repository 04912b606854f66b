/** The facts of a session that was put away (see `stowing.ts`) and went on after all: counted anew, and both counts added up. */
import { toMillis } from '../transcript/instant.ts'
import { MOST_MODELS } from '../transcript/totals.ts'
import { WAYS } from '../transcript/tool-files.ts'
import { MOST_SPAWNS } from './spawns.ts'
import { addActivity } from './work-activity.ts'
import { FINDING_KINDS, MOST_FINDINGS, type Finding } from './work-waste.ts'
import { addCounts, MOST_SOURCES, MOST_TOOLS, type SessionWork } from './work.ts'
import { MOST_FILES } from './work-files.ts'
import type { Mention, SessionFacts } from './session-facts.ts'

/** `started`: the sessions that its calls started. */
export type Told = { readonly facts: SessionFacts; readonly started: readonly Mention[] }

/** What was told before, and what was told since: the later one knows the session. */
export function addTold(before: Told, since: Told): Told {
  const [a, b] = [before.facts, since.facts]
  const entries = a.entries + b.entries
  const toolCalls = a.toolCalls + b.toolCalls
  const models = union(a.session.totals?.models, b.session.totals?.models, MOST_MODELS)
  const totals = { entries, toolCalls, calls: 0, ...(models.length > 0 && { models }) }
  const known = new Set(before.started.map(({ session }) => session))
  return {
    facts: {
      ...b,
      session: { ...b.session, totals },
      entries,
      toolCalls,
      work: addWork(a.work, b.work),
    },
    started: [...before.started, ...since.started.filter(({ session }) => !known.has(session))].slice(
      0,
      MOST_SPAWNS,
    ),
  }
}

function addWork(a: SessionWork, b: SessionWork): SessionWork {
  const lastAt = laterOf(a.lastAt, b.lastAt)
  const activity = a.activity && b.activity ? addActivity(a.activity, b.activity) : (a.activity ?? b.activity)
  const tools = union(a.tools, b.tools, MOST_TOOLS)
  const sources = union(a.sources, b.sources, MOST_SOURCES)
  const files = addFiles(a, b)
  const isCut =
    a.isCut === true ||
    b.isCut === true ||
    files.isCut ||
    isLess(tools, a.tools, b.tools) ||
    isLess(sources, a.sources, b.sources)
  return {
    failed: a.failed + b.failed,
    errors: a.errors + b.errors,
    repeats: a.repeats + b.repeats,
    rereads: a.rereads + b.rereads,
    parts: union(a.parts, b.parts, Number.POSITIVE_INFINITY),
    sources,
    tools,
    files: files.named,
    touched: files.touched,
    ...(isCut && { isCut: true }),
    ...(lastAt !== undefined && { lastAt }),
    ...(activity && { activity }),
    findings: addFindings(a.findings, b.findings),
    rest: addRest(a.rest, b.rest),
  }
}

function union(a: readonly string[] = [], b: readonly string[] = [], most: number): readonly string[] {
  const all = new Set(a)
  for (const one of b) if (all.size < most) all.add(one)
  return [...all]
}

function isLess(all: readonly string[], ...parts: readonly (readonly string[])[]): boolean {
  return parts.some((part) => part.some((one) => !all.includes(one)))
}

type Files = {
  readonly named: SessionWork['files']
  readonly touched: number
  readonly isCut: boolean
}

const LOOKED = 'looked' satisfies (typeof WAYS)[number]
const isTouch = (letters: string): boolean => letters !== LOOKED.slice(0, 1)

/** Of files that only one of both names, each is another. */
function addFiles(a: SessionWork, b: SessionWork): Files {
  const named = new Map(Object.entries(a.files))
  let both = 0
  for (const [path, letters] of Object.entries(b.files)) {
    const known = named.get(path)
    if (known !== undefined && isTouch(known) && isTouch(letters)) both += 1
    if (known === undefined && named.size >= MOST_FILES) continue
    named.set(path, [...new Set(`${known ?? ''}${letters}`.split(''))].join(''))
  }
  return { named: toObject(named), touched: a.touched + b.touched - both, isCut: named.size >= MOST_FILES }
}

function laterOf(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return toMillis(b) >= toMillis(a) ? b : a
}

function addFindings(a: readonly Finding[], b: readonly Finding[]): readonly Finding[] {
  return FINDING_KINDS.flatMap((kind) =>
    [...a, ...b]
      .filter((finding) => finding.kind === kind)
      .toSorted((x, y) => y.count - x.count)
      .slice(0, MOST_FINDINGS),
  )
}

function addRest(a: SessionWork['rest'], b: SessionWork['rest']): SessionWork['rest'] {
  const all = new Map<string, number[]>()
  for (const rest of [a, b]) for (const [tool, counts] of Object.entries(rest)) addCounts(all, tool, counts)
  return toObject(all) as unknown as SessionWork['rest']
}

/** Names are anybody's: none is one of a plain object's own. */
function toObject<T>(entries: ReadonlyMap<string, T>): { readonly [name: string]: T } {
  return Object.assign(Object.create(null), Object.fromEntries(entries)) as { readonly [name: string]: T }
}
