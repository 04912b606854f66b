/** Something in front of everything else. The browser's own dialog: it keeps the focus inside, closes on Escape and gives it back. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Button } from './button.tsx'

export type DialogProps = {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      class="dialog"
      ref={dialog}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <Button kind="icon" label="Close" onClick={() => dialog.current?.close()}>
          ✕
        </Button>
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}
