/**
 * What the server tells as it happens, and whether it is there. After a break it goes on where it was: the server tells what came
 * since, or `reset` when too much did, and whoever hears `reset` asks for everything again.
 *
 *   on('session', ({ row, isNew }) => …)   returns what ends it
 *   connection.value                       'connecting' | 'open' | 'gone' | 'refused'
 *   whenBack(signal)                       resolves when the server is there again
 */
import { signal, type ReadonlySignal } from '@preact/signals'
import type { LiveEventName, LiveEvents } from '../server/api-live.ts'
import { withPass } from './pass.ts'

/** `gone`: nobody answers. `refused`: somebody does, and does not know this page. */
export type Connection = 'connecting' | 'open' | 'gone' | 'refused'

const state = signal<Connection>('connecting')
export const connection: ReadonlySignal<Connection> = state

type Hear<N extends LiveEventName> = (event: LiveEvents[N]) => void
type Listeners = { readonly [N in LiveEventName]: Set<Hear<N>> }

const listeners: Listeners = {
  session: new Set(),
  entries: new Set(),
  gone: new Set(),
  sync: new Set(),
  index: new Set(),
  reset: new Set(),
}
const NAMES = Object.keys(listeners) as readonly LiveEventName[]

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 5000

let source: EventSource | undefined
let lastId: string | undefined
let waitMs = FIRST_WAIT_MS
let timer: ReturnType<typeof setTimeout> | undefined
let wasOpen = false

export function on<N extends LiveEventName>(name: N, hear: Hear<N>): () => void {
  listeners[name].add(hear)
  return () => void listeners[name].delete(hear)
}

/** Called once, by the shell. */
export function connect(): () => void {
  open()
  // Pages that are put away are frozen with their connections; coming back, they begin again.
  const onShow = (event: PageTransitionEvent): void => {
    if (event.persisted) retryNow()
  }
  addEventListener('pageshow', onShow)
  addEventListener('online', retryNow)
  return () => {
    removeEventListener('pageshow', onShow)
    removeEventListener('online', retryNow)
    close()
  }
}

/** Also when somebody who asked got no answer. */
export function noticeGone(): void {
  if (state.value === 'open' || state.value === 'connecting') state.value = 'gone'
  if (source?.readyState === EventSource.OPEN) retryNow()
}

export function retryNow(): void {
  close()
  waitMs = FIRST_WAIT_MS
  open()
}

export function whenBack(abort?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (state.value === 'open' || abort?.aborted) return resolve()
    const end = state.subscribe((now) => {
      if (now !== 'open') return
      queueMicrotask(() => end())
      resolve()
    })
    abort?.addEventListener('abort', () => {
      end()
      resolve()
    })
  })
}

function open(): void {
  const since = lastId === undefined ? '' : `?since=${encodeURIComponent(lastId)}`
  const opened = new EventSource(withPass(`/api/v1/live${since}`))
  source = opened
  opened.addEventListener('open', () => {
    waitMs = FIRST_WAIT_MS
    const isAgain = wasOpen && lastId === undefined
    wasOpen = true
    state.value = 'open'
    if (isAgain) tell('reset', {})
  })
  opened.addEventListener('error', () => void onError(opened))
  for (const name of NAMES) {
    opened.addEventListener(name, (event: MessageEvent<string>) => {
      lastId = event.lastEventId === '' ? lastId : event.lastEventId
      // The server writes what api-live.ts says.
      tell(name, JSON.parse(event.data) as LiveEvents[LiveEventName])
    })
  }
}

/** Our own way of coming back: browsers differ in when they give up. */
async function onError(broken: EventSource): Promise<void> {
  if (broken !== source) return
  close()
  timer = setTimeout(open, waitMs)
  waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
  const reached = await fetch('/api/v1/health').catch(() => undefined)
  // The next connection may have come about meanwhile.
  if (source !== undefined && source.readyState === EventSource.OPEN) return
  const isRefused = reached !== undefined && (reached.status === 401 || reached.status === 403)
  state.value = isRefused ? 'refused' : reached === undefined ? 'gone' : 'connecting'
}

function close(): void {
  clearTimeout(timer)
  source?.close()
  source = undefined
}

function tell<N extends LiveEventName>(name: N, event: LiveEvents[N]): void {
  for (const hear of listeners[name]) hear(event)
}
