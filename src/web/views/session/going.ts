/**
 * Going from entry to entry: by address, by what comes next of a kind, by what was found, one by one. The address follows what is
 * looked at. An entry that is not loaded is fetched with what will stand around it, and gone to when it is there: what is looked at stays
 * until then, unless that takes long.
 */
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { KindFlag } from '../../../transcript/kinds.ts'
import { route as now, setParams, setPosition } from '../../router.ts'
import { announce } from '../../state/announce.ts'
import type { VirtualHandle } from '../../ui/virtual.tsx'
import { nextWith } from './columns.ts'
import { isAnswered } from './entry.tsx'
import type { Finding } from './finding.ts'
import { headOf, isRecord } from './records.ts'
import type { Rows } from './rows.ts'
import type { Shown } from './shown.ts'
import type { SessionStore } from './store.ts'
import { callOf, nextShown, partsOf } from './ways.ts'

const ADDRESS_MS = 300
/** What has not come by then is gone to before it is there. */
const PATIENCE_MS = 120
/** Rows around an entry that is gone to: half of a screen on either side. */
const AROUND = 16

export type GoingOptions = {
  readonly store: SessionStore
  readonly shown: Shown
  readonly finding: Finding
  readonly rows: Rows
  readonly list: RefObject<VirtualHandle | null>
  readonly isReady: boolean
}

export type Going = ReturnType<typeof useGoing>

export function useGoing({ store, shown, finding, rows, list, isReady }: GoingOptions) {
  const { position: asked } = now.value
  /** An entry to go to when it can be: its row is not there yet, or it is not loaded. */
  const going = useRef<number | undefined>(asked)
  /** What was gone to, where that is shown with another entry. */
  const cursor = useRef<{ readonly shown: number; readonly at: number } | undefined>(undefined)
  /** Asked for before anything was found. */
  const findingFirst = useRef<1 | -1 | undefined>(undefined)
  /** What was found in it may be folded away. */
  const opening = useRef<number | undefined>(undefined)
  const lastSet = useRef<number | undefined>(asked)
  const addressing = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const waiting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const length = store.length.value

  const settle = (): void => {
    const position = going.current
    if (position === undefined || list.current === null || rows.count === 0) return
    const index = rows.indexOf(position)
    const { lane } = rows.at(index)
    if (lane !== undefined && !lane.isOpen) return shown.turnLane(lane.source)
    const row = store.pages.get(position)
    if (row === undefined) {
      if (waiting.current === undefined) list.current.scrollTo(index, 'center')
      return
    }
    stopWaiting()
    going.current = undefined
    if (opening.current === position)
      for (const part of partsOf(store, position)) shown.setOpen(position, part, true)
    opening.current = undefined
    const head = headOf(row, store.pages)
    if (isRecord(row) && !shown.hasRecords.value) setParams({ records: '1' })
    if (head !== position) {
      cursor.current = { shown: head, at: position }
      shown.setOpen(head, 'event', true)
      return select(head, rows.indexOf(head))
    }
    const call = isAnswered(row, store) ? callOf(store, position) : undefined
    if (call === undefined) return select(position, index)
    // Its answer is shown with it.
    cursor.current = { shown: call.position, at: position }
    shown.setOpen(call.position, `tool ${call.at}`, true)
    select(call.position, rows.indexOf(call.position))
  }
  const stopWaiting = (): void => {
    clearTimeout(waiting.current)
    waiting.current = undefined
  }
  const select = (position: number, index: number): void => {
    shown.selected.value = position
    setAddress(position)
    list.current?.scrollTo(index, 'center')
    list.current?.focusRow(index)
  }
  const setAddress = (position: number | undefined): void => {
    clearTimeout(addressing.current)
    lastSet.current = position
    setPosition(position)
  }
  const goTo = (position: number): void => {
    const to = Math.max(0, Math.min(position, length - 1))
    cursor.current = undefined
    going.current = to
    stopWaiting()
    if (rows.count > 0 && store.pages.get(to) === undefined) {
      const index = rows.indexOf(to)
      const [first, last] = [Math.max(0, index - AROUND), Math.min(rows.count - 1, index + AROUND)]
      store.pages.want([first, index, last].map((row) => rows.at(row).position))
      waiting.current = setTimeout(() => ((waiting.current = undefined), latest.current()), PATIENCE_MS)
    }
    settle()
  }
  /** As it is when the time has come. */
  const latest = useRef(settle)
  latest.current = settle
  useLayoutEffect(() => {
    if (asked !== lastSet.current && asked !== undefined) goTo(asked)
    lastSet.current = asked
  }, [asked])
  useLayoutEffect(settle, [store.version.value, rows, isReady])
  useEffect(
    () => () => {
      clearTimeout(addressing.current)
      clearTimeout(waiting.current)
    },
    [],
  )

  const isFound = !finding.isBusy.value && finding.query.value === (now.value.params.get('find') ?? '')
  const goToFound = (step: 1 | -1): void => {
    findingFirst.current = isFound ? undefined : step
    if (!isFound) return
    const { value: positions } = finding.positions
    const at = cursor.current?.at ?? shown.selected.value ?? -1
    const next =
      step === 1
        ? (positions.find((one) => one > at) ?? positions[0])
        : (positions.findLast((one) => one < at) ?? positions.at(-1))
    opening.current = next
    if (next !== undefined) goTo(next)
  }
  useEffect(() => {
    if (isFound && findingFirst.current !== undefined) goToFound(findingFirst.current)
  }, [isFound])

  const current = (): number => shown.selected.value ?? rows.at(list.current?.top() ?? 0).position
  return {
    goTo,
    setAddress,
    /** Also where that is shown with another entry. */
    at: (): number | undefined => cursor.current?.at ?? shown.selected.value,
    onTop: (top: number, last: number): void => {
      clearTimeout(addressing.current)
      const { value: selected } = shown.selected
      if (going.current !== undefined || (selected !== undefined && selected >= top && selected <= last))
        return
      // At the very beginning the address needs no entry.
      const isAtStart = top === 0 && now.value.position === undefined
      if (!isAtStart) addressing.current = setTimeout(() => setAddress(top), ADDRESS_MS)
    },
    jump: (flag: KindFlag, step: 1 | -1): void => {
      const { value: selected } = shown.selected
      const from =
        cursor.current !== undefined && cursor.current.shown === selected
          ? cursor.current.at
          : (selected ?? current() - step)
      const next = nextWith(store.columns.value, flag, from, step)
      if (next === undefined) announce(step === 1 ? `No ${flag} after this` : `No ${flag} before this`)
      else goTo(next)
    },
    onFound: goToFound,
    move: (step: 1 | -1): void => {
      const from =
        shown.selected.value === undefined
          ? (list.current?.top() ?? 0) - step
          : rows.indexOf(shown.selected.value)
      const next = nextShown(store, shown, rows, from, step)
      if (next === undefined) return
      const { position, lane } = rows.at(next)
      cursor.current = undefined
      if (lane === undefined) shown.selected.value = position
      list.current?.focusRow(next)
      setAddress(position)
    },
  }
}
