/** `hansard import`: files, folders, zip and tar files or standard input, taken into the archive once. */
import { openArchive } from '../../archive/archive.ts'
import { HansardError } from '../../errors.ts'
import { importInputs, type ImportInput } from '../../sources/import.ts'
import { catchUpAfterSync } from '../catch-up.ts'
import { loadConfig } from '../config.ts'
import { areFormats } from '../format-names.ts'
import { note, outJson } from '../print.ts'
import { createProgress } from '../progress.ts'
import { arePatterns } from '../patterns.ts'
import { noteProblems } from '../problems.ts'
import { sayReport } from './sync.ts'

export type ImportOptions = {
  readonly exclude?: readonly string[]
  readonly format?: string
  /** Commander's name for `--no-index`. */
  readonly index?: boolean
  readonly home?: string
  readonly json?: boolean
}

export async function importCommand(paths: readonly string[], options: ImportOptions): Promise<void> {
  const { format } = options
  if (!(await areFormats([format], options.json === true))) return
  const { home, exclude, keep } = await loadConfig(options)
  if (!(await arePatterns(exclude, options.json === true))) return
  if (keep === false) note('an import is kept, whatever is set for sync: its source is not looked at again')
  const archive = openArchive(home, { write: true })
  const progress = createProgress()
  const report = await importInputs(archive, paths.map(toInput), {
    ...(exclude && { exclude }),
    ...(format !== undefined && { format }),
    ...(keep === 'redacted' && { keep }),
    onProgress: progress.show,
  })
  progress.end()
  if (options.json) await outJson(report)
  else sayReport(report)
  noteProblems(report.problems)
  if (options.index !== false) await catchUpAfterSync(archive)
}

function toInput(path: string): ImportInput {
  if (path !== '-') return { path }
  if (process.stdin.isTTY) {
    throw new HansardError('invalid-argument', 'standard input is a terminal', {
      hint: 'pipe a transcript in: hansard import - < session.jsonl',
    })
  }
  return { chunks: () => process.stdin as AsyncIterable<Buffer> }
}
