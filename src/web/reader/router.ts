/** Where the reader is, in an exported file: all of it behind the `#`, for a file on a disk has no other address. `#12?find=login`, `#12?session=…` */
import { signal, type ReadonlySignal } from '@preact/signals'
import type { Params, Route, To } from '../router.ts'
import { hasSession, MAIN } from './data.ts'

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

/** Other views are not in the file; of other sessions those that the exported one started may be. */
export const navigate = (to: To): void => void (location.hash = href(to))
export function href({ id, position }: To): string {
  const query =
    id !== undefined && id !== MAIN && hasSession(id)
      ? `?${String(new URLSearchParams({ session: id }))}`
      : ''
  return `#${position ?? ''}${query}`
}
/** Of an entry of the session that is looked at. */
export const entryHref = (position: number): string =>
  href({ view: 'session', position, ...(current.value.id !== undefined && { id: current.value.id }) })

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
  const params = new URLSearchParams(query)
  return {
    view: 'session',
    id: params.get('session') ?? MAIN,
    params,
    ...(digits !== undefined && { position: Number(digits) }),
  }
}
