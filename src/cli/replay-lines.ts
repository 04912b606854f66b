/** What a replay came to, in a line and in full. */
import { counted } from '../transcript/counted.ts'
import { differenceLine, reasonText } from '../playback/miss.ts'
import type { ReplayReport, Served } from '../playback/report.ts'

const WORDS: readonly (readonly [string, string])[] = [
  ['exact', 'exact'],
  ['normalised', 'but for ids, dates and the like'],
  ['positional', 'by position'],
  ['live', 'live'],
  ['miss', 'not in the recording'],
]

export function reportLine(report: ReplayReport): string {
  const { counts, calls, unasked, regenerated, executed } = report
  const others = counts['other'] ?? 0
  const parts = WORDS.flatMap(([how, words]) => {
    const count = counts[how] ?? 0
    return count === 0 ? [] : [`${count} ${words}`]
  })
  return [
    `hansard: ${calls - others} ${calls - others === 1 ? 'call' : 'calls'} answered${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`,
    ...(regenerated > 0 ? [`${regenerated} made again from entries`] : []),
    ...(unasked > 0 ? [`${unasked} recorded calls were not asked for`] : []),
    ...(executed.length > 0 ? [`tools that ran in earnest: ${executed.join(', ')}`] : []),
    ...((counts['miss'] ?? 0) > 0 ? ['hansard replay why explains what was not found'] : []),
  ].join('; ')
}

/** How each answer was found, and what was not: everything but those that were exact, unless all are wanted. */
export function explain(report: ReplayReport, isAll: boolean): string {
  const told = report.served.filter(
    ({ how, matched, reason }) => isAll || ((matched ?? how) !== 'exact' && !(how === 'other' && reason)),
  )
  const lines = told.flatMap(explainOne)
  return `${[reportLine(report).replace(/^hansard: /, `${report.session}: `), '', ...lines].join('\n').trimEnd()}\n`
}

function explainOne(served: Served): readonly string[] {
  const {
    n,
    how,
    matched,
    by,
    reason,
    asked,
    path,
    repeat,
    isOutOfOrder,
    call,
    source,
    index,
    from,
    differences = [],
  } = served
  const place =
    index === undefined ? undefined : `recorded call ${index + 1}${source === undefined ? '' : `, ${source}`}`
  return [
    `${n}. ${(how === 'miss' || how === 'other') && reason !== undefined ? `not found: ${reasonText(reason)}` : (matched ?? how)}${by && by.length > 0 ? ` (${by.join(', ')})` : ''}`,
    `   asked: ${asked ?? path}`,
    ...(place === undefined
      ? []
      : [
          `   ${how === 'miss' ? 'nearest' : 'answered as'}: ${place}${call === undefined ? '' : `, ${call}`}`,
        ]),
    ...(from === 'entries' ? ['   made again from its entries'] : []),
    ...(repeat === undefined ? [] : [`   given before: ${counted(repeat, 'time')}`]),
    ...(isOutOfOrder === true ? ['   out of order: another call of this lane was recorded before it'] : []),
    ...differences.map((one) => `   ${differenceLine(one)}`),
    '',
  ]
}
