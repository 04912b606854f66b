/** `hansard serve`: the server and the page, until the command is ended. `hansard` alone: a sync before it. */
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { openArchive, type Archive } from '../../archive/archive.ts'
import { isHansardError, messageOf } from '../../errors.ts'
import type { RunningServer, StartOptions } from '../../server/start.ts'
import { areWritten } from '../format-names.ts'
import { loadConfig } from '../config.ts'
import { arePatterns } from '../patterns.ts'
import { flush, note, out, outJson } from '../print.ts'

export type ServeOptions = {
  readonly port?: number
  readonly host?: string
  readonly expose?: boolean
  readonly write?: boolean
  readonly otlp?: boolean
  readonly format?: readonly string[]
  /** Commander's name for `--no-sync`. */
  readonly sync?: boolean
  /** Seconds after which a server that nobody asks anything ends. */
  readonly idle?: number
  readonly exclude?: readonly string[]
  readonly utc?: boolean
  readonly home?: string
  readonly json?: boolean
}

/** The main job in one word: sync, then serve, then say where to look. */
export async function syncAndServe(): Promise<void> {
  const { syncCommand } = await import('./sync.ts')
  try {
    // The words follow while the page is there already.
    await syncCommand([], { index: false })
  } catch (error) {
    // Another process is at it, or a disk is full: what is there can be looked at.
    if (!isHansardError(error)) throw error
    note(`hansard: ${messageOf(error)}`)
  }
  await serve({})
}

export async function serve(options: ServeOptions): Promise<void> {
  const { json = false, port, host, expose, write, otlp, format, sync, idle, ...flags } = options
  const config = await loadConfig({ ...flags, ...(format && { formats: format }) })
  const { formats } = config
  if (!(await arePatterns(config.exclude, json))) return
  if (otlp && !(await areWritten(formats, json))) return
  await serveArchive(openSomehow(config.home), {
    json,
    ...(idle !== undefined && { idle }),
    ...(port !== undefined && { port }),
    ...(host !== undefined && { host }),
    ...(expose && { expose }),
    ...(write && { write }),
    ...(otlp && { otlp: { ...(formats && { formats }) } }),
    ...(sync === false && { follow: false }),
    ...(config.utc && { utc: true }),
    ...(config.prices && { prices: config.prices }),
    sync: {
      ...(config.keep !== undefined && { keep: config.keep }),
      ...(config.exclude !== undefined && { exclude: config.exclude }),
    },
  })
}

export type ServingOptions = StartOptions & {
  readonly json: boolean
  readonly idle?: number
  /** The address is printed. */
  readonly onServing?: () => void
  readonly onEnding?: () => void
}

/** The server and the page, until the command is ended. */
export async function serveArchive(archive: Archive, options: ServingOptions): Promise<void> {
  const { json, idle, onServing, onEnding, ...how } = options
  const webFolder = pageFolder()
  const { startServer } = await import('../../server/start.ts')
  const server = await startServer(archive, {
    ...how,
    ...(webFolder !== undefined && { webFolder }),
    onKeyUsed: (url) => note(`for another browser: ${url}`),
    onError: (error) => note(`hansard: ${messageOf(error)}`),
  })
  await say(server, archive.home, {
    json,
    isExposed: how.expose === true && how.host !== undefined,
    takesExports: how.otlp !== undefined,
  })
  onServing?.()
  await ended(server, idle)
  onEnding?.()
  await server.close()
}

/** One that may not be written, because it is newer or lies so, can still be looked at. */
export function openSomehow(home: string | undefined): Archive {
  try {
    return openArchive(home, { write: true })
  } catch (error) {
    if (!isHansardError(error) || !ONLY_READ.has(error.code)) throw error
    note(`hansard: ${messageOf(error)}: it is shown as it is`)
    return openArchive(home)
  }
}

const ONLY_READ: ReadonlySet<string> = new Set(['archive-newer', 'read-only', 'not-permitted'])

type Saying = { readonly json: boolean; readonly isExposed: boolean; readonly takesExports: boolean }

async function say(
  server: RunningServer,
  home: string,
  { json, isExposed, takesExports }: Saying,
): Promise<void> {
  const { TOKEN_FILE } = await import('../../server/session-token.ts')
  const tokenFile = join(home, TOKEN_FILE)
  const { origin, port } = server
  const url = server.newUrl()
  if (json) await outJson({ url, origin, port, tokenFile })
  else {
    await out(`${url}\n`)
    note('opens the page in one browser, once; Ctrl-C ends the server')
    note(`programs send the token of ${tokenFile}`)
  }
  if (takesExports) {
    note('programs export their spans here with')
    note(`  OTEL_EXPORTER_OTLP_ENDPOINT=${origin}`)
    note(`  OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20$(cat ${tokenFile})"`)
  }
  if (isExposed)
    note(
      'hansard: other machines can reach this: whoever has the token reads everything, and nothing is encrypted on the way',
    )
  await flush()
}

const LOOK_MS = 250

/** Until Ctrl-C, or until it is asked to end, or, with `idle`, until nobody has asked for anything for so many seconds. */
function ended(server: RunningServer, idle: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    const looking =
      idle === undefined
        ? undefined
        : setInterval(() => {
            if (server.idleMs() < idle * 1000) return
            note(`nobody has asked for anything for ${idle} s: ending`)
            end()
          }, LOOK_MS)
    const end = (): void => {
      clearInterval(looking)
      resolve()
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
  })
}

/** The built page, from wherever this was built to; undefined where it was not. */
export function pageFolder(): string | undefined {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const web = join(folder, 'dist', 'web')
    if (fs.existsSync(join(web, 'index.html'))) return web
  }
  return undefined
}
