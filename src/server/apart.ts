/**
 * Questions that take the processor for long, answered in threads of their own: whoever only looks at a page does not wait for them.
 * A thread answers one after the other and is gone when nobody has asked for a while, with its memory. Without the built program there
 * are none, and whoever asks is answered in this thread.
 */
import { Worker } from 'node:worker_threads'
import type { Context, Next } from 'hono'
import type { Archive } from '../archive/archive.ts'
import type { PriceRow } from '../cost/prices.ts'
import { HansardError } from '../errors.ts'
import { createTexts, type TextAsked, type TextPiece, type Texts } from '../search/outline-text.ts'
import type { App } from './context.ts'
import { workerScript } from '../sources/worker-script.ts'

/** What is searched, summed and compared do not wait for each other. */
export type Kind = 'search' | 'sums' | 'texts' | 'diff'

export type Apart = {
  /** Undefined where there are no threads. */
  ask(kind: Kind, path: string): Promise<Answered> | undefined
  /** A piece of a text; undefined where there is no such text. */
  text(asked: TextAsked): Promise<TextPiece | undefined>
  close(): void
}

export type Answered = { readonly status: number; readonly body: string }

/** What a thread needs to know to answer. */
export type ApartData = {
  readonly home: string
  readonly utc: boolean
  readonly prices?: readonly PriceRow[]
}
export type ToApart = { readonly number: number; readonly path: string; readonly text?: TextAsked }
export type FromApart =
  | ({ readonly number: number; readonly piece?: TextPiece } & Answered)
  /** Something that nobody foresaw, for whoever runs the server. */
  | { readonly trouble: string }

const IDLE_MS = 60_000
/** Megabytes; what needs more ends the thread, and not the server. */
const LIMITS = { maxOldGenerationSizeMb: 1024 }

const PATHS: Readonly<Record<string, Kind>> = {
  '/api/v1/search': 'search',
  '/api/v1/cost': 'sums',
  '/api/v1/cost/top': 'sums',
  '/api/v1/cost/cache': 'sums',
  '/api/v1/stats': 'sums',
  '/api/v1/diff': 'diff',
}

/** Before the routes that it takes the place of. */
export function registerApart(app: App, apart: Apart): void {
  for (const [path, kind] of Object.entries(PATHS))
    app.get(path, async (c: Context, next: Next) => {
      const { pathname, search } = new URL(c.req.url)
      const asked = apart.ask(kind, pathname + search)
      if (asked === undefined) return next()
      const { status, body } = await asked
      return new Response(body, { status, headers: { 'content-type': 'application/json; charset=utf-8' } })
    })
}

type Thread = { readonly worker: Worker; readonly waiting: Map<number, Waiting>; idle?: NodeJS.Timeout }
type Said = Answered & { readonly piece?: TextPiece }
type Waiting = { readonly resolve: (said: Said) => void; readonly reject: (error: Error) => void }

export function openApart(archive: Archive, data: ApartData, onTrouble: (error: Error) => void): Apart {
  const script = workerScript('apart-worker', import.meta.url)
  const threads = new Map<Kind, Thread>()
  let texts: Texts | undefined
  const here = (): Texts => (texts ??= createTexts(archive))
  let number = 0
  const start = (kind: Kind, file: URL): Thread => {
    const worker = new Worker(file, { workerData: data, resourceLimits: LIMITS })
    const thread: Thread = { worker, waiting: new Map() }
    worker.unref()
    worker.on('message', (said: FromApart) => {
      if ('trouble' in said) return onTrouble(new Error(said.trouble))
      thread.waiting.get(said.number)?.resolve(said)
      thread.waiting.delete(said.number)
      return rest(kind, thread)
    })
    worker.on('error', onTrouble)
    worker.on('exit', () => {
      if (threads.get(kind) === thread) threads.delete(kind)
      for (const { reject } of thread.waiting.values()) reject(ENDED)
    })
    threads.set(kind, thread)
    return thread
  }
  const rest = (kind: Kind, thread: Thread): void => {
    if (thread.waiting.size > 0) return
    thread.idle = setTimeout(() => {
      threads.delete(kind)
      void thread.worker.terminate()
    }, IDLE_MS)
    thread.idle.unref()
  }
  const send = (file: URL, kind: Kind, said: Omit<ToApart, 'number'>): Promise<Said> => {
    const thread = threads.get(kind) ?? start(kind, file)
    clearTimeout(thread.idle)
    number += 1
    const asked: ToApart = { number, ...said }
    return new Promise((resolve, reject) => {
      thread.waiting.set(asked.number, { resolve, reject })
      thread.worker.postMessage(asked)
    })
  }
  return {
    ask: (kind, path) => (script === undefined ? undefined : send(script, kind, { path })),
    async text(asked) {
      if (script === undefined) return here().piece(asked)
      const { piece, status } = await send(script, 'texts', { path: '', text: asked })
      if (status === 500) throw ENDED
      return piece
    },
    close() {
      for (const { worker } of threads.values()) void worker.terminate()
      threads.clear()
    },
  }
}

const ENDED = new HansardError('io', 'what was asked for took more than there is', {
  hint: 'ask for less at once: a shorter time, or more words',
})
