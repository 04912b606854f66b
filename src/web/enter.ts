/** Exchanges the key in the printed address for a pass, before the router reads the address. */
import { keepPass, sendPass } from './pass.ts'

const KEY = 'token'

/** Where the page was opened, without the key. The router begins with it, so the key is gone whatever order modules load in. */
export const address: URL = new URL(location.href)
const key = address.searchParams.get(KEY)
if (key !== null) {
  // Out of sight, and before the router looks.
  address.searchParams.delete(KEY)
  history.replaceState(history.state, '', address)
}

/** Must finish before the first request. A key works once; a second use does no harm while a pass is there. */
export async function enter(): Promise<void> {
  sendPass()
  if (key === null) return
  const response = await fetch(`/key?${KEY}=${encodeURIComponent(key)}`).catch(() => undefined)
  if (response?.ok !== true) return
  const answer = (await response.json()) as { readonly pass: string }
  keepPass(answer.pass)
}
