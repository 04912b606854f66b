/**
 * Sessions that were running when they were last read. One whose writers have died since says so in no byte of its journal: it has
 * to be read again to be known as interrupted.
 */
import type { Archive } from '../archive/archive.ts'
import { JOURNAL } from '../journal/format-id.ts'
import { isWriterAlive } from '../journal/writer-id.ts'
import type { Database } from '../sqlite/driver.ts'
import { asObject, asString, parseJson } from '../transcript/json.ts'
import { prepared } from './state-statements.ts'

export function noticeDeaths(database: Database, archive: Archive): void {
  for (const unit of deadUnits(database, archive))
    prepared(database, 'UPDATE units SET dirty = 1 WHERE id = ?').run(unit)
}

/** Units that say that they are running, and that nobody writes any more. */
export function deadUnits(database: Database, archive: Archive): readonly number[] {
  const running = prepared(
    database,
    // In this order: few sessions run, and SQLite would begin with every recording there is.
    `SELECT recordings.id AS id, units.id AS unit FROM sessions
     CROSS JOIN recordings ON recordings.session = sessions.key CROSS JOIN units ON units.reading = recordings.reading
     WHERE sessions.status = 'running' AND recordings.format = ?`,
  ).all(JOURNAL)
  return running
    .filter(({ id }) => !archive.segments(String(id)).some((segment) => isAlive(archive, segment)))
    .map(({ unit }) => Number(unit))
}

/** A first line is far shorter, unless it names a great deal: then it is read again, which costs no truth. */
const FIRST_LINE = 64 * 1024

function isAlive({ files }: Archive, segment: string): boolean {
  if (files.kind(segment) !== 'file') return false
  const fd = files.openRead(segment)
  try {
    const head = Buffer.alloc(FIRST_LINE)
    const [line = ''] = head.toString('utf8', 0, files.read(fd, head, 0)).split('\n', 1)
    const first = asObject(parseJson(line))
    const writer = asString(first?.['writer'])
    const boot = asString(first?.['boot'])
    return writer !== undefined && boot !== undefined && isWriterAlive(writer, boot)
  } finally {
    files.close(fd)
  }
}
