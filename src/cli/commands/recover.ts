/** `hansard recover`: repairs what a crash left, one session or all of them. */
import { openArchive } from '../../archive/archive.ts'
import { recoverSession, type Recovered } from '../../archive/recover.ts'
import { isHansardError } from '../../errors.ts'
import { counted } from '../../transcript/counted.ts'
import { visibleLine } from '../../replay/escape.ts'
import { coloursFor } from '../colour.ts'
import { loadConfig } from '../config.ts'
import { FAILED, note, out, outJson } from '../print.ts'
import { createProgress } from '../progress.ts'
import { stdout } from '../streams.ts'

export async function recover(
  named: string | undefined,
  options: { readonly home?: string; readonly json?: boolean },
): Promise<void> {
  const { home } = await loadConfig(options)
  const archive = openArchive(home, { write: true })
  const ids =
    named === undefined
      ? archive.ids().filter((id) => archive.segments(id).length > 0)
      : [archive.find(named)]
  const recovered: Recovered[] = []
  let failed = 0
  const progress = createProgress()
  for (const [at, id] of ids.entries()) {
    progress.show({ doing: 'recovering', done: at, of: ids.length, what: 'session' })
    try {
      recovered.push(await recoverSession(archive, id))
    } catch (error) {
      // One session that cannot be repaired must not keep the others from it.
      if (named !== undefined || !isHansardError(error)) throw error
      failed += 1
      note(`hansard: ${id} cannot be recovered: ${error.message}`)
    }
  }
  progress.end()
  const hasFailedFormat = recovered.some(({ formats }) => formats.some(({ error }) => error !== undefined))
  if (failed > 0 || hasFailedFormat) process.exitCode = FAILED
  if (options.json) return outJson({ sessions: recovered.map(toRow) })
  for (const one of recovered) if (named !== undefined || one.outcome !== 'whole') await print(one)
  if (failed === 0 && recovered.every(({ outcome }) => outcome === 'whole')) note('nothing to recover')
}

function toRow({ id, outcome, session, entries, repairs, formats }: Recovered): object {
  return { id, outcome, status: session.status, entries, repairs, formats }
}

const COLOURS = { recovered: 'green', incomplete: 'red', whole: 'dim', running: 'dim' } as const

async function print({ id, outcome, entries, repairs, formats }: Recovered): Promise<void> {
  await out(
    `${visibleLine(id)}  ${coloursFor(stdout).paint(outcome, COLOURS[outcome])}  ${counted(entries, 'entry', 'entries')}, ${counted(repairs.length, 'repair')}\n`,
  )
  for (const { format, written, kept, error } of formats) {
    if (error !== undefined) note(`hansard: ${id}: ${format} cannot be written: ${error}`)
    for (const { path, reason } of kept) note(`hansard: ${visibleLine(path)} stays as it is: ${reason}`)
    for (const path of written) await out(`  ${visibleLine(path)}\n`)
  }
}
