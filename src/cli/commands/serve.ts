/** `hansard serve`: the server and the page, until the command is ended. `hansard` alone: a sync before it. */
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { openArchive, type Archive } from '../../archive/archive.ts'
import { isHansardError, messageOf } from '../../errors.ts'
import type { RunningServer } from '../../server/start.ts'
import { loadConfig } from '../config.ts'
import { arePatterns } from '../patterns.ts'
import { flush, note, out, outJson } from '../print.ts'

export type ServeOptions = {
  readonly port?: number
  readonly host?: string
  readonly expose?: boolean
  readonly write?: boolean
  /** Commander's name for `--no-sync`. */
  readonly sync?: boolean
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
  const { json = false, port, host, expose, write, sync, ...flags } = options
  const config = await loadConfig(flags)
  if (!(await arePatterns(config.exclude, json))) return
  const archive = openSomehow(config.home)
  const webFolder = pageFolder()
  const { startServer } = await import('../../server/start.ts')
  const server = await startServer(archive, {
    ...(port !== undefined && { port }),
    ...(host !== undefined && { host }),
    ...(expose && { expose }),
    ...(write && { write }),
    ...(sync === false && { follow: false }),
    ...(config.utc && { utc: true }),
    ...(config.prices && { prices: config.prices }),
    ...(webFolder !== undefined && { webFolder }),
    sync: {
      ...(config.keep !== undefined && { keep: config.keep }),
      ...(config.exclude !== undefined && { exclude: config.exclude }),
    },
    onKeyUsed: (url) => note(`for another browser: ${url}`),
    onError: (error) => note(`hansard: ${messageOf(error)}`),
  })
  await say(server, archive.home, { json, isExposed: expose === true && host !== undefined })
  await ended()
  await server.close()
}

/** One that may not be written, because it is newer or lies so, can still be looked at. */
function openSomehow(home: string | undefined): Archive {
  try {
    return openArchive(home, { write: true })
  } catch (error) {
    if (!isHansardError(error) || !ONLY_READ.has(error.code)) throw error
    note(`hansard: ${messageOf(error)}: it is shown as it is`)
    return openArchive(home)
  }
}

const ONLY_READ: ReadonlySet<string> = new Set(['archive-newer', 'read-only', 'not-permitted'])

async function say(
  server: RunningServer,
  home: string,
  { json, isExposed }: { readonly json: boolean; readonly isExposed: boolean },
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
  if (isExposed)
    note(
      'hansard: other machines can reach this: whoever has the token reads everything, and nothing is encrypted on the way',
    )
  await flush()
}

/** Until Ctrl-C, or until it is asked to end. A second one does not wait. */
function ended(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
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
