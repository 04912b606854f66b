/** Where the reader is, in an exported file: all of it behind the `#`, for a file on a disk has no other address. `#12?find=login` */
import { signal, type ReadonlySignal } from '@preact/signals'
import type { Params, Route, To } from '../router.ts'

export type { Params, Route, To }

const current = signal<Route>(parse())
export const route: ReadonlySignal<Route> = current

export function setParams(
  changes: Params,
  { position = current.value.position }: { readonly position?: number } = {},
): void {
  const params = new URLSearchParams(current.value.params)
  for (const [name, value] of Object.entries(changes)) {
    params.delete(name)
    for (const one of typeof value === 'string' ? [value] : (value ?? []))
      if (one !== '') params.append(name, one)
  }
  go({ view: 'session', params, ...(position !== undefined && { position }) })
}

export function setPosition(position: number | undefined): void {
  if (position !== current.value.position)
    go({ view: 'session', params: current.value.params, ...(position !== undefined && { position }) })
}

/** Other views and sessions are not in the file. */
export const navigate = ({ position }: To): void => setPosition(position)
export const href = ({ position }: To): string => `#${position ?? ''}`

/** Called once. Returns what ends it. */
export function listenToLinks(): () => void {
  const onChange = (): void => void (current.value = parse())
  addEventListener('hashchange', onChange)
  return () => removeEventListener('hashchange', onChange)
}

function go({ params, position }: Omit<Route, 'id'>): void {
  const query = params.toString()
  history.replaceState(null, '', `#${position ?? ''}${query === '' ? '' : `?${query}`}`)
  current.value = parse()
}

function parse(): Route {
  const [, digits, query = ''] = /^#(\d{1,12})?(?:\?(.*))?$/s.exec(location.hash) ?? []
  return {
    view: 'session',
    id: 'exported',
    params: new URLSearchParams(query),
    ...(digits !== undefined && { position: Number(digits) }),
  }
}
