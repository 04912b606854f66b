/** Whether a zip file holds logs of more than one format: read as one, the others would be left out in silence. */
import { raw } from '../formats/raw.ts'
import type { Format } from '../formats/format.ts'
import { HansardError } from '../errors.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { detect } from './detect.ts'
import { wayInto } from './package-kind.ts'

/** Throws `unknown-format` when a file in it is told to be in another, as an import would tell it. */
export async function refuseMixed(source: Source, format: Format, formats: readonly Format[]): Promise<void> {
  const telling = formats.filter((one) => one !== raw)
  for (const file of await source.list()) {
    if (file.sizeBytes === 0) continue
    const alone = aloneIn(source, file)
    // Nearly all are the same: the others are not asked about these.
    if ((await format.detect(alone)) !== undefined) continue
    const other = (await detect(alone, { formats: telling }))?.format
    if (other === undefined || other === format) continue
    throw new HansardError(
      'unknown-format',
      `${source.path} is a zip archive of files in several formats, ${format.id} and ${other.id}`,
      { hint: `${wayInto(source.path)}; --format ${format.id} reads only those that are in it` },
    )
  }
}

function aloneIn(source: Source, file: SourceFile): Source {
  return {
    path: source.path,
    kind: 'file',
    list: async () => [file],
    find: (wanted) => source.find(wanted),
  }
}
