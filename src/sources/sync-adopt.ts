/** What is kept and nothing is known about any more, because the state was lost: taken into a new one, source or no source. */
import type { KeptFiles } from '../archive/kept.ts'
import type { Database } from '../sqlite/driver.ts'
import type { Format } from '../formats/format.ts'
import { allFormats } from './formats.ts'
import type { Problems } from './problems.ts'
import type { StateFiles } from './state-files.ts'

type Options = {
  readonly database: Database
  readonly files: StateFiles
  readonly problems: Problems
}

export async function adoptKept(kept: KeptFiles, { database, files, problems }: Options): Promise<void> {
  for (const place of kept.places()) {
    const id = files.place(place.agent, place.root)
    const format: Format | undefined = allFormats.find((format) => format.id === place.agent)
    try {
      for await (const path of place.paths()) {
        const file = place.file(path)
        if (file === undefined) continue
        const unit = (await format?.unit?.(file)) ?? path
        database.transaction(() => files.adopt(id, path, unit, file.sizeBytes))
      }
    } catch (error) {
      problems.caught(error, place.folder)
    }
  }
}
