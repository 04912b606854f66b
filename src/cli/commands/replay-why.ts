/** `hansard replay why`: how the last replay of a session answered each request, and what it did not find. */
import { openArchive } from '../../archive/archive.ts'
import { loadReport } from '../../playback/report-file.ts'
import { visible } from '../../replay/escape.ts'
import { loadConfig } from '../config.ts'
import { out, outJson } from '../print.ts'
import { explain } from '../replay-lines.ts'

export type WhyFlags = { readonly all?: boolean; readonly home?: string; readonly json?: boolean }

export async function why(named: string | undefined, flags: WhyFlags): Promise<void> {
  const { home } = await loadConfig(flags)
  const report = loadReport(openArchive(home), named)
  if (flags.json) await outJson(report)
  else await out(visible(explain(report, flags.all === true)))
}
