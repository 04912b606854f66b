/** A session that was recorded into the archive itself, read for the state. */
import { openArchive } from '../archive/archive.ts'
import { outlineSession } from '../archive/read-session.ts'
import { JOURNAL } from '../journal/format-id.ts'
import { ownFiles } from './own-files.ts'
import type { UnitJob, UnitResult } from './read-unit.ts'
import type { Call } from './session-facts.ts'
import { createUnitReading } from './unit-facts.ts'

export async function readRecorded(
  { home, paths }: UnitJob,
  onCalls: (calls: readonly Call[]) => void,
): Promise<UnitResult> {
  const archive = openArchive(home)
  const id = paths[0]?.split('/')[0] ?? ''
  const reading = createUnitReading(onCalls, undefined)
  for await (const items of outlineSession(archive, id)) reading.add(items)
  const own = await ownFiles(archive, id)
  return { type: 'read', format: JOURNAL, facts: reading.end(), own }
}
