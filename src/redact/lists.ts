/** Secrets that the item before them gives away: pairs of name and value, arguments of a program, headers in a row. */
import type { Json } from '../transcript/json.ts'
import { secrecyOf } from './names.ts'
import { looksSecret } from './values.ts'

/** The secret is what stands behind `from`. `strong` is believed whatever it looks like; `likely` when it could be one. */
export type Next = { readonly name: string; readonly secrecy: 'strong' | 'likely'; readonly from: number }

const HEADER_OPTION = /^(?:-H|--(?:proxy-)?headers?)$/
const HEADER = /^([A-Za-z][\w-]{1,62}):[ \t]*/
const OPTION = /^--?([A-Za-z][\w-]{2,62})$/
const SCHEME = /^(?:bearer|basic|token|digest|apikey|negotiate)[ \t]+/i

/** True for a list of nothing but pairs that begin with a text: headers, the entries of an object. */
export function isPairs(list: readonly Json[]): boolean {
  return (
    Array.isArray(list[0]) &&
    list.every((item) => Array.isArray(item) && item.length === 2 && typeof item[0] === 'string')
  )
}

/** What the item before says of an item; undefined for nothing. */
export function judgeNext(before: string, item: string): Next | undefined {
  if (before.length > 64 || before.length < 2) return undefined
  if (!before.startsWith('-')) return judgeNeighbour(before, item)
  if (HEADER_OPTION.test(before)) {
    const header = HEADER.exec(item)
    const name = header?.[1]
    if (header === null || name === undefined || secrecyOf(name) === undefined) return undefined
    return { name, secrecy: secrecyOf(name) === 'strong' ? 'strong' : 'likely', from: header[0].length }
  }
  const name = OPTION.exec(before)?.[1]
  // `--password --help`: the value was left out. `--no-password` has none.
  if (name === undefined || item.startsWith('-') || /^no-/i.test(name)) return undefined
  const secrecy = secrecyOf(name)
  return secrecy && { name, secrecy: secrecy === 'strong' ? 'strong' : 'likely', from: 0 }
}

/** A list of names looks the same as a name and its value, so the value has to look like nothing but a secret. */
function judgeNeighbour(name: string, item: string): Next | undefined {
  if (secrecyOf(name) === undefined || !/^[\w-]+$/.test(name)) return undefined
  const secret = item.replace(SCHEME, '')
  return looksSecret(secret, { quoted: false, trust: 'strong' })
    ? { name, secrecy: 'likely', from: 0 }
    : undefined
}
