/**
 * A session and its entries in memory, with the questions people ask of them. For sessions that fit; what streams uses the
 * same entries one at a time.
 */
import type { Damage } from './damage.ts'
import { PRIMARY, type Entry, type Role } from './entry.ts'
import type { Session } from './session.ts'
import { isNamed, keyAmong, providerOf } from './totals.ts'
import { hasCounts, laterReport, validUsage, type Usage } from './usage.ts'

export type Transcript = {
  readonly session: Session
  /** In the order they were recorded, all sources together. */
  readonly entries: readonly Entry[]
  readonly damage: readonly Damage[]
}

/** All entries of one provider message, or of one prompt. */
export type Turn = {
  readonly source: string
  readonly role: Role | undefined
  readonly messageId: string | undefined
  readonly entries: readonly Entry[]
  /** What the reports of the call say together: the last wins, count by count. */
  readonly usage: Usage | undefined
}

/** One source and the subagents it started. */
export type SourceTree = {
  readonly source: string
  readonly entries: readonly Entry[]
  readonly children: readonly SourceTree[]
}

export type Query = {
  all(): readonly Entry[]
  latest(): Entry | undefined
  where(predicate: (entry: Entry) => boolean): readonly Entry[]
  byRole(role: Role): readonly Entry[]
  bySource(source: string): readonly Entry[]
  turns(): readonly Turn[]
  tree(): SourceTree
}

export function query(entries: readonly Entry[]): Query {
  const where = (predicate: (entry: Entry) => boolean): readonly Entry[] => entries.filter(predicate)
  return {
    all: () => entries,
    latest: () => entries.at(-1),
    where,
    byRole: (role) => where((entry) => entry.role === role),
    bySource: (source) => where((entry) => entry.source === source),
    turns: () => turns(entries),
    tree: () => sourceTree(entries),
  }
}

type Draft = {
  readonly source: string
  readonly role: Role | undefined
  readonly messageId: string | undefined
  readonly entries: Entry[]
  provider: string | undefined
}

/** A fold over entries, never stored. Entries of one provider message are one turn, even when others stand between them. */
export function turns(entries: readonly Entry[]): readonly Turn[] {
  const folded: Draft[] = []
  const byMessage = new Map<string, Draft>()
  for (const entry of entries) {
    if (entry.kind === 'event') continue
    const { source, role, call } = entry
    const messageId = isNamed(call?.messageId) ? call.messageId : undefined
    const provider = providerOf(entry)
    const key =
      messageId === undefined ? undefined : keyAmong(byMessage, `${source}\n${role}\n${messageId}`, provider)
    const open = key === undefined ? undefined : byMessage.get(key)
    if (open !== undefined) {
      open.entries.push(entry)
      open.provider ??= provider
      continue
    }
    const turn = { source, role, messageId, entries: [entry], provider }
    folded.push(turn)
    if (key !== undefined) byMessage.set(key, turn)
  }
  return folded.map(({ source, role, messageId, entries: own }) => ({
    source,
    role,
    messageId,
    entries: own,
    usage: usageOf(own),
  }))
}

/** The call's usage by its reports, as totals count it: the last wins, count by count. */
function usageOf(entries: readonly Entry[]): Usage | undefined {
  let usage: Usage | undefined
  for (const entry of entries) {
    const report = validUsage(entry.usage)
    if (report === undefined) continue
    if (usage === undefined || !hasCounts(usage)) usage = report
    else if (hasCounts(report)) usage = laterReport(usage, report)
  }
  return usage
}

/**
 * The subagents as a tree. A subagent hangs below the source of the tool call that started it, where an entry says so
 * (`metadata.parentSource`), and else below the primary source.
 */
export function sourceTree(entries: readonly Entry[]): SourceTree {
  const bySource = new Map<string, Entry[]>([[PRIMARY, []]])
  const parents = new Map<string, string>()
  for (const entry of entries) {
    const own = bySource.get(entry.source)
    if (own === undefined) bySource.set(entry.source, [entry])
    else own.push(entry)
    const parent = entry.metadata?.['parentSource']
    if (typeof parent === 'string' && !parents.has(entry.source)) parents.set(entry.source, parent)
  }
  const build = (source: string, above: readonly string[]): SourceTree => {
    const below = [...bySource.keys()].filter(
      (child) =>
        child !== PRIMARY && child !== source && !above.includes(child) && parentOf(child) === source,
    )
    return {
      source,
      entries: bySource.get(source) ?? [],
      children: below.map((child) => build(child, [...above, source])),
    }
  }
  const parentOf = (source: string): string => {
    const parent = parents.get(source)
    return parent !== undefined && bySource.has(parent) && reachesPrimary(source, parents) ? parent : PRIMARY
  }
  return build(PRIMARY, [])
}

/** False for sources that name each other as parents in a circle: those hang below the primary source. */
function reachesPrimary(source: string, parents: ReadonlyMap<string, string>): boolean {
  const seen = new Set<string>()
  for (let at: string | undefined = source; at !== undefined && at !== PRIMARY; at = parents.get(at)) {
    if (seen.has(at)) return false
    seen.add(at)
  }
  return true
}
