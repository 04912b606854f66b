/**
 * Who is listening, and what they are told: each event is written out once, as the text that goes to everybody, and has the next
 * number. Whoever comes back with the last number they had is told what came since, or to begin anew when that is too long ago.
 */
import type { LiveEventName, LiveEvents } from './api-live.ts'

export type LiveHub = {
  tell<N extends LiveEventName>(name: N, event: LiveEvents[N]): void
  /** `since`: what the listener had last. Returns what ends it. */
  listen(listener: Listener, since?: string): () => void
  readonly listeners: number
  close(): void
}

/** Given frames as they go over the wire; `end` when there will be no more. */
export type Listener = { readonly frame: (text: string) => void; readonly end: () => void }

export type HubOptions = {
  /** Events that are kept for those who come back. */
  readonly backlog?: number
  readonly heartbeatMs?: number
}

const BACKLOG = 1000
/** Characters of it: rows may be long. */
const BACKLOG_SIZE = 4 * 1024 * 1024
const HEARTBEAT_MS = 15_000

/** `birth` tells this server from one before it, whose numbers mean nothing here. */
export function createHub(
  birth: string,
  { backlog = BACKLOG, heartbeatMs = HEARTBEAT_MS }: HubOptions = {},
): LiveHub {
  const listeners = new Set<Listener>()
  const kept: { readonly number: number; readonly frame: string }[] = []
  let [last, size] = [0, 0]
  const toAll = (frame: string): void => {
    for (const listener of listeners) listener.frame(frame)
  }
  const heartbeat = setInterval(() => toAll(': still here\n\n'), heartbeatMs)
  heartbeat.unref()

  /** Undefined when something of it is no longer known. */
  const framesSince = (since: string): readonly string[] | undefined => {
    const [, born, digits] = /^([^-]{1,64})-(\d{1,15})$/.exec(since) ?? []
    const number = Number(digits)
    const oldest = kept[0]?.number ?? last + 1
    if (born !== birth || number > last || number + 1 < oldest) return undefined
    return kept.filter((one) => one.number > number).map(({ frame }) => frame)
  }

  return {
    tell(name, event) {
      last += 1
      const frame = toFrame(`${birth}-${last}`, name, event)
      kept.push({ number: last, frame })
      size += frame.length
      while (kept.length > backlog || size > BACKLOG_SIZE) size -= kept.shift()?.frame.length ?? size
      toAll(frame)
    },
    listen(listener, since) {
      const missed = since === undefined ? [] : framesSince(since)
      // With the number to come back with, also for who has missed nothing.
      const hello = `retry: 1000\n${missed === undefined ? toFrame(`${birth}-${last}`, 'reset', {}) : since === undefined ? `id: ${birth}-${last}\n\n` : '\n'}`
      listener.frame(hello + (missed ?? []).join(''))
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    get listeners() {
      return listeners.size
    },
    close() {
      clearInterval(heartbeat)
      for (const listener of listeners) listener.end()
      listeners.clear()
    },
  }
}

/** JSON has no line breaks of its own, so one `data` line holds it. */
function toFrame(id: string, name: LiveEventName, event: object): string {
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(event)}\n\n`
}
