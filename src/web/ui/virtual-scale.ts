/**
 * Places in a list that is taller than an element can be, put on a scrollbar of at most 8 million pixels. The first and the last
 * hundred thousand pixels are one to one, so that both ends scroll like any page; what is between is shrunk evenly. Both ways are
 * exact inverses of each other, and monotonic.
 */

/** Browsers stop laying out at about 16.7 million (Firefox 17.9, Chromium 33.5 before zoom). */
const TALLEST = 8_000_000
const END = 100_000

export type Scale = {
  /** Height of the element that scrolls, in pixels. */
  readonly physical: number
  /** From `scrollTop` to a place in the list. */
  readonly toVirtual: (scrollTop: number) => number
  readonly toPhysical: (place: number) => number
}

/** `total`: of the list; `viewport`: what is seen of it at once. */
export function createScale(total: number, viewport: number, tallest = TALLEST, end = END): Scale {
  if (total <= tallest) {
    const same = (place: number): number => place
    return { physical: total, toVirtual: same, toPhysical: same }
  }
  // What can be scrolled is the height without the last screen.
  const [far, near] = [total - viewport, tallest - viewport]
  const factor = (far - 2 * end) / (near - 2 * end)
  return {
    physical: tallest,
    toVirtual(scrollTop) {
      if (scrollTop <= end) return scrollTop
      if (scrollTop >= near - end) return far - (near - scrollTop)
      return end + (scrollTop - end) * factor
    },
    toPhysical(place) {
      if (place <= end) return place
      if (place >= far - end) return near - (far - place)
      return end + (place - end) / factor
    },
  }
}
