/** Logs that their agent is about to delete, and that are not kept: said before they are gone. */
import type { Database } from '../sqlite/driver.ts'
import type { Problems } from './problems.ts'
import { atRisk, purgeWarnings, type PurgeWarning } from './purge.ts'
import { isInside } from './places.ts'
import type { OnProblem } from './walk.ts'

type Options = {
  readonly env: NodeJS.ProcessEnv
  readonly userHome: string
  readonly platform: NodeJS.Platform
  /** Milliseconds since 1970. */
  readonly now: number
  /** That nothing is kept is what was asked for. */
  readonly isKeepingOff: boolean
}

export function warnOfPurge(
  database: Database,
  problems: Problems,
  { env, userHome, platform, now, isKeepingOff }: Options,
): void {
  // Of folders, who looked into them has told.
  const onProblem: OnProblem = (path, { cause, reason }) => {
    if (cause === 'settings')
      problems.add(cause, `${path} is ${reason}: when its agent deletes its logs is not known`)
  }
  for (const warning of purgeWarnings(env, userHome, { platform, onProblem })) {
    const count = countAtRisk(database, warning, now)
    if (count === 0) continue
    const logs = count === 1 ? '1 log is' : `${count} logs are`
    problems.add(
      'purge',
      `${warning.reason} (${warning.settings}), and ${logs} at risk and not kept: ${wayOut(problems, isKeepingOff)}`,
    )
  }
}

function wayOut(problems: Problems, isKeepingOff: boolean): string {
  if (isKeepingOff) return 'sync without --no-keep, or without the setting that says the same'
  const isDiskFull = problems.list().some(({ cause }) => cause === 'disk-full')
  return `${isDiskFull ? 'make room on the disk' : 'see to what else this sync tells of'}, then sync again`
}

function countAtRisk(database: Database, warning: PurgeWarning, now: number): number {
  const rows = database
    .prepare(
      `SELECT files.stamp AS stamp, root FROM files JOIN places ON places.id = files.place
       WHERE agent = ? AND (bytes IS NULL OR pending = 1) AND files.stamp <> ''`,
    )
    .iterate(warning.agent)
  let count = 0
  for (const { stamp, root } of rows) {
    if (!isInside(warning.root, String(root))) continue
    if (atRisk(modifiedIn(String(stamp)), warning, now)) count += 1
  }
  return count
}

/** A stamp ends in the time of the last change, in milliseconds and parts of them. */
function modifiedIn(stamp: string): number {
  return Math.floor(Number(stamp.split('+')[0]?.split(':')[3] ?? 0))
}
