/** How wide an element is, in pixels, whenever that changes. */
import { useEffect, useRef, useState } from 'preact/hooks'

export function useWidth(): readonly [{ current: HTMLDivElement | null }, number] {
  const element = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (element.current === null) return undefined
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.floor(entry.contentRect.width))
    })
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return [element, width]
}
