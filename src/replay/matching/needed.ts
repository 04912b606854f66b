/** Which normalisers it took to find a request the same. */
import type { Json } from '../../transcript/json.ts'
import { neededFor, RESULT_ORDER, wayOf, type Normaliser } from './normalisers.ts'
import { diffPaths } from './path-diff.ts'

/** Differences that are looked at. */
const MOST_READ = 200

export function normalisersFor(
  recorded: Json,
  live: Json,
  normalisers: readonly Normaliser[],
): readonly string[] {
  const way = wayOf(normalisers)
  const needed = new Set<string>()
  diffPaths(recorded, live, {
    most: MOST_READ,
    onValues(was, said, path) {
      const field = path.split('.').find((name) => way.isLeftOut(name))
      const names =
        field === undefined
          ? neededFor(was, said, normalisers)
          : normalisers.filter(({ fields }) => fields?.has(field)).map(({ name }) => name)
      for (const name of names.length > 0 ? names : [RESULT_ORDER]) needed.add(name)
    },
  })
  return [...needed].sort()
}
