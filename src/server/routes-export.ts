/** A session as one file to keep or to give away, and content by its hash. Sent as it is made: nothing is held whole. */
import { HansardError } from '../errors.ts'
import { answerStream } from './stream.ts'
import { queryOf } from './answers.ts'
import { exportQuerySchema } from './api.ts'
import type { App, AppContext } from './context.ts'
import { exportName, exportParts } from './export-session.ts'
import { safeBlob } from './safe-blob.ts'
import { sessionAt } from './session-at.ts'

const TYPES = {
  html: 'text/html; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  json: 'application/json; charset=utf-8',
  asciicast: 'application/x-asciicast',
} as const

export function registerExport(app: App, context: AppContext): void {
  app.get('/api/v1/sessions/:id/export', async (c) => {
    const { as = 'html' } = queryOf(c, exportQuerySchema)
    const at = await sessionAt(c, context)
    const parts = await exportParts(as, at, context)
    return answerStream(c, await startOf(parts), {
      'content-type': TYPES[as],
      'content-disposition': `attachment; filename="${exportName(at.found.id, as)}"`,
    })
  })

  app.get('/api/v1/blobs/:hash', async (c) => {
    const hash = c.req.param('hash')
    const found = await safeBlob(hash, context)
    if (found === undefined) throw new HansardError('not-found', 'there is no such content')
    const { bytes, image } = found
    return c.body(new Uint8Array(bytes), 200, {
      'content-type': image ?? 'application/octet-stream',
      ...(image === undefined && {
        'content-disposition': `attachment; filename="${hash.replace(/^sha256:/, '')}"`,
      }),
    })
  })
}

/** The first part before anything is sent: what cannot be read is an error, and not the beginning of a file. */
async function startOf(parts: AsyncGenerator<string>): Promise<AsyncGenerator<string>> {
  const first = await parts.next()
  return (async function* () {
    if (first.done !== true) yield first.value
    yield* parts
  })()
}
