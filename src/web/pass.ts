/**
 * What the server knows this page by: a pass, which it gives for the key in the printed address. It lies where only pages of this
 * address and port find it; a cookie would go to every server of this machine.
 */

const NAME = 'hansard-pass'
/** As it was printed. */
const KEY = 'token'

const address = new URL(location.href)
const key = address.searchParams.get(KEY)
if (key !== null) {
  // Out of sight, and before the router looks.
  address.searchParams.delete(KEY)
  history.replaceState(history.state, '', address)
}

/** Where nothing may be stored, the pass lasts as long as the page. */
let held: string | undefined

/** Before anything is asked. A key that was used before is no harm where a pass is there. */
export async function enter(): Promise<void> {
  if (key === null) return
  const response = await fetch(`/key?${KEY}=${encodeURIComponent(key)}`).catch(() => undefined)
  if (response?.ok !== true) return
  const answer = (await response.json()) as { readonly pass: string }
  held = answer.pass
  try {
    localStorage.setItem(NAME, held)
  } catch {
    // The browser is told to store nothing.
  }
}

/** Another tab may have got a newer one. */
function pass(): string {
  try {
    return localStorage.getItem(NAME) ?? held ?? ''
  } catch {
    return held ?? ''
  }
}

export const authorization = (): { readonly authorization: string } => ({ authorization: `Bearer ${pass()}` })

/** For what sends no headers: pictures, downloads, events. */
export function withPass(path: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}pass=${encodeURIComponent(pass())}`
}
