/**
 * Where a request goes: to one of a fixed list of upstreams, by the first name in its path or by the API that the path speaks. Nothing
 * else in a request chooses, so that the proxy is no way into other places.
 */
import { HansardError } from '../../errors.ts'
import type { Upstream } from '../../sources/redirection.ts'
import { spokenBy, toApi, type CallPath } from '../../wire/call-paths.ts'
import { staysBelow } from '../../wire/safe-path.ts'

export type Route = CallPath & {
  readonly upstream: Upstream
  /** With the query, as the upstream is asked. */
  readonly path: string
}

const KNOWN: Readonly<Record<string, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com',
  google: 'https://generativelanguage.googleapis.com',
  openrouter: 'https://openrouter.ai/api',
  bedrock: 'https://bedrock-runtime.us-east-1.amazonaws.com',
  'code-assist': 'https://cloudcode-pa.googleapis.com',
  // Where it listens unless it is told otherwise.
  litellm: 'http://127.0.0.1:4000',
}

/** The known providers, with `given` (`NAME=URL`) in their place or beside them. Throws `invalid-argument` for what is no name or URL. */
export function toUpstreams(
  given: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): ReadonlyMap<string, Upstream> {
  const all = new Map(Object.entries(KNOWN).map(([name, url]) => [name, { name, url: new URL(url) }]))
  const region = env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION']
  if (region !== undefined && /^[a-z0-9-]{1,40}$/.test(region))
    all.set('bedrock', {
      name: 'bedrock',
      url: new URL(`https://bedrock-runtime.${region}.amazonaws.com`),
    })
  for (const one of given) {
    const at = one.indexOf('=')
    const name = one.slice(0, Math.max(at, 0))
    const url = toUrl(one.slice(at + 1))
    if (!/^[a-z][a-z0-9-]{0,39}$/.test(name) || url === undefined)
      throw new HansardError('invalid-argument', `--upstream ${one} is not NAME=URL`, {
        hint: 'for example --upstream litellm=http://127.0.0.1:4000; names are small letters, digits and hyphens',
      })
    all.set(name, { name, url })
  }
  return all
}

function toUrl(text: string): URL | undefined {
  try {
    const url = new URL(text)
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined
  } catch {
    return undefined
  }
}

/** Undefined for a path that no upstream is known for. `target`: path and query as the client asked. */
export function toRoute(upstreams: ReadonlyMap<string, Upstream>, target: string): Route | undefined {
  // A target that is a whole URL asks for a proxy of another kind.
  if (!target.startsWith('/') || target.startsWith('//')) return undefined
  const [, first = '', after = ''] = /^\/([^/?]*)(.*)$/s.exec(target) ?? []
  const named = upstreams.get(first)
  const path = named === undefined ? target : after.startsWith('/') ? after : `/${after}`
  const [bare = ''] = path.split('?', 1)
  // The path of an upstream's URL is a boundary.
  if (!staysBelow(bare)) return undefined
  const upstream = named ?? upstreams.get(spokenBy(bare) ?? upstreamOf(bare))
  if (upstream === undefined) return undefined
  return { upstream, path: `${upstream.url.pathname.replace(/\/$/, '')}${path}`, ...toApi(bare) }
}

/** What no call is: the roots of the APIs. */
function upstreamOf(path: string): string {
  if (/^\/v1beta|^\/v1alpha|^\/upload\/v1beta/.test(path)) return 'google'
  if (path.startsWith('/api/')) return 'anthropic'
  if (path.startsWith('/model/')) return 'bedrock'
  if (/^\/v1(\/|$)/.test(path)) return 'openai'
  return 'anthropic'
}
