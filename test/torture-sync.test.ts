/** The torture set once more, through the archive: what `hansard list` shows adds up to the truth, in whatever order files came. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openArchive } from '../src/archive/archive.ts'
import { openSessions } from '../src/sources/sessions.ts'
import { sync } from '../src/sources/sync.ts'
import { COUNTS, addUsage } from '../src/transcript/usage.ts'
import type { Tally, TortureCase } from './torture/case.ts'
import { tortureCases } from './torture/cases.ts'

/** The sum of what the list says of each session. */
async function listed({ files, open = ['.'] }: Pick<TortureCase, 'files' | 'open'>): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-torture-'))
  const home = join(folder, 'home')
  const logs = join(folder, 'logs')
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(logs, path)), { recursive: true })
      writeFileSync(join(logs, path), text)
    }
    for (const path of open) {
      const { problems } = await sync(openArchive(home, { write: true }), {
        paths: [join(logs, path)],
        cwd: folder,
        env: {},
      })
      expect(problems).toEqual([])
    }
    const sessions = await openSessions(home)
    const totals = sessions.list({}).sessions.map((session) => session.totals)
    sessions.close()
    const usages = totals.flatMap((one) => one?.usage ?? [])
    const [first, ...others] = usages
    const calls = totals.reduce((sum, one) => sum + (one?.calls ?? 0), 0)
    if (first === undefined) return { calls, quality: 'unavailable' }
    const sum = others.reduce(addUsage, first)
    const counts = COUNTS.filter((count) => sum[count] !== undefined).map((count) => [count, sum[count]])
    return { ...(Object.fromEntries(counts) as object), calls, quality: sum.quality }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('listed exactly', () => {
  it.each(tortureCases.map((one) => [`${one.format}: ${one.name}`, one] as const))('%s', async (_, one) => {
    expect(await listed(one)).toEqual(one.truth)
  })
})
