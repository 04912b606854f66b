/** Finds a format that can be written by its id. */
import { HansardError } from '../errors.ts'
import type { Format, Writer } from './format.ts'

export type WrittenFormat = Format & { readonly write: Writer }

/** Throws `unknown-format` or `format-read-only`; either names only those that can be written. */
export function findWritten(id: string, formats: readonly Format[]): WrittenFormat {
  const format = formats.find((one) => one.id === id)
  if (format !== undefined && isWritten(format)) return format
  const hint = `use one of ${formats
    .filter(isWritten)
    .map((one) => one.id)
    .join(', ')}`
  if (format === undefined)
    throw new HansardError('unknown-format', `there is no format called ${JSON.stringify(id)}`, { hint })
  throw new HansardError('format-read-only', `the format ${id} is only read, not written`, { hint })
}

function isWritten(format: Format): format is WrittenFormat {
  return format.write !== undefined
}
