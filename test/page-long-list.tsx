/** A list of rows of many heights, for the tests of the virtual list: what they do is at `window.list`. */
import { render } from 'preact'
import { VirtualList, type VirtualHandle } from '../src/web/ui/virtual.tsx'

export type LongList = {
  draw(count: number, options?: { readonly followEnd?: boolean }): void
  readonly handle: { current: VirtualHandle | null }
  /** Pixels of a row from now on. */
  grow(row: number, height: number): void
}

declare global {
  interface Window {
    list: LongList
  }
}

const grown = new Map<number, number>()
/** Other than the estimate for most of them. */
export const heightOf = (row: number): number => grown.get(row) ?? 30 + ((row * 7919) % 170)

const place = document.getElementById('app') as HTMLElement
const handle = { current: null }
let last = { count: 0, followEnd: false }

const redraw = (): void =>
  render(
    <VirtualList
      class="long"
      label="Rows"
      count={last.count}
      estimate={80}
      followEnd={last.followEnd}
      handle={handle}
      row={(row) => (
        <div style={{ height: heightOf(row) }}>
          <button data-focus>row {row}</button>
        </div>
      )}
    />,
    place,
  )

window.list = {
  handle,
  draw(count, { followEnd = false } = {}) {
    last = { count, followEnd }
    redraw()
  },
  grow(row, height) {
    grown.set(row, height)
    redraw()
  },
}
