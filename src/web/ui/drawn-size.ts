/**
 * What a drawing has to know of where it stands: how large that is, and how often colours have changed since, by the system or by the
 * person. CSS does both by itself; a canvas is drawn again.
 */
import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'

export type DrawnSize = {
  /** Of the element around it, in pixels; 0 before it is known. */
  readonly width: number
  readonly height: number
  /** Another number for other colours. */
  readonly theme: number
}

export function useDrawnSize(canvas: RefObject<HTMLCanvasElement | null>): DrawnSize {
  const [{ width, height }, setSize] = useState({ width: 0, height: 0 })
  const [theme, setTheme] = useState(0)
  useEffect(() => {
    const place = canvas.current?.parentElement
    if (place === null || place === undefined) return undefined
    const look = new ResizeObserver(() => setSize({ width: place.clientWidth, height: place.clientHeight }))
    look.observe(place)
    const again = (): void => setTheme((times) => times + 1)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', again)
    const chosen = new MutationObserver(again)
    chosen.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
    return () => {
      look.disconnect()
      chosen.disconnect()
      dark.removeEventListener('change', again)
    }
  }, [])
  return { width, height, theme }
}
