/** A server of an archive: the app on a port, what is written meanwhile taken in, and an address to open it with. */
import os from 'node:os'
import type { Archive } from '../archive/archive.ts'
import type { OtlpSink } from '../capture/otlp/otlp-sink.ts'
import { HansardError, isHansardError } from '../errors.ts'
import type { SyncOptions } from '../sources/sync.ts'
import { createApp, createContext } from './app.ts'
import type { AppContext, ServerOptions } from './context.ts'
import { follow, type Following } from './following.ts'
import { listen, type Limits, type Listening } from './listen.ts'
import { createTokens, readToken } from './session-token.ts'

export type StartOptions = Omit<ServerOptions, 'sync' | 'onAsked' | 'otlp'> & {
  /** The first free one from 4747 on when absent; 0: any. */
  readonly port?: number
  /** The address to listen at. */
  readonly host?: string
  /** With a host that other machines reach: that this is meant. */
  readonly expose?: boolean
  readonly sync?: SyncOptions
  /** Exports of spans are taken in, and written in these formats beside. */
  readonly otlp?: { readonly formats?: readonly string[] }
  /** `false`: agents' logs are not looked at. */
  readonly follow?: boolean
  /** An address was used; a new one for another browser. */
  readonly onKeyUsed?: (url: string) => void
  readonly onError?: (error: unknown) => void
  readonly limits?: Partial<Limits>
}

export type RunningServer = {
  readonly port: number
  /** `http://127.0.0.1:4747` */
  readonly origin: string
  /** For programs: `Authorization: Bearer …`. */
  readonly token: string
  readonly context: AppContext
  /** Opens the page in one browser, once. */
  newUrl(): string
  /** Milliseconds since anybody asked for anything; 0 while a page is open. */
  idleMs(): number
  close(): Promise<void>
}

export const DEFAULT_PORT = 4747
const MOST_PORTS = 20
const LOOPBACK: readonly string[] = ['127.0.0.1', 'localhost', '[::1]']

export async function startServer(archive: Archive, options: StartOptions = {}): Promise<RunningServer> {
  const { host = '127.0.0.1', onError = () => {} } = options
  checkHost(host, options.expose === true)
  let following: Following | undefined
  let [open, lastAt] = [0, Date.now()]
  const sink = options.otlp && (await openSink(archive, options.otlp.formats, onError))
  const context = createContext(archive, {
    ...(options.write && { write: true, sync: async () => following?.sync() }),
    ...(options.utc && { utc: true }),
    ...(sink && { otlp: sink }),
    ...(options.follow !== false && { follow: true }),
    ...(options.prices && { prices: options.prices }),
    ...(options.webFolder !== undefined && { webFolder: options.webFolder }),
    onError(error) {
      if (!isHansardError(error)) onError(error)
    },
    onAsked(response) {
      open += 1
      response?.once('close', () => {
        open -= 1
        lastAt = Date.now()
      })
    },
  })
  const app = createApp(context)
  const token = readToken(archive)
  let server: Listening
  const url = (): string => `${server.origin}/?token=${server.tokens.newKey()}`
  try {
    server = await listenSomewhere(options.port, (port) =>
      listen(app, {
        host,
        port,
        names: namesFor(host),
        tokens: (given) => createTokens(token, given),
        onKeyUsed: () => options.onKeyUsed?.(url()),
        ...(options.limits && { limits: options.limits }),
      }),
    )
  } catch (error) {
    context.close()
    throw error
  }
  following = follow(context, { sync: options.sync ?? {}, logs: options.follow !== false, onError })
  return {
    port: server.port,
    origin: server.origin,
    token,
    context,
    newUrl: url,
    idleMs: () => (open > 0 ? 0 : Date.now() - lastAt),
    async close() {
      await following?.end()
      context.close()
      await server.close()
      await sink?.end()
    },
  }
}

/** Loaded when it is asked for: most servers only read. */
async function openSink(
  archive: Archive,
  formats: readonly string[] | undefined,
  onError: (error: unknown) => void,
): Promise<OtlpSink> {
  if (archive.readOnly)
    throw new HansardError('read-only', 'this archive cannot be written to: it takes no exports', {
      hint: 'leave out --otlp to look at it',
    })
  const { createOtlpSink } = await import('../capture/otlp/otlp-sink.ts')
  const { formats: all } = await import('../formats/index.ts')
  const { findWritten } = await import('../formats/written-format.ts')
  for (const format of formats ?? []) findWritten(format, all)
  return createOtlpSink({
    home: archive.home,
    ...(formats && { formats }),
    onFailure: ({ message }) => onError(new Error(message)),
  })
}

async function listenSomewhere(
  port: number | undefined,
  at: (port: number) => Promise<Listening>,
): Promise<Listening> {
  if (port !== undefined) return at(port)
  for (let next = DEFAULT_PORT; ; next += 1) {
    try {
      return await at(next)
    } catch (error) {
      const isTaken = isHansardError(error) && error.code === 'not-permitted'
      if (!isTaken || next - DEFAULT_PORT >= MOST_PORTS) throw error
    }
  }
}

const isLoopback = (host: string): boolean => /^(?:127(?:\.\d{1,3}){3}|localhost|::1)$/.test(host)

function checkHost(host: string, isMeant: boolean): void {
  if (isLoopback(host) || isMeant) return
  throw new HansardError('not-permitted', `${host} can be reached from other machines`, {
    hint: 'everything in the archive would go over the network unencrypted to whoever has the token: add --expose if that is meant',
  })
}

/** Names and addresses of this machine that lead to the host; the one to be printed first. */
function namesFor(host: string): readonly string[] {
  if (isLoopback(host)) return [...new Set([bracketed(host), ...LOOPBACK])]
  const isAny = host === '0.0.0.0' || host === '::'
  if (!isAny) return [bracketed(host)]
  const addresses = Object.values(os.networkInterfaces()).flatMap((all) => all ?? [])
  const outer = addresses
    .filter(({ internal, scopeid }) => !internal && !scopeid)
    .map(({ address }) => bracketed(address))
  return [...new Set([...outer, os.hostname(), ...LOOPBACK])]
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host)
