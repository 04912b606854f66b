/** What an agent, and whoever reads its output, is told where the recording has no answer. */
import type { PathDifference } from '../replay/matching/path-diff.ts'
import type { Served } from './report.ts'

const REASONS: Readonly<Record<NonNullable<Served['reason']>, string>> = {
  'nothing-like-it': 'the recording has no such request',
  'lane-is-over': 'the recording ends before this request',
  'asked-too-often': 'this was asked more often than the recording answers it',
  'not-allowed': 'no request is the same, and others are not allowed',
  'no-answer': 'the recording has this request and no answer to it',
  'not-json': 'the request is no JSON',
  'not-a-call': 'this is no call, and no question about models or tokens that was recorded',
}

/** Differences that are said at once; `hansard replay why` says all. */
const SAID = 3

export function missMessage({
  reason = 'nothing-like-it',
  asked,
  differences = [],
}: Partial<Served>): string {
  const lines = differences.slice(0, SAID).map(differenceLine)
  const near = lines.length === 0 ? '' : `; compared with the nearest: ${lines.join('; ')}`
  return `hansard replay: ${REASONS[reason]} (${asked ?? 'unknown'})${near}. hansard replay why explains it.`
}

export function reasonText(reason: NonNullable<Served['reason']>): string {
  return REASONS[reason]
}

export function otherMessage(method: string, path: string): string {
  return `hansard replay: ${method} ${path.slice(0, 200)} is no call that was recorded, and nothing is asked of the network`
}

export function differenceLine({ path, kind, recorded, live }: PathDifference): string {
  const where = path === '' ? 'the request' : path
  if (kind === 'only-live') return `${where} is new: ${JSON.stringify(live)}`
  if (kind === 'only-recorded') return `${where} is missing: ${JSON.stringify(recorded)}`
  return `${where} was ${JSON.stringify(recorded)} and is ${JSON.stringify(live)}`
}
