/** What a source is in, told by its content alone: by then every format is needed, which is why nobody loads this before it is. */
import type { Format } from '../formats/format.ts'
import { raw } from '../formats/raw.ts'
import type { Source } from '../transcript/source.ts'
import { detect } from './detect.ts'
import { allFormats } from './formats.ts'

const TOLD: readonly Format[] = allFormats.filter((format) => format !== raw)

export async function tellFormat(source: Source): Promise<Format | undefined> {
  return (await detect(source, { formats: TOLD }))?.format
}
