/** What the last replay of a session came to, in the archive, so that `hansard replay why` can explain it afterwards. */
import { join } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import { readWholeFile } from '../archive/bytes.ts'
import { HansardError } from '../errors.ts'
import { writeWhole } from '../journal/files.ts'
import { isSafeId } from '../transcript/ids.ts'
import { asArray, asObject, asString, parseJson, toJson } from '../transcript/json.ts'
import type { ReplayReport } from './report.ts'

const FOLDER = 'replays'

/** Says in what file, or nothing where the archive cannot be written to: the replay has been either way. */
export function saveReport({ files, home, readOnly }: Archive, report: ReplayReport): string | undefined {
  if (readOnly || !isSafeId(report.session)) return undefined
  const folder = join(home, FOLDER)
  try {
    files.makeFolder(folder)
    writeWhole(files, folder, `${report.session}.json`, Buffer.from(`${toJson(report)}\n`))
    return join(folder, `${report.session}.json`)
  } catch {
    return undefined
  }
}

/** By the id of the session or the beginning of it; the newest without. */
export function loadReport({ files, home }: Archive, named: string | undefined): ReplayReport {
  const folder = join(home, FOLDER)
  const ids = files
    .list(folder)
    .flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : []))
    .filter((id) => isSafeId(id) && (named === undefined || id.startsWith(named)))
  const newest = ids
    .map((id) => ({ id, at: files.identityAt(join(folder, `${id}.json`))?.modified ?? 0 }))
    .sort((a, b) => b.at - a.at)[0]
  const text = newest && readWholeFile(files, join(folder, `${newest.id}.json`))
  const report = text && toReport(parseJson(text.toString()))
  if (report) return report
  throw new HansardError('not-found', `no replay ${named === undefined ? '' : `of ${named} `}has been yet`, {
    hint: 'hansard replay ID --serve -- CMD… makes one',
  })
}

/** As we wrote it: of a file that somebody else changed, what is no report is none. */
function toReport(value: unknown): ReplayReport | undefined {
  const object = asObject(value)
  const isOurs =
    object?.['v'] === 1 &&
    asString(object['session']) !== undefined &&
    asArray(object['served']) !== undefined &&
    asObject(object['counts']) !== undefined
  return isOurs ? (object as unknown as ReplayReport) : undefined
}
