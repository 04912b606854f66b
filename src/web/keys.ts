/**
 * The keyboard: views say which keys do what, and the help is made of what they said. A key is a character as typed (`j`, `E`, `/`,
 * `?`), a name (`Enter`, `Escape`, `ArrowDown`, `Home`) or two in a row (`g s`). Nothing happens while somebody types in a field,
 * except for keys marked `typing`.
 *
 *   useKeys('Sessions', [{ keys: ['j', 'ArrowDown'], says: 'Next session', run: next }])
 *
 * Later ones come first, so that a dialog or a view may take a key that the shell has as well. `run` returning `false` passes it on.
 */
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

export type KeyBinding = {
  readonly keys: readonly string[]
  /** What it does, for the help. Absent: not shown there. */
  readonly says?: string
  readonly run: (event: KeyboardEvent) => void | boolean
  /** Also while typing. */
  readonly typing?: boolean
}
type Group = { readonly name: string; readonly bindings: () => readonly KeyBinding[] }

/** How long the second key of two may take, in milliseconds. */
const PAIR_MS = 1200

export const keyGroups = signal<readonly Group[]>([])
let first: { readonly key: string; readonly at: number } | undefined

export function registerKeys(name: string, bindings: () => readonly KeyBinding[]): () => void {
  const group = { name, bindings }
  keyGroups.value = [...keyGroups.value, group]
  return () => void (keyGroups.value = keyGroups.value.filter((one) => one !== group))
}

/** As long as the component is there; always with the bindings of its last render. */
export function useKeys(name: string, bindings: readonly KeyBinding[]): void {
  const latest = useRef(bindings)
  latest.current = bindings
  useEffect(() => registerKeys(name, () => latest.current), [name])
}

/** Called once, by the shell. */
export function listenToKeys(): () => void {
  document.addEventListener('keydown', onKey)
  return () => document.removeEventListener('keydown', onKey)
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  if (event.key === 'Shift') return
  // A dialog is in front of everything: what is behind it does not move.
  if (document.querySelector('dialog:modal') !== null) return
  const isTyping = isField(event.target)
  const pair =
    first !== undefined && event.timeStamp - first.at < PAIR_MS ? `${first.key} ${event.key}` : undefined
  first = isTyping ? undefined : { key: event.key, at: event.timeStamp }
  for (const wanted of pair === undefined ? [event.key] : [pair, event.key]) {
    for (const { bindings } of keyGroups.value.toReversed()) {
      for (const { keys, run, typing } of bindings()) {
        if (!keys.includes(wanted) || (isTyping && typing !== true)) continue
        if (run(event) === false) continue
        event.preventDefault()
        first = undefined
        return
      }
    }
  }
}

/** Where keys are text, or belong to the control: a link takes Enter, a button also the space bar. */
function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement)
    return !['checkbox', 'radio', 'button', 'range'].includes(target.type)
  return (
    target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable
  )
}
