/**
 * What a program is told so that it asks the proxy instead of its provider: the variables that agents and SDKs read, and what only a
 * flag can say. An address that was set before is where the proxy then sends what it gets.
 */
import { planCodex } from './codex-redirection.ts'

export type Upstream = {
  /** Also the first part of the path that asks for it: `/anthropic/v1/messages`. */
  readonly name: string
  /** What stands before the path, that of the URL included. */
  readonly url: URL
}

export type Redirected = {
  readonly upstreams: ReadonlyMap<string, Upstream>
  readonly env: NodeJS.ProcessEnv
  readonly command: readonly string[]
}

type Base = {
  readonly upstream: string
  readonly variables: readonly string[]
  /** What the variable's value ends with where nothing was set: some name the API's version, some leave it to the client. */
  readonly path: string
  /** False for those that would change what a program does by being set at all. */
  readonly isAlways: boolean
}

const BASES: readonly Base[] = [
  { upstream: 'anthropic', variables: ['ANTHROPIC_BASE_URL'], path: '', isAlways: true },
  { upstream: 'openai', variables: ['OPENAI_BASE_URL'], path: '/v1', isAlways: true },
  { upstream: 'openai', variables: ['OPENAI_API_BASE'], path: '/v1', isAlways: false },
  { upstream: 'google', variables: ['GOOGLE_GEMINI_BASE_URL'], path: '', isAlways: true },
  { upstream: 'code-assist', variables: ['CODE_ASSIST_ENDPOINT'], path: '', isAlways: true },
  { upstream: 'openrouter', variables: ['OPENROUTER_BASE_URL'], path: '/v1', isAlways: false },
  { upstream: 'bedrock', variables: ['ANTHROPIC_BEDROCK_BASE_URL'], path: '', isAlways: false },
  { upstream: 'vertex', variables: ['ANTHROPIC_VERTEX_BASE_URL'], path: '', isAlways: false },
  { upstream: 'litellm', variables: ['LITELLM_PROXY_API_BASE'], path: '', isAlways: false },
]

/** The upstream that Codex's own settings name. */
const CODEX = 'codex'

/** Before the proxy has an address: what it will have to send things to. */
export type Plan = {
  readonly upstreams: ReadonlyMap<string, Upstream>
  /** Once it has one. */
  readonly redirect: (proxy: string) => Omit<Redirected, 'upstreams'>
}

export function planRedirection(
  known: ReadonlyMap<string, Upstream>,
  env: NodeJS.ProcessEnv,
  command: readonly string[],
): Plan {
  const upstreams = new Map(known)
  const set: { readonly variable: string; readonly path: string }[] = []
  for (const { upstream, variables, path, isAlways } of BASES) {
    for (const variable of variables) {
      const url = toUrl(env[variable])
      if (url !== undefined) {
        // Two variables for one provider may name two places.
        const name = [upstream, `${upstream}-${variable.toLowerCase().replaceAll('_', '-')}`].find(
          (one) => !taken(upstreams, known, one, url),
        ) as string
        upstreams.set(name, { name, url })
        set.push({ variable, path: `/${name}` })
      } else if (isAlways && upstreams.has(upstream)) set.push({ variable, path: `/${upstream}${path}` })
    }
  }
  const codex = planCodex(command, env)
  if (codex?.url) upstreams.set(CODEX, { name: CODEX, url: codex.url })
  return {
    upstreams,
    redirect: (proxy) => ({
      env: {
        ...env,
        ...Object.fromEntries(set.map(({ variable, path }) => [variable, `${proxy}${path}`])),
        ...withoutDetour(env),
      },
      command: codex === undefined ? command : codex.command(`${proxy}/${codex.url ? CODEX : 'openai/v1'}`),
    }),
  }
}

/** Another address stands there that somebody set. */
function taken(
  upstreams: ReadonlyMap<string, Upstream>,
  known: ReadonlyMap<string, Upstream>,
  name: string,
  url: URL,
): boolean {
  const own = upstreams.get(name)
  return own !== undefined && own !== known.get(name) && own.url.href !== url.href
}

function toUrl(text: string | undefined): URL | undefined {
  if (text === undefined || text === '') return undefined
  try {
    const url = new URL(text)
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined
  } catch {
    return undefined
  }
}

/** A proxy for the web must not be asked for this machine. */
function withoutDetour(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
  if (!names.some((name) => env[name])) return {}
  const said = env['NO_PROXY'] ?? env['no_proxy'] ?? ''
  const all = [said, '127.0.0.1', 'localhost'].filter((part) => part !== '').join(',')
  return { NO_PROXY: all, no_proxy: all }
}
