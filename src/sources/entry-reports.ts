/**
 * What a record says beside its content: its call, what that used, why it ended. A reader may have it from a record further on, so of two
 * versions of a file either may know more of the same entry.
 */
import type { Entry } from '../transcript/entry.ts'
import { toJson } from '../transcript/json.ts'
import { COUNTS, hasCounts, laterReport, qualityRank, type Usage } from '../transcript/usage.ts'
import { hash } from './entry-keys.ts'

export type Report = Pick<Entry, 'model' | 'usage' | 'stopReason' | 'durationMs' | 'call'> & {
  /** Marks that are true, as that the entry was rolled back. */
  readonly marks?: readonly string[]
}

/** Of messages. What an event has in one version alone stands on a message in the other: there it would be said twice. */
export function reportOf(entry: Entry): Report {
  const { kind, model, usage, stopReason, durationMs, call, metadata = {} } = entry
  if (kind === 'event') return {}
  const marks = Object.keys(metadata).filter((key) => metadata[key] === true)
  return {
    ...(model !== undefined && { model }),
    ...(usage !== undefined && { usage }),
    ...(stopReason !== undefined && { stopReason }),
    ...(durationMs !== undefined && { durationMs }),
    ...(call !== undefined && { call }),
    ...(marks.length > 0 && { marks: marks.toSorted() }),
  }
}

/** Undefined for nothing. */
export function reportHash({
  model,
  usage,
  stopReason,
  durationMs,
  call,
  marks,
}: Report): string | undefined {
  const parts = [model, usage, stopReason, durationMs, call, marks]
  return parts.every((part) => part === undefined)
    ? undefined
    : hash(toJson(parts.map((part) => part ?? null)))
}

/** What the newer says, and of the older what that does not. A call is named by whoever counted it. */
export function bothReports(older: Report, newer: Report): Report {
  const usage = fullerUsage(older.usage, newer.usage)
  const isOlders = isCounted(older.usage) && !isCounted(newer.usage)
  const { call = newer.call ?? older.call } = isOlders ? older : newer
  const marks = [...new Set([...(older.marks ?? []), ...(newer.marks ?? [])])].toSorted()
  return {
    ...older,
    ...newer,
    ...(usage !== undefined && { usage }),
    ...(call !== undefined && { call }),
    ...(marks.length > 0 && { marks }),
  }
}

/** True when the one has what the other lacks. Marks and names follow from other records, which are there or not. */
export function saysMore(both: Report, now: Report): boolean {
  return (
    both.model !== now.model ||
    both.stopReason !== now.stopReason ||
    both.durationMs !== now.durationMs ||
    both.usage?.quality !== now.usage?.quality ||
    COUNTS.some((count) => both.usage?.[count] !== now.usage?.[count])
  )
}

export function withReport(entry: Entry, { marks = [], ...report }: Report): Entry {
  if (marks.length === 0) return { ...entry, ...report }
  const marked = Object.fromEntries(marks.map((mark) => [mark, true]))
  return { ...entry, ...report, metadata: { ...entry.metadata, ...marked } }
}

const isCounted = (usage: Usage | undefined): boolean => usage !== undefined && hasCounts(usage)

/** The newer's counts, unless the older's are surer. */
function fullerUsage(older: Usage | undefined, newer: Usage | undefined): Usage | undefined {
  if (older === undefined || newer === undefined) return newer ?? older
  const isSurer = hasCounts(older) && qualityRank(older.quality) < qualityRank(newer.quality)
  return isSurer && newer.quality !== 'partial' ? { ...newer, ...older } : laterReport(older, newer)
}
