/**
 * Tells which calls are the same where two sources name them differently: the proxy goes by the provider's id, an agent's log by one of its
 * own. Same model, counts and tools within a few minutes, each call once, nearest in time first. Pure: the order of arrival decides nothing.
 */

/** `at`: milliseconds since 1970. `tools`: their names, as a list in a text; empty where none is stated. */
export type Sighting = {
  readonly key: string
  readonly counts: string
  readonly model: string | undefined
  readonly tools: string
  readonly agent: string | undefined
  readonly at: number
}

/** A log may state when an answer began, the proxy when it ended. */
export const SAME_CALL_MS = 10 * 60_000

/** Of calls with the same counts, such as pings: so many of the nearest are compared. */
const MOST_NEAR = 20

/** `seen`: by us. `logged`: by agents. A key stands once in each list. */
export function matchCalls<S extends Sighting, L extends Sighting>(
  seen: readonly S[],
  logged: readonly L[],
): readonly (readonly [seen: S, logged: L])[] {
  const byCounts = new Map<string, L[]>()
  for (const call of logged.toSorted(byTime)) {
    const known = byCounts.get(call.counts)
    if (known === undefined) byCounts.set(call.counts, [call])
    else known.push(call)
  }
  const near = seen.flatMap((call) => {
    const others = (byCounts.get(call.counts) ?? []).filter((other) => mayBeSame(call, other))
    return others
      .map((other) => ({ call, other, apart: Math.abs(call.at - other.at) }))
      .toSorted((a, b) => a.apart - b.apart || inOrder(a.other.key, b.other.key))
      .slice(0, MOST_NEAR)
  })
  near.sort(
    (a, b) => a.apart - b.apart || inOrder(a.call.key, b.call.key) || inOrder(a.other.key, b.other.key),
  )
  const [taken, given] = [new Set<S>(), new Set<L>()]
  return near.flatMap(({ call, other }) => {
    if (taken.has(call) || given.has(other)) return []
    taken.add(call)
    given.add(other)
    return [[call, other] as const]
  })
}

function mayBeSame(a: Sighting, b: Sighting): boolean {
  return (
    Math.abs(a.at - b.at) <= SAME_CALL_MS &&
    (a.agent === undefined || b.agent === undefined || a.agent === b.agent) &&
    (a.tools === '' || b.tools === '' || a.tools === b.tools) &&
    isSameModel(a.model, b.model)
  )
}

/** A log may leave out the vendor (`openai/gpt-5.5`) or the date (`claude-sonnet-4-5-20250929`). */
function isSameModel(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return true
  const [one, other] = [plain(a), plain(b)]
  return one.startsWith(other) || other.startsWith(one)
}

function plain(model: string): string {
  return model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
}

function byTime(a: Sighting, b: Sighting): number {
  return a.at - b.at || inOrder(a.key, b.key)
}

function inOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
