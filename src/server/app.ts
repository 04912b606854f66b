/** The server's routes, put together. What may come in is decided before them: see safety.ts. */
import { randomBytes } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Hono } from 'hono'
import type { Archive } from '../archive/archive.ts'
import { createRedactor } from '../redact/redactor.ts'
import { openOutlines } from '../search/outline.ts'
import { openSearchIndex, type SearchIndex } from '../search/search.ts'
import { fail, failWith } from './answers.ts'
import { openApart, registerApart } from './apart.ts'
import { openBehind } from './behind.ts'
import type { App, AppContext, ServerOptions } from './context.ts'
import { createHub } from './live.ts'
import { registerOpenApi } from './openapi.ts'
import { registerOtlp } from './otlp.ts'
import { registerCost } from './routes-cost.ts'
import { registerDiff } from './routes-diff.ts'
import { registerEntries } from './routes-entries.ts'
import { registerExport } from './routes-export.ts'
import { registerInsight } from './routes-insight.ts'
import { registerFlowStudio } from './flow-studio.ts'
import { registerHealth } from './routes-health.ts'
import { registerLive } from './routes-live.ts'
import { registerRuns } from './routes-runs.ts'
import { registerSearch } from './routes-search.ts'
import { registerSessions } from './routes-sessions.ts'
import { registerStats } from './routes-stats.ts'
import { registerTexts } from './routes-texts.ts'
import { registerTyping } from './routes-typing.ts'
import { openSharedState } from './shared-state.ts'
import { registerPage } from './static.ts'

export type OpenContext = AppContext & { close(): void }

export function createContext(archive: Archive, options: ServerOptions = {}): OpenContext {
  const state = openSharedState(archive)
  // What cannot be written to is read as well as any other.
  const folder = archive.readOnly ? fs.mkdtempSync(join(tmpdir(), 'hansard-outlines-')) : undefined
  const outlines = openOutlines(archive, {
    ...(options.prices && { prices: options.prices }),
    ...(folder !== undefined && { folder }),
    ...(options.follow && { follow: true }),
  })
  const apart = openApart(
    archive,
    {
      home: archive.home,
      utc: options.utc === true,
      ...(options.prices && { prices: options.prices }),
    },
    (error) => options.onError?.(error),
  )
  const behind = openBehind(archive)
  const hub = createHub(randomBytes(6).toString('hex'))
  let index: Promise<SearchIndex> | undefined
  return {
    archive,
    options,
    redactor: createRedactor({ key: archive.redactionKey(), env: process.env }),
    state,
    searchIndex: () => (index ??= openSearchIndex(archive)),
    outlines,
    apart,
    behind,
    hub,
    progress: {},
    close() {
      apart.close()
      behind.close()
      hub.close()
      outlines.close()
      state.close()
      void index?.then((opened) => opened.close())
      if (folder !== undefined) removeFolder(folder)
    },
  }
}

/** What is being made in it may still come for a moment. */
function removeFolder(folder: string): void {
  try {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 })
  } catch {
    // The system clears its folder for such things by itself.
  }
}

export function createApp(context: AppContext): App {
  const app: App = new Hono()
  app.onError((error, c) => {
    context.options.onError?.(error)
    return failWith(c, error, (text) => context.redactor.text(text))
  })
  const { onAsked } = context.options
  if (onAsked !== undefined)
    app.use((c, next) => {
      // As @hono/node-server has it; absent where the app is asked without a port.
      onAsked((c.env as { readonly outgoing?: EventEmitter } | undefined)?.outgoing)
      return next()
    })
  registerApart(app, context.apart)
  registerHealth(app, context)
  registerSessions(app, context)
  registerEntries(app, context)
  registerTexts(app, context)
  registerTyping(app, context)
  registerInsight(app, context)
  registerExport(app, context)
  registerSearch(app, context)
  registerCost(app, context)
  registerStats(app, context)
  registerDiff(app, context)
  registerRuns(app, context)
  registerLive(app, context)
  registerFlowStudio(app, context)
  registerOpenApi(app)
  registerOtlp(app, context.options.otlp, (error) => context.options.onError?.(error))
  app.all('/api/*', (c) =>
    fail(c, c.req.method === 'POST' ? 405 : 404, {
      code: c.req.method === 'POST' ? 'not-permitted' : 'not-found',
      message: 'there is no such path',
      hint: '/api/v1/openapi.json lists them',
    }),
  )
  registerPage(app, context.options.webFolder)
  app.notFound((c) => fail(c, 405, { code: 'not-permitted', message: 'this is read, with GET' }))
  return app
}
