/**
 * Where the page is. The address holds all of it: the view, which one, what narrows it down, and the entry (`#12`); so that reloading,
 * going back and sending a link to somebody show the same thing.
 *
 *   route.value                                the route now, as a signal
 *   href(to) · navigate(to, { replace })       an address for a link · going there
 *   setParams({ sort: 'cost', q: undefined })  the same view with other parameters
 *
 * Plain links work by themselves: `listenToLinks` turns clicks on addresses of this page into `navigate`.
 */
import { signal, type ReadonlySignal } from '@preact/signals'
import { address } from './enter.ts'

export const VIEWS = ['sessions', 'session', 'runs', 'cost', 'insight', 'diff'] as const
export type ViewName = (typeof VIEWS)[number]

export type Route = {
  readonly view: ViewName
  /** Of a session, or of a run. */
  readonly id?: string
  /** In the order of the address; a name may come several times. */
  readonly params: URLSearchParams
  /** `#12`: the entry to show. */
  readonly position?: number
}

export type To = {
  readonly view: ViewName
  readonly id?: string
  readonly params?: Params | URLSearchParams
  readonly position?: number
}

/** Undefined and empty ones are left out of the address. */
export type Params = { readonly [name: string]: string | readonly string[] | undefined }

const current = signal<Route>(parse(address.href))
export const route: ReadonlySignal<Route> = current

export function navigate(to: To, { replace = false }: { readonly replace?: boolean } = {}): void {
  const url = href(to)
  if (replace) history.replaceState(null, '', url)
  else history.pushState(null, '', url)
  current.value = parse(location.href)
}

/** The other parameters stay. Replaces by default: typing in a search field is not a step to go back to. */
export function setParams(
  changes: Params,
  { replace = true, position = current.value.position }: { replace?: boolean; position?: number } = {},
): void {
  const { view, id, params } = current.value
  const next = new URLSearchParams(params)
  for (const [name, value] of Object.entries(changes)) put(next, name, value)
  const to = {
    view,
    ...(id !== undefined && { id }),
    params: next,
    ...(position !== undefined && { position }),
  }
  navigate(to, { replace })
}

/** The entry in the address follows what is read, without a step to go back to. */
export function setPosition(position: number | undefined): void {
  const { view, id, params } = current.value
  if (position === current.value.position) return
  const to = { view, ...(id !== undefined && { id }), params, ...(position !== undefined && { position }) }
  navigate(to, { replace: true })
}

/** Of an entry of the session that is looked at. */
export const entryHref = (position: number): string => `#${position}`

export function href({ view, id, params, position }: To): string {
  const search = params instanceof URLSearchParams ? new URLSearchParams(params) : toSearch(params ?? {})
  // Names that could be taken for a file or a part of the path go beside it.
  const isPlain = id === undefined || /^[\w-]+$/.test(id)
  if (!isPlain) search.set('id', id)
  const path = view === 'sessions' ? '/' : `/${view}${id !== undefined && isPlain ? `/${id}` : ''}`
  const query = search.toString()
  return `${path}${query === '' ? '' : `?${query}`}${position === undefined ? '' : `#${position}`}`
}

export function parse(address: string): Route {
  const { pathname, searchParams, hash } = new URL(address)
  const [first = '', second] = pathname.split('/').filter((part) => part !== '')
  const view = VIEWS.find((name) => name === first) ?? 'sessions'
  const params = new URLSearchParams(searchParams)
  const id = second ?? params.get('id') ?? undefined
  params.delete('id')
  const [, digits] = /^#(\d{1,12})$/.exec(hash) ?? []
  return {
    view,
    ...(id !== undefined && id !== '' && { id }),
    params,
    ...(digits !== undefined && { position: Number(digits) }),
  }
}

/** Called once. Returns what ends it. */
export function listenToLinks(): () => void {
  const onClick = (event: MouseEvent): void => {
    const isOurs = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    if (!isOurs || event.defaultPrevented || !(event.target instanceof Element)) return
    const link = event.target.closest('a')
    if (link === null || link.target !== '' || link.hasAttribute('download')) return
    const url = new URL(link.href, location.href)
    if (url.origin !== location.origin || url.pathname.startsWith('/api/')) return
    event.preventDefault()
    history.pushState(null, '', url)
    current.value = parse(location.href)
  }
  const onPop = (): void => void (current.value = parse(location.href))
  document.addEventListener('click', onClick)
  addEventListener('popstate', onPop)
  return () => {
    document.removeEventListener('click', onClick)
    removeEventListener('popstate', onPop)
  }
}

function toSearch(params: Params): URLSearchParams {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) put(search, name, value)
  return search
}

function put(search: URLSearchParams, name: string, value: string | readonly string[] | undefined): void {
  search.delete(name)
  const values = typeof value === 'string' ? [value] : (value ?? [])
  for (const one of values) if (one !== '') search.append(name, one)
}
