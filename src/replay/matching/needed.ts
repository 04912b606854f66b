/** What it took to find a request the same: which normalisers, and which ids of the recording are others in this run. */
import type { Json } from '../../transcript/json.ts'
import { VOLATILE } from '../volatile.ts'
import { neededFor, RESULT_ORDER, wayOf, type Normaliser } from './normalisers.ts'
import { diffPaths } from './path-diff.ts'

export type Needed = {
  readonly by: readonly string[]
  /** From the recording's to this run's. */
  readonly names: ReadonlyMap<string, string>
}

/** Differences that are looked at. */
const MOST_READ = 200

export function findNeeded(recorded: Json, live: Json, normalisers: readonly Normaliser[]): Needed {
  const way = wayOf(normalisers)
  const needed = new Set<string>()
  const names = new Map<string, string>()
  diffPaths(recorded, live, {
    most: MOST_READ,
    onValues(was, said, path) {
      const field = path.split('.').find((name) => way.isLeftOut(name))
      const rows =
        field === undefined
          ? neededFor(was, said, normalisers)
          : normalisers.filter(({ fields }) => fields?.has(field)).map(({ name }) => name)
      for (const name of rows.length > 0 ? rows : [RESULT_ORDER]) needed.add(name)
      if (field === undefined && typeof was === 'string' && typeof said === 'string')
        for (const [then, now] of pairNames(was, said)) names.set(then, now)
    },
  })
  return { by: [...needed].sort(), names }
}

/** Those that stand at the same places of two texts. None of a shape that one text has more of: nobody knows which are missing. */
function pairNames(recorded: string, live: string): readonly (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = []
  let [then, now] = [recorded, live]
  for (const { isNamedAgain, shapes = [] } of VOLATILE)
    for (const [shape, instead] of shapes) {
      const [all, others] = isNamedAgain ? [then.match(shape) ?? [], now.match(shape) ?? []] : [[], []]
      if (all.length === others.length)
        for (const [at, name] of all.entries())
          if (name !== others[at]) pairs.push([name, others[at] as string])
      then = then.replace(shape, instead)
      now = now.replace(shape, instead)
    }
  return pairs
}
