/** A session as one file to keep or to give away, and content by its hash. Sent as it is made: nothing is held whole. */
import { HansardError } from '../errors.ts'
import { sniffImage } from './image-type.ts'
import { answerStream } from './stream.ts'
import { queryOf } from './answers.ts'
import { exportQuerySchema } from './api.ts'
import type { App, AppContext } from './context.ts'
import { exportSession } from './export.ts'
import { withoutSecrets } from './rows.ts'
import { sessionAt } from './session-at.ts'

const TYPES = {
  html: 'text/html; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  json: 'application/json; charset=utf-8',
} as const

/** Text up to this size passes the redactor once more. */
const LARGEST_TEXT = 16 * 1024 * 1024

export function registerExport(app: App, context: AppContext): void {
  const { archive, redactor, options } = context
  app.get('/api/v1/sessions/:id/export', async (c) => {
    const { as = 'html' } = queryOf(c, exportQuerySchema)
    const { found, listed, outline } = await sessionAt(c, context)
    const { did: _, ...facts } = {
      did: undefined,
      ...(listed ?? { id: found.id, status: 'running' as const }),
    }
    const parts = exportSession(as, {
      session: withoutSecrets(facts, redactor),
      items: outline.items(),
      ...(options.utc && { timeZone: 'UTC' }),
    })
    const name = `hansard-${found.id.replaceAll(/[^\w.-]/g, '_').slice(0, 100)}.${as}`
    return answerStream(c, await startOf(parts), {
      'content-type': TYPES[as],
      'content-disposition': `attachment; filename="${name}"`,
    })
  })

  app.get('/api/v1/blobs/:hash', async (c) => {
    const hash = c.req.param('hash').replace(/^sha256:/, '')
    const bytes = /^[0-9a-f]{64}$/.test(hash) ? await archive.blobs.read(`sha256:${hash}`) : undefined
    if (bytes === undefined) throw new HansardError('not-found', 'there is no such content')
    const image = sniffImage(bytes)
    const safe = image === undefined && bytes.length <= LARGEST_TEXT ? withoutSecretsIn(bytes) : bytes
    return c.body(new Uint8Array(safe), 200, {
      'content-type': image ?? 'application/octet-stream',
      ...(image === undefined && { 'content-disposition': `attachment; filename="${hash}"` }),
    })
  })

  function withoutSecretsIn(bytes: Buffer): Buffer {
    const text = bytes.toString()
    if (text.includes('\ufffd')) return bytes
    const clean = redactor.text(text)
    return clean === text ? bytes : Buffer.from(clean)
  }
}

/** The first part before anything is sent: what cannot be read is an error, and not the beginning of a file. */
async function startOf(parts: AsyncGenerator<string>): Promise<AsyncGenerator<string>> {
  const first = await parts.next()
  return (async function* () {
    if (first.done !== true) yield first.value
    yield* parts
  })()
}
