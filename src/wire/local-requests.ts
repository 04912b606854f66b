/** Rules for servers on this machine: they answer programs, and no web page of another origin. */

/** Names in small letters, as Node.js gives them. */
type Headers = { readonly [name: string]: string | readonly string[] | undefined }

/** A request as Node.js's server gives it. */
export type LocalRequest = { readonly headers: Headers; readonly rawHeaders: readonly string[] }

/** Why a server without a token does not answer a request; undefined when it does. */
export function refusalOf({ headers, rawHeaders }: LocalRequest): LocalRefusal | undefined {
  const hosts = hostsOf(rawHeaders)
  if (hosts.length > 1) return { status: 400, message: 'two Host headers' }
  // A web page can give this machine a name of its own (DNS rebinding).
  if (!/^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/i.test(hosts[0] ?? ''))
    return { status: 403, message: 'this host is not ours' }
  if (isOfAnotherOrigin(headers, isApp)) return { status: 403, message: 'web pages may not ask this server' }
  return undefined
}

export type LocalRefusal = { readonly status: 400 | 403; readonly message: string }

/** True when a browser sent this for a page of another origin. Programs send neither header, and browsers let no page forge them. */
export function isOfAnotherOrigin(headers: Headers, isOwn: (origin: string) => boolean): boolean {
  const { origin } = headers
  if (origin !== undefined) return typeof origin !== 'string' || !isOwn(origin)
  const site = headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/** A window of an app that the user installed (`vscode-webview://…`, `app://obsidian.md`). Web pages are `http:`, `https:` or `null`. */
function isApp(origin: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(origin) && !/^https?:/i.test(origin)
}

/** Every `Host` header of a request: servers differ in which of two they take. */
export function hostsOf(rawHeaders: readonly string[]): readonly string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host')
}
