/** What `hansard stats` says of an archive equals what counting by hand comes to, whatever format its logs are in. */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openArchive } from '../src/archive/archive.ts'
import { queryStats } from '../src/search/stats.ts'
import { sync } from '../src/sources/sync.ts'
import { withState } from '../src/sources/with-state.ts'
import { bruteStats } from './brute-stats.ts'
import { SAMPLES, type Sample } from './kept-samples.ts'
import { tortureCases } from './torture/cases.ts'

type Files = Readonly<Record<string, string>>

function textOf({ records, isLines }: Sample): string {
  if (!isLines || !Array.isArray(records)) return JSON.stringify(records)
  return records.map((record) => `${JSON.stringify(record)}\n`).join('')
}

const cases: readonly (readonly [string, Files])[] = [
  ...SAMPLES.map((one) => [`${one.format}: ${one.title}`, { [one.path]: textOf(one) }] as const),
  ...tortureCases.map(({ format, name, files }) => [`${format}: ${name}`, files] as const),
]

describe('statistics equal a count by hand', () => {
  it.each(cases)('%s', async (_, files) => {
    const folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'hansard-stats-')))
    try {
      for (const [path, text] of Object.entries(files)) {
        const absolute = join(folder, 'logs', path)
        fs.mkdirSync(dirname(absolute), { recursive: true })
        fs.writeFileSync(absolute, text)
      }
      const home = join(folder, 'home')
      await sync(openArchive(home, { write: true }), { paths: [join(folder, 'logs')], cwd: folder, env: {} })
      const brute = await bruteStats(home)
      const { answer } = await withState(openArchive(home), ({ database }) => queryStats(database))
      if (answer === undefined) throw new Error('there is no state')
      const { sessions, status, totals, tools } = answer
      const { quality: _quality, ...usage } = totals.usage ?? { quality: 'reported' }
      expect({
        sessions,
        status: Object.fromEntries(Object.entries(status).filter(([, count]) => count > 0)),
        entries: totals.entries,
        calls: totals.calls,
        usage,
        toolCalls: totals.toolCalls,
        tools: Object.fromEntries(tools.map(({ tool, calls }) => [tool, calls])),
      }).toEqual(brute)
      expect(sessions).toBeGreaterThan(0)
    } finally {
      fs.rmSync(folder, { recursive: true, force: true })
    }
  })
})
