/** What is kept and nothing is known about any more, because the state was lost: taken into a new one, source or no source. */
import type { KeptFiles } from '../archive/kept.ts'
import type { Database } from '../sqlite/driver.ts'
import type { Problems } from './problems.ts'
import type { StateFiles } from './state-files.ts'
import { unitOf } from './unit-of.ts'

type Options = {
  readonly database: Database
  readonly files: StateFiles
  readonly problems: Problems
}

/** Files noted in one transaction. */
const BATCH = 200

export async function adoptKept(kept: KeptFiles, { database, files, problems }: Options): Promise<void> {
  for (const place of kept.places()) {
    const id = files.place(place.agent, place.root)
    let batch: { readonly path: string; readonly unit: string; readonly bytes: number }[] = []
    const note = (): void => {
      const noted = batch
      batch = []
      database.transaction(() => {
        for (const { path, unit, bytes } of noted) files.adopt(id, path, unit, bytes)
      })
    }
    try {
      for await (const path of place.paths()) {
        const file = place.file(path)
        if (file === undefined) continue
        // Named like the sync that kept it named it: what a place is of, or else what the file's content says.
        batch.push({
          path,
          unit: await unitOf(place.agent, file, place.namedFormat(path)),
          bytes: file.sizeBytes,
        })
        if (batch.length >= BATCH) note()
      }
    } catch (error) {
      problems.caught(error, place.folder)
    }
    note()
  }
}
