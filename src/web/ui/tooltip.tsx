/** More about something, shown while it is pointed at or has the focus; Escape hides it. `text` is read out as its description. */
import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'

type Place = { readonly left: number; readonly top: number; readonly isAbove: boolean }

export function Tooltip({ text, children }: { readonly text: string; readonly children: ComponentChildren }) {
  const [place, setPlace] = useState<Place>()
  const around = useRef<HTMLSpanElement>(null)
  const id = useId()
  const show = (): void => {
    const box = around.current?.getBoundingClientRect()
    if (box === undefined) return
    const isAbove = box.bottom > innerHeight - 120
    const left = Math.max(8, Math.min(box.left, innerWidth - 368))
    setPlace({ left, top: isAbove ? box.top - 6 : box.bottom + 6, isAbove })
  }
  const hide = (): void => setPlace(undefined)
  return (
    <span
      class="tooltip-place"
      ref={around}
      onMouseEnter={show}
      onMouseLeave={hide}
      onFocusIn={show}
      onFocusOut={hide}
      onKeyDown={(event) => event.key === 'Escape' && hide()}
      {...(place && { 'aria-describedby': id })}
    >
      {children}
      {place && (
        <span
          role="tooltip"
          id={id}
          class="tooltip"
          style={{
            left: `${place.left}px`,
            top: `${place.top}px`,
            translate: place.isAbove ? '0 -100%' : '0',
          }}
        >
          {text}
        </span>
      )}
    </span>
  )
}
