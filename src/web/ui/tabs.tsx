/** One of several, each with a name. Arrows go from one to the next, as in tabs everywhere. */
import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'

export type TabsProps<Name extends string> = {
  readonly label: string
  readonly tabs: readonly { readonly name: Name; readonly says: ComponentChildren }[]
  readonly selected: Name
  readonly onSelect: (name: Name) => void
  /** What belongs to the selected one. */
  readonly children?: ComponentChildren
}

export function Tabs<Name extends string>({ label, tabs, selected, onSelect, children }: TabsProps<Name>) {
  const list = useRef<HTMLDivElement>(null)
  const id = useId()
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const at = tabs.findIndex(({ name }) => name === selected)
    const next = (at + step + tabs.length) % tabs.length
    const tab = tabs[next]
    if (tab !== undefined) onSelect(tab.name)
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus()
  }
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map(({ name, says }) => (
          <button
            key={name}
            type="button"
            role="tab"
            class="tab"
            id={`${id}-${name}`}
            aria-selected={name === selected}
            {...(children !== undefined && name === selected && { 'aria-controls': `${id}-panel` })}
            tabIndex={name === selected ? 0 : -1}
            onClick={() => onSelect(name)}
          >
            {says}
          </button>
        ))}
      </div>
      {children !== undefined && (
        <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${selected}`}>
          {children}
        </div>
      )}
    </>
  )
}
