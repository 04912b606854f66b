/** A button with a short list below it, which goes away on Escape, which gives the focus back, and when something else is pressed or gone to. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from './button.tsx'

export type MenuProps = {
  readonly says: string
  readonly kind?: 'plain'
  /** It ends where the button ends, rather than begins where that begins. */
  readonly isAtEnd?: boolean
  /** Items: `<li>` each. */
  readonly children: ComponentChildren
}

export function Menu({ says, kind, isAtEnd = false, children }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!isOpen) return undefined
    const onElsewhere = ({ target }: Event): void => {
      if (!(target instanceof Node && place.current?.contains(target))) setOpen(false)
    }
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return
      // Nothing else is left by it.
      event.preventDefault()
      setOpen(false)
      button.current?.focus()
    }
    document.addEventListener('pointerdown', onElsewhere)
    document.addEventListener('focusin', onElsewhere)
    document.addEventListener('keydown', onKey, true)
    return () => {
      document.removeEventListener('pointerdown', onElsewhere)
      document.removeEventListener('focusin', onElsewhere)
      document.removeEventListener('keydown', onKey, true)
    }
  }, [isOpen])
  return (
    <div class="menu-place" ref={place}>
      <Button {...(kind && { kind })} isExpanded={isOpen} buttonRef={button} onClick={() => setOpen(!isOpen)}>
        {says}
      </Button>
      {isOpen && (
        <ul class={`menu ${isAtEnd ? 'is-end' : ''}`} onClick={() => setOpen(false)}>
          {children}
        </ul>
      )}
    </div>
  )
}
