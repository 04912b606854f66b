/**
 * What the server knows this page by: a pass, which it gives for the key in the printed address. It lies where only pages of this
 * address and port find it; a cookie would go to every server of this machine.
 */

const NAME = 'hansard-pass'

/** Where nothing may be stored, the pass lasts as long as the page. */
let held: string | undefined

export function keepPass(pass: string): void {
  held = pass
  try {
    localStorage.setItem(NAME, pass)
  } catch {
    // The browser is told to store nothing.
  }
}

/** Another tab may have got a newer one. */
function currentPass(): string {
  try {
    return localStorage.getItem(NAME) ?? held ?? ''
  } catch {
    return held ?? ''
  }
}

/** Adds the pass to every request to this server's API, whoever makes it: Flow Studio's readers call a plain `fetch`. */
export function sendPass(): void {
  const plain = globalThis.fetch
  globalThis.fetch = (input, init) => {
    const request = new Request(input, init)
    const { origin, pathname } = new URL(request.url)
    const isOwn = origin === location.origin && pathname.startsWith('/api/')
    if (isOwn && !request.headers.has('authorization'))
      request.headers.set('authorization', `Bearer ${currentPass()}`)
    return plain(request)
  }
}

/** For what sends no headers: pictures, downloads, events. */
export function withPass(path: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}pass=${encodeURIComponent(currentPass())}`
}
