/** Which call started which subagent of a session: said by the first entry of each, so that its lane can open at the call. */
import { signal } from '@preact/signals'
import { ask } from '../../api.ts'
import type { Columns } from './columns.ts'

export type Spawned = {
  readonly source: string
  readonly positions: readonly number[]
  readonly count: number
}

/** Sources that are looked at; entries of each that are shown in place. */
const MOST_SOURCES = 200
export const MOST_IN_PLACE = 100

export function createSpawned(id: string) {
  /** By the id of the call. */
  const byCall = signal<ReadonlyMap<string, Spawned>>(new Map())
  const known = new Map<string, string | undefined>()
  const ending = new AbortController()
  let columns: Columns | undefined
  let isBusy = false
  const look = async (): Promise<void> => {
    if (isBusy) return
    isBusy = true
    for (;;) {
      const now = columns
      const lanes = now === undefined ? [] : lanesOf(now)
      for (const { source, positions } of lanes) {
        const [first] = positions
        if (known.has(source) || first === undefined) continue
        const answer = await ask.entry(id, first, { signal: ending.signal })
        if (ending.signal.aborted) return
        const call = answer.ok ? answer.value.entry.metadata?.['spawnedBy'] : undefined
        known.set(source, typeof call === 'string' ? call : undefined)
      }
      byCall.value = new Map(
        lanes.flatMap((lane) => {
          const call = known.get(lane.source)
          return call === undefined ? [] : [[call, lane] as const]
        }),
      )
      // Others may have come meanwhile.
      if (now === columns) break
    }
    isBusy = false
  }
  return {
    byCall,
    follow(now: Columns): void {
      if (now.sources.length < 2 || now === columns) return
      columns = now
      void look()
    },
    end: () => ending.abort(),
  }
}

function lanesOf({ sources, sourceOf, length }: Columns): readonly Spawned[] {
  const lanes = sources.map((source) => ({ source, positions: [] as number[], count: 0 }))
  for (let at = 0; at < length; at += 1) {
    const lane = lanes[sourceOf[at] ?? 0]
    if (lane === undefined) continue
    lane.count += 1
    if (lane.positions.length < MOST_IN_PLACE) lane.positions.push(at)
  }
  return lanes.filter(({ source }) => source !== 'primary').slice(0, MOST_SOURCES)
}
