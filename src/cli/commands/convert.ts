/** `hansard convert`: any format to any format, and an account of what did not fit. */
import { resolve } from 'node:path'
import { convertItems, type ConvertReport } from '../../archive/convert.ts'
import type { LossGroup } from '../../archive/losses.ts'
import type { ReadItem } from '../../formats/format.ts'
import { visibleLine } from '../../replay/escape.ts'
import { findWritten } from '../../formats/written-format.ts'
import { allFormats } from '../../sources/formats.ts'
import { readBySession } from '../../sources/read.ts'
import type { Survey } from '../../sources/survey.ts'
import { loadConfig } from '../config.ts'
import { createDamageLog, noteDamage, reportDamage } from '../damage.ts'
import { areFormats, areWritten } from '../format-names.ts'
import { openInput, surveyInput, type Input } from '../input.ts'
import { FAILED, note, out, printableJson } from '../print.ts'
import { createProgress, type Progress } from '../progress.ts'

export type ConvertOptions = {
  readonly to: string
  readonly out: string
  readonly format?: string
  readonly session?: string
  readonly force?: boolean
  readonly utc?: boolean
  readonly home?: string
  readonly raw?: boolean
  readonly json?: boolean
}

/** How many entries of one kind of loss are named on a terminal. */
const SHOWN = 10

export async function convert(named: string, options: ConvertOptions): Promise<void> {
  endOnSignal()
  const json = options.json === true
  if (!(await areWritten([options.to], json, allFormats))) return
  if (!(await areFormats([options.format], json))) return
  const target = findWritten(options.to, allFormats)
  const { home, utc } = await loadConfig(options)
  const input = await openInput(named, {
    ...(options.format && { format: options.format }),
    ...(home && { home }),
    ...(options.raw && { raw: true }),
  })
  const survey = await surveyInput(input, options.session)
  const { sessions } = survey
  const isChosen = options.session !== undefined
  const damage = createDamageLog(isChosen ? survey.damage : [])
  const items = isChosen ? readChosen(input, survey) : input.read()
  const progress = createProgress()
  const of = sessions.reduce((sum, { entries }) => sum + entries, 0)
  const report = await convertItems(watched(noteDamage(items, damage), of, progress), {
    target,
    out: resolve(options.out),
    sessions,
    ...(options.force && { force: true }),
    ...(utc && { timeZone: 'UTC' }),
  })
  progress.end()
  if (options.json) await printJson(report)
  else await printText(report)
  reportDamage(damage)
  for (const { session, error } of report.failed) {
    process.exitCode = FAILED
    note(`hansard: session ${session} was not converted: ${error.message}`)
  }
}

/** The same items, with how many of them have gone by shown. */
async function* watched(
  items: AsyncIterable<readonly ReadItem[]>,
  of: number,
  progress: Progress,
): AsyncGenerator<readonly ReadItem[]> {
  let done = 0
  for await (const batch of items) {
    yield batch
    for (const { type } of batch) if (type === 'entry') done += 1
    progress.show({ doing: 'converting', done, of, what: 'entry' })
  }
}

async function* readChosen(
  input: Input,
  { sessions, isInterleaved }: Survey,
): AsyncGenerator<readonly ReadItem[]> {
  const ids = sessions.map(({ session }) => session.id)
  for await (const { items } of readBySession(() => input.read(), ids, isInterleaved)) yield items
}

/** Ctrl-C ends a conversion as an error does: the process's end removes what was made so far. */
function endOnSignal(): void {
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
}

async function printText({ written, unchanged, lost, filled }: ConvertReport): Promise<void> {
  if (written.length > 0 || unchanged.length === 0) await printPaths('written', written)
  if (unchanged.length > 0) await printPaths('unchanged: there already, and the same', unchanged)
  await printGroups('lost: what the target cannot hold', lost.groups())
  await printGroups('filled: what the target requires and nothing says', filled.groups())
}

async function printPaths(title: string, paths: readonly string[]): Promise<void> {
  const shown = paths.length === 0 ? ['nothing'] : paths.map(visibleLine)
  await out(`${title}\n${shown.map((path) => `  ${path}\n`).join('')}`)
}

async function printGroups(title: string, groups: readonly LossGroup[]): Promise<void> {
  if (groups.length === 0) return
  await out(`${title}\n`)
  for (const { what, count, entries } of groups) {
    const named = firstOf(entries())
    const more = count > SHOWN ? `, and ${count - SHOWN} more (--json names them all)` : ''
    await out(`  ${visibleLine(what)}: ${count}\n    ${named.join(', ')}${more}\n`)
  }
}

/** A few citations; the session is named once, and again only where it changes. */
function firstOf(entries: Iterable<string>): string[] {
  const named: string[] = []
  let before = ''
  for (const entry of entries) {
    if (named.length === SHOWN) break
    const at = entry.indexOf('#')
    const session = at === -1 ? entry : entry.slice(0, at)
    named.push(visibleLine(at !== -1 && session === before ? entry.slice(at) : entry))
    before = session
  }
  return named
}

/** Written as it goes: there may be a loss in each of a million entries. */
async function printJson({ written, unchanged, lost, filled, failed }: ConvertReport): Promise<void> {
  await out(`{"written":${printableJson(written)},"unchanged":${printableJson(unchanged)},"lost":[`)
  await printItems(lost.groups(), 'what')
  await out('],"filled":[')
  await printItems(filled.groups(), 'field')
  const failures = failed.map(({ session, error: { code, message, hint } }) => ({
    session,
    error: { code, message, ...(hint !== undefined && { hint }) },
  }))
  await out(`]${failures.length > 0 ? `,"failed":${printableJson(failures)}` : ''}}\n`)
}

async function printItems(groups: readonly LossGroup[], name: 'what' | 'field'): Promise<void> {
  let gap = ''
  for (const { what, entries } of groups) {
    for (const entry of entries()) {
      await out(`${gap}${printableJson({ entry, [name]: what })}`)
      gap = ','
    }
  }
}
