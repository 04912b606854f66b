/**
 * What a virtual list does beneath its rows: knows the place that is looked at as a row and how much of it is above the edge, moves it
 * as somebody scrolls, measures rows as they are drawn, and puts the drawn rows where they belong.
 *
 * The place on the scrollbar may be off while somebody scrolls (rows turned out taller; a small step in a shrunken list): writing
 * `scrollTop` then would stop the movement. It is put right when scrolling has paused, or has come to an end of the scrollbar.
 */
import { createHeights } from './virtual-heights.ts'
import { createScale, type Scale } from './virtual-scale.ts'

export type Align = 'start' | 'center' | 'end' | 'nearest'

export type VirtualElements = {
  readonly scroller: HTMLElement
  readonly space: HTMLElement
  readonly window: HTMLElement
}

export type Virtual = ReturnType<typeof createVirtual>

/** Pixels above and below what is in sight that are drawn as well. */
const MARGIN = 400
const PAUSE_MS = 120
/** Pixels, at least: a longer step is the scrollbar, or Home and End. */
const LEAP = 2500
/** After a leap, while what it led to is on its way and the next may follow. */
const HURRY_MS = 300
/** Drawings until a row that is gone to stands where it should: each may show that rows are taller than thought. */
const MOST_TRIES = 12

export function createVirtual(estimate: number, redraw: () => void) {
  const heights = createHeights(0, estimate)
  let elements: VirtualElements | undefined
  let viewport = 0
  let anchor = { row: 0, within: 0 }
  let lastTop = 0
  let lastLeap = Number.NEGATIVE_INFINITY
  let [isFollowing, wasAtEnd] = [false, true]
  let wanted: { readonly row: number; readonly align: Align; tries: number } | undefined
  let focusing: number | undefined
  let pause: ReturnType<typeof setTimeout> | undefined
  let drawn = ''
  /** Less while what is in sight is drawn for the first time: the rest can wait for the next frame. */
  let margin = 0
  let widening: number | undefined

  const place = (): number => heights.offset(anchor.row) + anchor.within
  const farthest = (): number => Math.max(0, heights.total - viewport)
  const scale = (): Scale => createScale(heights.total, viewport)
  const setPlace = (to: number): void => {
    const at = Math.max(0, Math.min(to, farthest()))
    const row = heights.rowAt(at)
    anchor = { row, within: at - heights.offset(row) }
  }
  const isAtEnd = (): boolean => place() >= farthest() - 4

  const range = (): { from: number; to: number; kept?: number } => {
    if (heights.count === 0) return { from: 0, to: 0 }
    // Before the list has a height, some rows are drawn so that it is not empty.
    const seen = viewport || 800
    const at = place()
    const from = heights.rowAt(at - margin)
    const to = heights.rowAt(at + seen + margin) + 1
    const focused = focusedRow(elements?.window)
    const isKept = focused !== undefined && focused < heights.count && (focused < from || focused >= to)
    return { from, to, ...(isKept && { kept: focused }) }
  }
  const redrawIfOthers = (): void => {
    const { from, to, kept } = range()
    const now = `${from} ${to} ${kept} ${heights.rowAt(place())} ${isAtEnd()}`
    if (now !== drawn) redraw()
    drawn = now
  }

  let arranged = { height: '', transform: '' }
  /** When nothing of what is in sight was drawn yet. */
  const drawInSightFirst = (): void => {
    margin = 0
    cancelAnimationFrame(widening ?? 0)
    // The frame after the next: this one is for what is in sight.
    widening = requestAnimationFrame(() => {
      widening = requestAnimationFrame(() => {
        margin = MARGIN
        redrawIfOthers()
      })
    })
  }
  const isFar = (place: number): boolean => {
    const { from, to } = range()
    const row = heights.rowAt(place)
    return row < from || row >= to
  }

  /** Puts the drawn rows where they are seen, relative to where the scrollbar stands. */
  const arrange = (): void => {
    if (elements === undefined) return
    const { space, window } = elements
    const height = `${scale().physical}px`
    if (height !== arranged.height) space.style.height = height
    const transform = `translateY(${Math.round(lastTop + heights.offset(range().from) - place())}px)`
    if (transform !== arranged.transform) window.style.transform = transform
    arranged = { height, transform }
  }
  const putScrollbarRight = (): void => {
    if (elements === undefined) return
    const should = scale().toPhysical(place())
    if (Math.abs(should - lastTop) < 1) return
    arrange()
    elements.scroller.scrollTop = should
    lastTop = elements.scroller.scrollTop
    arrange()
  }

  const onScroll = (): void => {
    if (elements === undefined) return
    const now = elements.scroller.scrollTop
    const step = now - lastTop
    if (step === 0) return
    lastTop = now
    wanted = undefined
    focusing = undefined
    const { toVirtual, physical } = scale()
    const before = place()
    const isLeap = Math.abs(step) > Math.max(LEAP, viewport * 2)
    if (isLeap) {
      lastLeap = performance.now()
      drawInSightFirst()
    }
    setPlace(isLeap ? toVirtual(now) : before + step)
    wasAtEnd = isAtEnd()
    // The last rows are measured when they are drawn: the end is where they end then.
    if (isLeap && wasAtEnd) wanted = { row: heights.count - 1, align: 'end', tries: MOST_TRIES }
    const isAtEdge = now <= 0 || now >= physical - viewport - 1
    clearTimeout(pause)
    pause = undefined
    if (isAtEdge) putScrollbarRight()
    else pause = setTimeout(() => ((pause = undefined), putScrollbarRight()), PAUSE_MS)
    arrange()
    redrawIfOthers()
  }

  /** Measures what is drawn; what is looked at stays where it is. Says whether something was another height than thought. */
  const measure = (): boolean => {
    if (elements === undefined) return false
    let isChanged = false
    for (const row of elements.window.children) {
      if (!(row instanceof HTMLElement) || row.classList.contains('virtual-kept')) continue
      const height = row.getBoundingClientRect().height
      if (heights.measure(Number(row.dataset['row']), height)) isChanged = true
    }
    return isChanged
  }

  const aim = (row: number, align: Align): void => {
    const [from, height] = [heights.offset(row), heights.height(row)]
    const now = place()
    if (align === 'start' || (align === 'nearest' && from < now)) setPlace(from)
    else if (align === 'end') setPlace(from + height - viewport)
    else if (align === 'center') setPlace(from - Math.max(0, (viewport - height) / 2))
    else if (from + height > now + viewport) setPlace(Math.min(from, from + height - viewport))
  }

  /** After every drawing: heights are known now that were not. */
  const settle = (): void => {
    if (elements === undefined) return
    const isChanged = measure()
    if (isFollowing && wasAtEnd && wanted === undefined) setPlace(farthest())
    else if (wanted !== undefined) aim(wanted.row, wanted.align)
    else if (isChanged) setPlace(place())
    if (wanted !== undefined && (!isChanged || (wanted.tries -= 1) <= 0)) wanted = undefined
    arrange()
    // Nobody is scrolling, or the end is followed.
    if (pause === undefined || (isFollowing && wasAtEnd)) putScrollbarRight()
    focusDrawn()
    redrawIfOthers()
  }
  const focusDrawn = (): void => {
    if (focusing === undefined || elements === undefined) return
    const target = elements.window.querySelector<HTMLElement>(`[data-row="${focusing}"] [data-focus]`)
    // Its content may still be on its way.
    if (target === null) return
    focusing = undefined
    target.focus({ preventScroll: true })
  }

  return {
    range,
    settle,
    isAtEnd,
    top: (): number => heights.rowAt(place()),
    isHurried: (): boolean => performance.now() - lastLeap < HURRY_MS,
    setCount(count: number, follow: boolean): void {
      isFollowing = follow
      if (count === heights.count) return
      heights.resize(count)
      setPlace(place())
    },
    scrollTo(row: number, align: Align = 'nearest'): void {
      const to = Math.max(0, Math.min(row, heights.count - 1))
      wanted = { row: to, align, tries: MOST_TRIES }
      if (isFar(heights.offset(to))) drawInSightFirst()
      aim(to, align)
      wasAtEnd = isAtEnd()
      clearTimeout(pause)
      pause = undefined
      putScrollbarRight()
      arrange()
      redrawIfOthers()
    },
    scrollBy(pixels: number): void {
      setPlace(place() + pixels)
      wasAtEnd = isAtEnd()
      putScrollbarRight()
      redrawIfOthers()
    },
    focusWhenDrawn(row: number): void {
      focusing = row
      focusDrawn()
      redraw()
    },
    attach(to: VirtualElements): () => void {
      elements = to
      drawInSightFirst()
      const look = new ResizeObserver(() => {
        viewport = to.scroller.clientHeight
        settle()
      })
      look.observe(to.scroller)
      // Rows that open, or whose content came: the window is as tall as they are together.
      look.observe(to.window)
      viewport = to.scroller.clientHeight
      to.scroller.addEventListener('scroll', onScroll, { passive: true })
      // What keeps the focus goes when the focus has gone.
      to.window.addEventListener('focusout', redrawIfOthers)
      return () => {
        elements = undefined
        clearTimeout(pause)
        cancelAnimationFrame(widening ?? 0)
        look.disconnect()
        to.scroller.removeEventListener('scroll', onScroll)
        to.window.removeEventListener('focusout', redrawIfOthers)
      }
    },
  }
}

function focusedRow(window: HTMLElement | undefined): number | undefined {
  const { activeElement } = document
  if (window === undefined || activeElement === null || !window.contains(activeElement)) return undefined
  const row = activeElement.closest<HTMLElement>('[data-row]')
  return row === null ? undefined : Number(row.dataset['row'])
}
