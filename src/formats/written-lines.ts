/** What every writer of JSON Lines does alike: a file that somebody else has is left alone, and lines that were read go back where they can. */
import { HansardError } from '../errors.ts'
import { hasBlob } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { toExactJson } from './exact-numbers.ts'
import type { WriteContext } from './format.ts'
import { loseEntry } from './lost-facts.ts'

/** Throws `output-exists` for a path at which something stands that this fold did not write. */
export function checkFree(path: string, context: WriteContext): string {
  if (!context.taken(path)) return path
  throw new HansardError('output-exists', `${path} is already there`, {
    hint: 'choose another place with --out, or remove it first',
  })
}

/** False for an entry whose record was never taken in, which is then reported; so is content that is kept elsewhere. */
export function canGoBack(entry: Entry, context: WriteContext): boolean {
  if (entry.blocks.some((block) => block.type === 'unknown' && block.reason !== undefined)) {
    loseEntry(entry, 'its record was too large to be taken in', context)
    return false
  }
  if (entry.blocks.some(hasBlob)) context.lost(entry, 'content kept in a blob')
  return true
}

/** `exact`: of one value, the numbers that go back as they were written. */
export const toLines = (values: readonly Json[], exact?: Json): string =>
  values.map((value) => `${exact === undefined ? toJson(value) : toExactJson(value, exact)}\n`).join('')
