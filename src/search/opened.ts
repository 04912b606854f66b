/** The state and the shards that searches are put to, opened once, and what is known of them at one moment. */
import type { Archive } from '../archive/archive.ts'
import { peekState, type State } from '../sources/state.ts'
import { createFacts } from './searching.ts'
import { openShardReader, type ShardReader } from './shard-reader.ts'
import { listShards } from './shard.ts'
import { stateMark } from './state-mark.ts'
import { createView, type View } from './view.ts'

export type Opened = {
  readonly state: State | undefined
  readonly readers: readonly ShardReader[]
  /** What is known at this moment; the same until something is written. */
  known(): Known
  /** Between the two, nothing changes that is searched. */
  begin(): void
  end(): void
  isOutdated(): boolean
  /** Goes on without the index. */
  drop(): void
  /** What is searched at this moment is closed when its last search has ended. */
  close(): void
}

type Known = {
  readonly view: View
  readonly facts: ReturnType<typeof createFacts>
  readonly numbers: Map<string, ReadonlyMap<string, number>>
}

export async function openAll(archive: Archive): Promise<Opened> {
  const state = await peekState(archive)
  const numbers = listShards(archive)
  const found = await Promise.all(numbers.map((number) => openShardReader(archive, number)))
  let readers = found.filter((reader) => reader !== undefined)
  let known: (Known & { readonly stamp: string }) | undefined
  let searches = 0
  /** What is no longer asked by those who begin. */
  let left: { close(): void }[] = []
  const closeLeft = (): void => {
    if (searches > 0) return
    for (const one of left) one.close()
    left = []
  }
  return {
    state,
    get readers() {
      return readers
    },
    known() {
      const database = (state as State).database
      const mark = stateMark(database)
      const stamp = JSON.stringify([mark, ...readers.map((reader) => reader.stamp())])
      if (known?.stamp === stamp) return known
      const view = createView(database, archive.home, readers, mark)
      known = { stamp, view, facts: createFacts(database, archive.home), numbers: new Map() }
      return known
    },
    begin() {
      searches += 1
      if (searches > 1) return
      state?.database.exec('BEGIN')
      for (const reader of readers) reader.begin()
    },
    end() {
      searches -= 1
      if (searches > 0) return
      state?.database.exec('COMMIT')
      for (const reader of readers) reader.end()
      closeLeft()
    },
    // Another process has begun a state, or a shard.
    isOutdated: () =>
      (state === undefined && archive.files.kind(`${archive.home}/index/state.db`) === 'file') ||
      listShards(archive).length > numbers.length,
    drop() {
      left.push(...readers)
      readers = []
      known = undefined
      closeLeft()
    },
    close() {
      left.push(...readers, ...(state ? [state] : []))
      closeLeft()
    },
  }
}
