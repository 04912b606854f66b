/** Secrets that the object around them gives away: `secrets: { FOO: '…' }`, `credentials`, `env`. */
import { holderOf, isAbout, secrecyOf } from './names.ts'

/** `strong` is believed whatever it looks like; `likely` when it could be a secret. */
export type Child = { readonly name: string; readonly secrecy: 'strong' | 'likely' }

/** Names of variables that only their place makes suspicious. */
const VARIABLE = /(?:^|_)(?:KEY|DSN|AUTH|PASS|CREDS?|JWT|PAT)$/
const PLAIN = /^[A-Za-z]+(?:[_-][A-Za-z]+)*$/

/** What an object's name says of a text under `key` in it; undefined where the key has to speak for itself. */
export function judgeChild(holder: string, key: string, isNamed: boolean, value: string): Child | undefined {
  const holds = holderOf(holder)
  if (holds === undefined || secrecyOf(key) === 'strong') return undefined
  if (holds === 'variables') {
    return VARIABLE.test(key) && !PLAIN.test(value) ? { name: key, secrecy: 'likely' } : undefined
  }
  // In `{ key: 'FOO', value: '…' }` the key is a name.
  if (isAbout(key) || (isNamed && key === 'key')) return undefined
  return { name: holder, secrecy: holds === 'secrets' ? 'strong' : 'likely' }
}
