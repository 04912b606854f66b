/** All that can be read here: Hansard's own journal, and the formats of others. */
import { formats } from '../formats/index.ts'
import type { Format } from '../formats/format.ts'
import { journal } from '../journal/format.ts'

export const allFormats: readonly Format[] = [journal, ...formats]
