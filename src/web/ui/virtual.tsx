/**
 * A list of any number of rows, of which only those in sight are in the document. Rows may have any height: they are estimated until
 * they were seen, measured then and whenever they change, and what is looked at does not move while others are measured. Lists taller
 * than a browser can lay out scroll as well (virtual-scale.ts): small steps are one to one, the scrollbar covers the whole.
 *
 *   const list = useRef<VirtualHandle>(null)
 *   <VirtualList
 *     class="…"                       give it a height: it scrolls by itself
 *     count={1_000_000} estimate={80}
 *     row={(index) => <Entry … />}    an empty place while it is loading is fine; it is measured again when it changes
 *     keyOf={(index) => id}           optional; stable while rows are put in before others
 *     onRange={(from, to) => …}       rows in the document, `to` excluded: what to load. Called after every change
 *     onTop={(index) => …}            the first row in sight: for the address. While scrolling, at most once a frame
 *     followEnd                       stays at the end while rows join, if it was there
 *     handle={list}
 *   />
 *   list.current.scrollTo(index, 'start' | 'center' | 'end' | 'nearest')  ·  .focusRow(index)  ·  .top()  ·  .isAtEnd()  ·  .isHurried()  ·  .scrollBy(px)
 *
 * Focus: a row with the focus in it stays in the document out of sight until the focus leaves it, so that keys still reach it and
 * nothing jumps. `focusRow` brings a row into sight and focuses the first `[data-focus]` in it.
 * Roles: `role` and `rowRole` (`list`/`listitem` by default; `table`/`row` …), rows carry aria-posinset and aria-setsize, or
 * aria-rowindex in tables. Colours and borders are the row's own.
 */
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from 'preact/hooks'
import { createVirtual, type Align, type Virtual } from './virtual-scroll.ts'

export type VirtualHandle = {
  scrollTo(row: number, align?: Align): void
  focusRow(row: number): void
  scrollBy(pixels: number): void
  /** The first row in sight. */
  top(): number
  isAtEnd(): boolean
  /** Somebody drags the scrollbar: what is drawn now is gone in the next moment. */
  isHurried(): boolean
}

export type VirtualProps = {
  readonly count: number
  /** Pixels of a row that was not seen. */
  readonly estimate: number
  readonly row: (index: number) => ComponentChildren
  readonly keyOf?: (index: number) => string | number
  /** Shown first when the list comes about. */
  readonly start?: number
  readonly followEnd?: boolean
  readonly onRange?: (from: number, to: number) => void
  readonly onTop?: (row: number) => void
  readonly onEnd?: (isAtEnd: boolean) => void
  readonly handle?: RefObject<VirtualHandle | null>
  readonly label: string
  readonly role?: 'list' | 'table' | 'grid' | 'feed' | 'rowgroup'
  readonly rowRole?: 'listitem' | 'row' | 'article'
  readonly class?: string
  readonly rowClass?: string | ((index: number) => string)
  /** Tab stops at the list itself, so that arrows scroll it where rows have nothing to focus. */
  readonly isFocusable?: boolean
}

export function VirtualList(props: VirtualProps) {
  const { count, estimate, role = 'list', rowRole = 'listitem' } = props
  const scroller = useRef<HTMLDivElement>(null)
  const space = useRef<HTMLDivElement>(null)
  const window = useRef<HTMLDivElement>(null)
  const [, redraw] = useReducer((times: number) => times + 1, 0)
  const virtual: Virtual = useMemo(() => createVirtual(estimate, () => redraw(undefined)), [estimate])
  virtual.setCount(count, props.followEnd === true)

  useLayoutEffect(() => {
    if (scroller.current === null || space.current === null || window.current === null) return undefined
    const end = virtual.attach({ scroller: scroller.current, space: space.current, window: window.current })
    if (props.start !== undefined) virtual.scrollTo(props.start, 'start')
    return end
  }, [virtual])
  useLayoutEffect(() => virtual.settle())

  const top = virtual.top()
  const isAtEnd = virtual.isAtEnd()
  const { from, to, kept } = virtual.range()
  // At once: what is missing takes long enough to come.
  useLayoutEffect(() => props.onRange?.(from, to), [from, to, count])
  useEffect(() => props.onTop?.(top), [top])
  useEffect(() => props.onEnd?.(isAtEnd), [isAtEnd])

  if (props.handle) {
    props.handle.current = {
      scrollTo: (row, align) => virtual.scrollTo(row, align),
      scrollBy: (pixels) => virtual.scrollBy(pixels),
      focusRow(row) {
        virtual.scrollTo(row, 'nearest')
        virtual.focusWhenDrawn(row)
      },
      top: virtual.top,
      isAtEnd: virtual.isAtEnd,
      isHurried: virtual.isHurried,
    }
  }

  const rows = Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at)
  const drawn = kept === undefined ? rows : kept < from ? [kept, ...rows] : [...rows, kept]
  return (
    <div
      class={`virtual ${props.class ?? ''}`}
      ref={scroller}
      role={role}
      aria-label={props.label}
      {...(props.isFocusable && { tabIndex: 0 })}
    >
      <div class="virtual-space" ref={space} role="presentation">
        <div class="virtual-window" ref={window} role="presentation">
          {drawn.map((index) => (
            <div
              key={props.keyOf?.(index) ?? index}
              data-row={index}
              role={rowRole}
              class={rowClassOf(props, index, index === kept)}
              {...placeOf(rowRole, index, count)}
            >
              {props.row(index)}
            </div>
          ))}
        </div>
      </div>
    </div>
  )
}

function rowClassOf({ rowClass = '' }: VirtualProps, index: number, isKept: boolean): string {
  const own = typeof rowClass === 'string' ? rowClass : rowClass(index)
  return isKept ? `${own} virtual-kept` : own
}

function placeOf(role: string, index: number, count: number) {
  if (role === 'row') return { 'aria-rowindex': index + 2 }
  return { 'aria-posinset': index + 1, 'aria-setsize': count }
}
