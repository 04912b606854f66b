/** The entries of a session as a list that holds only what is in sight, with the map beside it. */
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import { useSignal, type ReadonlySignal } from '@preact/signals'
import type { ApiChild, EntryRow } from '../../../server/api.ts'
import { announce } from '../../state/announce.ts'
import { Button } from '../../ui/button.tsx'
import { exactCount } from '../../ui/numbers.ts'
import { VirtualList, type VirtualHandle } from '../../ui/virtual.tsx'
import { createAllowance } from './allowance.ts'
import { ChildLane, SubagentLane } from './child-lane.tsx'
import { createDrawn, relatedTo } from './drawn.ts'
import { PAGE } from './pages.ts'
import { playedRows, playedStore } from './played.ts'
import type { Playback } from './playing.ts'
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
  readonly playback: Playback
  readonly onTop: (position: number, last: number) => void
  readonly onJump: (position: number) => void
  readonly onTurnLane: (source: string, position: number) => void
  readonly onRaw: (position: number) => void
}

const ESTIMATE = 44
const UPWARDS = ['PageUp', 'ArrowUp', 'Home']

export function Transcript(props: TranscriptProps) {
  const { shown, list, start, playback } = props
  const moment = playback.moment.value
  const isPlayed = moment !== undefined
  const store = useMemo(
    () => (isPlayed ? playedStore(props.store, () => playback.moment.peek()) : props.store),
    [props.store, isPlayed],
  )
  const rows = useMemo(
    () => (moment === undefined ? props.rows : playedRows(props.rows, moment)),
    [props.rows, moment],
  )
  /** Rows in the document. A signal: who scrolls has this component drawn once, and not with every row. */
  const range = useSignal({ from: 0, to: 0 })
  const [isAtEnd, setAtEnd] = useState(true)
  const place = useRef<HTMLDivElement>(null)
  const length = store.length.value
  const first = useRef(length)
  const left = useRef(length)
  if (isAtEnd) left.current = length
  const answer = store.answer.value
  const isLive = answer?.row.status === 'running' || length > first.current || isPlayed
  void store.version.value
  const spawned = store.spawned.byCall.value
  const started = useMemo(() => byCitation(answer?.children ?? []), [answer?.children])
  const [, redraw] = useReducer((times: number) => times + 1, 0)
  const allowance = useMemo(
    () =>
      createAllowance(
        () => list.current?.isHurried() === true,
        () => redraw(undefined),
      ),
    [list],
  )
  useEffect(() => () => allowance.end(), [allowance])
  const drawn = useMemo(
    () => createDrawn(allowance),
    [store, shown, started, spawned, props.onRaw, allowance],
  )
  const words = useMemo(() => wordsOf(props.find), [props.find])
  const mark = (): void => {
    if (place.current !== null) markWords(place.current, words)
  }
  const seen = (): readonly number[] => {
    const { from, to } = range.peek()
    const rest = Math.max(0, Math.min(to, rows.count) - from)
    const positions = Array.from({ length: rest }, (_, at) => rows.at(from + at).position)
    // What is played next is there when its time comes.
    return moment === undefined ? positions : [...positions, moment, moment + PAGE]
  }
  const last = (): number => {
    const { from, to } = range.peek()
    return rows.count === 0 ? 0 : rows.at(Math.min(rows.count, Math.max(from, to)) - 1).position
  }
  useEffect(() => store.pages.want(seen()), [rows, length])
  /** Whoever goes to a moment sees it; while it plays, until they scroll up to read. */
  const isFollowing = useRef(true)
  const letGo = (): void => void (isFollowing.current = false)
  useLayoutEffect(() => {
    if (!playback.isPlaying.peek() || !isPlayed) isFollowing.current = true
    if (isPlayed && isFollowing.current) list.current?.scrollTo(rows.count - 1, 'end')
  }, [moment])
  useEffect(() => {
    if (length > first.current && !isAtEnd && !isPlayed) announce(`${length - left.current} new entries`)
  }, [length])
  useEffect(mark)

  const startedBy = (row: EntryRow) => [
    ...row.entry.blocks.flatMap((block) => {
      const one = block.type === 'tool-call' ? spawned.get(block.callId ?? '') : undefined
      return one === undefined ? [] : [<SubagentLane key={one.source} store={store} spawned={one} />]
    }),
    ...(started.get(row.citation) ?? []).map((child) => <ChildLane key={child.id} child={child} />),
  ]
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
    if (row === undefined) return <Loading position={position} />
    const before = store.pages.get(position - 1)
    const node = drawn(position, [row, before, source, ...relatedTo(row, store)], () => (
      <EntryView
        row={row}
        before={before}
        source={source}
        store={store}
        shown={shown}
        onRaw={props.onRaw}
        started={isPlayed ? [] : startedBy(row)}
      />
    ))
    return node ?? <Loading position={position} />
  }
  return (
    <div
      class={`transcript ${isPlayed ? 'is-played' : ''}`}
      ref={place}
      onWheel={({ deltaY }) => deltaY < 0 && letGo()}
      onTouchMove={letGo}
      onPointerDown={({ target }) => target instanceof Element && target.matches('.virtual') && letGo()}
      onKeyDown={({ key }) => UPWARDS.includes(key) && letGo()}
    >
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
        onRange={(from, to) => {
          range.value = { from, to }
          store.pages.want(seen())
          if (words.length > 0) mark()
        }}
        onTop={(top) => props.onTop(rows.at(top).position, last())}
        onEnd={(isEnd) => {
          setAtEnd(isEnd)
          if (isEnd) isFollowing.current = true
        }}
        handle={list}
        isFocusable
      />
      {store.columns.value.length > 0 && (
        <SeenMap store={store} rows={rows} range={range} moment={moment} onJump={props.onJump} />
      )}
      {isLive && !isAtEnd && (
        <Button
          kind="primary"
          class="newest"
          onClick={() => {
            list.current?.scrollTo(rows.count - 1, isPlayed ? 'end' : 'start')
            // The button goes away, and the focus with it.
            place.current?.querySelector<HTMLElement>('.transcript-list')?.focus({ preventScroll: true })
          }}
        >
          Jump to newest
          {!isPlayed && length > left.current ? ` (${exactCount(length - left.current)} new)` : ''} ↓
        </Button>
      )}
    </div>
  )
}

function Loading({ position }: { readonly position: number }) {
  return <div class="entry is-loading" data-focus tabIndex={-1} aria-label={`Entry ${position}, loading`} />
}

type SeenMapProps = Pick<TranscriptProps, 'store' | 'rows' | 'onJump'> & {
  readonly range: ReadonlySignal<{ readonly from: number; readonly to: number }>
  readonly moment: number | undefined
}

function SeenMap({ store, rows, range, moment, onJump }: SeenMapProps) {
  const { from, to } = range.value
  const at = (row: number): number => (row < 0 || row >= rows.count ? 0 : rows.at(row).position)
  return (
    <Minimap
      columns={store.columns.value}
      from={at(from)}
      to={at(Math.min(to, rows.count) - 1) + 1}
      moment={moment}
      onJump={onJump}
    />
  )
}

function byCitation(children: readonly ApiChild[]): ReadonlyMap<string, readonly ApiChild[]> {
  const found = new Map<string, ApiChild[]>()
  for (const child of children)
    if (child.citation !== undefined) found.set(child.citation, [...(found.get(child.citation) ?? []), child])
  return found
}
