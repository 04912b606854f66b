/**
 * Where a request goes: to one of a fixed list of upstreams, by the first name in its path or by the API that the path speaks. Nothing
 * else in a request chooses, so that the proxy is no way into other places.
 */
import { HansardError } from '../../errors.ts'
import type { CallApi } from '../calls/apis.ts'

export type Upstream = {
  /** Also the first part of the path that asks for it: `/anthropic/v1/messages`. */
  readonly name: string
  /** What stands before the path, that of the URL included. */
  readonly url: URL
}

export type Route = {
  readonly upstream: Upstream
  /** With the query, as the upstream is asked. */
  readonly path: string
  /** Absent for what is passed on and not recorded: lists of models, counts of tokens. */
  readonly api?: CallApi
  /** Where the path names it, as Gemini's and Bedrock's do. */
  readonly model?: string
}

const KNOWN: Readonly<Record<string, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com',
  google: 'https://generativelanguage.googleapis.com',
  openrouter: 'https://openrouter.ai/api',
  bedrock: 'https://bedrock-runtime.us-east-1.amazonaws.com',
  'code-assist': 'https://cloudcode-pa.googleapis.com',
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
  const spoken = SPOKEN.find(({ path: shape }) => shape.test(bare))
  const upstream = named ?? upstreams.get(spoken?.upstream ?? upstreamOf(bare))
  if (upstream === undefined) return undefined
  return { upstream, path: `${upstream.url.pathname.replace(/\/$/, '')}${path}`, ...toApi(bare) }
}

/** Which API a path speaks, whoever is asked. `path`: without its query. */
export function toApi(path: string): Pick<Route, 'api' | 'model'> {
  const spoken = SPOKEN.find(({ path: shape }) => shape.test(path))
  const model = spoken?.path.exec(path)?.groups?.['model']
  return {
    ...(spoken?.api && { api: spoken.api }),
    ...(model !== undefined && { model: decoded(model) }),
  }
}

type Spoken = { readonly path: RegExp; readonly api?: CallApi; readonly upstream: string }

const SPOKEN: readonly Spoken[] = [
  {
    path: /\/models\/(?<model>[^/:]+):(raw|streamRaw)Predict$/,
    api: 'anthropic-messages',
    upstream: 'vertex',
  },
  { path: /\/v1\/messages$/, api: 'anthropic-messages', upstream: 'anthropic' },
  { path: /\/v1\/messages\//, upstream: 'anthropic' },
  { path: /\/chat\/completions$/, api: 'openai-chat', upstream: 'openai' },
  { path: /\/responses$/, api: 'openai-responses', upstream: 'openai' },
  { path: /\/models\/(?<model>[^/:]+):generateContent$/, api: 'gemini', upstream: 'google' },
  { path: /\/models\/(?<model>[^/:]+):streamGenerateContent$/, api: 'gemini', upstream: 'google' },
  { path: /:(generateContent|streamGenerateContent)$/, api: 'gemini', upstream: 'google' },
  { path: /\/model\/(?<model>[^/]+)\/invoke$/, api: 'bedrock-invoke', upstream: 'bedrock' },
  {
    path: /\/model\/(?<model>[^/]+)\/invoke-with-response-stream$/,
    api: 'bedrock-invoke',
    upstream: 'bedrock',
  },
  { path: /\/model\/(?<model>[^/]+)\/converse(-stream)?$/, api: 'bedrock-converse', upstream: 'bedrock' },
]

/** What no call is: the roots of the APIs. */
function upstreamOf(path: string): string {
  if (/^\/v1beta|^\/v1alpha|^\/upload\/v1beta/.test(path)) return 'google'
  if (path.startsWith('/api/')) return 'anthropic'
  if (path.startsWith('/model/')) return 'bedrock'
  if (/^\/v1(\/|$)/.test(path)) return 'openai'
  return 'anthropic'
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
