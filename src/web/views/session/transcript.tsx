/** The entries of a session as a list that holds only what is in sight, with the map beside it. */
import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ApiChild } from '../../../server/api.ts'
import { announce } from '../../state/announce.ts'
import { Button } from '../../ui/button.tsx'
import { exactCount } from '../../ui/numbers.ts'
import { VirtualList, type VirtualHandle } from '../../ui/virtual.tsx'
import { ChildLane, SubagentLane } from './child-lane.tsx'
import { EntryView } from './entry.tsx'
import { markWords, wordsOf } from './finding.ts'
import { LaneRow } from './lane-row.tsx'
import { Minimap } from './minimap.tsx'
import type { Rows } from './rows.ts'
import type { Shown } from './shown.ts'
import type { SessionStore } from './store.ts'

export type TranscriptProps = {
  readonly store: SessionStore
  readonly shown: Shown
  readonly rows: Rows
  /** Another one where rows are others than before. */
  readonly rowsKey: string
  readonly start: number | undefined
  readonly find: string
  readonly list: RefObject<VirtualHandle | null>
  readonly onTop: (position: number, last: number) => void
  readonly onJump: (position: number) => void
  readonly onTurnLane: (source: string, position: number) => void
  readonly onRaw: (position: number) => void
}

const ESTIMATE = 44

export function Transcript(props: TranscriptProps) {
  const { store, shown, rows, list, start } = props
  const [range, setRange] = useState({ from: 0, to: 0 })
  const [isAtEnd, setAtEnd] = useState(true)
  const place = useRef<HTMLDivElement>(null)
  const length = store.length.value
  const first = useRef(length)
  const left = useRef(length)
  if (isAtEnd) left.current = length
  const answer = store.answer.value
  const isLive = answer?.row.status === 'running' || length > first.current
  void store.version.value
  const spawnedBy = store.spawned.byCall.value

  const started = useMemo(() => {
    const byCitation = new Map<string, ApiChild[]>()
    for (const child of answer?.children ?? [])
      if (child.citation !== undefined)
        byCitation.set(child.citation, [...(byCitation.get(child.citation) ?? []), child])
    return byCitation
  }, [answer?.children])
  const positions = useMemo(
    () =>
      Array.from(
        { length: Math.max(0, range.to - range.from) },
        (_, at) => rows.at(range.from + at).position,
      ),
    [rows, range],
  )
  useEffect(() => store.pages.want(positions), [positions, length])
  useEffect(() => {
    if (length > first.current && !isAtEnd) announce(`${length - left.current} new entries`)
  }, [length])
  const words = useMemo(() => wordsOf(props.find), [props.find])
  useEffect(() => {
    if (place.current !== null) markWords(place.current, words)
  })

  const draw = (index: number) => {
    const { position, lane, source } = rows.at(index)
    if (lane !== undefined)
      return (
        <LaneRow
          position={position}
          lane={lane}
          columns={store.columns.value}
          store={store}
          onTurn={() => props.onTurnLane(lane.source, position)}
        />
      )
    const row = store.pages.get(position)
    if (row === undefined)
      return (
        <div class="entry is-loading" data-focus tabIndex={-1} aria-label={`Entry ${position}, loading`} />
      )
    return (
      <EntryView
        row={row}
        before={store.pages.get(position - 1)}
        source={source}
        store={store}
        shown={shown}
        onRaw={props.onRaw}
        started={[
          ...row.entry.blocks.flatMap((block) => {
            const spawned = block.type === 'tool-call' ? spawnedBy.get(block.callId ?? '') : undefined
            return spawned === undefined
              ? []
              : [<SubagentLane key={spawned.source} store={store} spawned={spawned} />]
          }),
          ...(started.get(row.citation) ?? []).map((child) => <ChildLane key={child.id} child={child} />),
        ]}
      />
    )
  }
  const last =
    rows.count === 0 ? 0 : rows.at(Math.min(rows.count, Math.max(range.from, range.to)) - 1).position
  return (
    <div class="transcript" ref={place}>
      <VirtualList
        key={props.rowsKey}
        class="transcript-list"
        label="Transcript"
        count={rows.count}
        estimate={ESTIMATE}
        row={draw}
        keyOf={(index) => {
          const { position, lane } = rows.at(index)
          return lane === undefined ? position : `lane ${position}`
        }}
        {...(start !== undefined && { start })}
        followEnd={isLive}
        onRange={(from, to) => setRange({ from, to })}
        onTop={(top) => props.onTop(rows.at(top).position, last)}
        onEnd={setAtEnd}
        handle={list}
        isFocusable
      />
      {store.columns.value.length > 0 && (
        <Minimap columns={store.columns.value} from={positions[0] ?? 0} to={last + 1} onJump={props.onJump} />
      )}
      {isLive && !isAtEnd && (
        <Button kind="primary" class="newest" onClick={() => list.current?.scrollTo(rows.count - 1, 'start')}>
          Jump to newest{length > left.current ? ` (${exactCount(length - left.current)} new)` : ''} ↓
        </Button>
      )}
    </div>
  )
}
