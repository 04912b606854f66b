import fc from 'fast-check'
import fs from 'node:fs'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { stopwatch } from '../../test/stopwatch.ts'
import { atRisk, purgeWarnings, type PurgeWarning } from './purge.ts'
import { withoutComments } from './settings.ts'

let home: string
beforeEach(() => {
  home = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'hansard-purge-')))
})
afterEach(() => fs.rmSync(home, { recursive: true, force: true }))

const put = (path: string, text: string): string => {
  fs.mkdirSync(dirname(join(home, path)), { recursive: true })
  fs.writeFileSync(join(home, path), text)
  return join(home, path)
}
const folder = (path: string): void => void fs.mkdirSync(join(home, path), { recursive: true })

function warned(env: NodeJS.ProcessEnv = {}): { warnings: readonly PurgeWarning[]; problems: string[] } {
  const problems: string[] = []
  const warnings = purgeWarnings(env, home, { onProblem: (path) => problems.push(path) })
  return { warnings, problems }
}

describe('Claude Code', () => {
  beforeEach(() => folder('.claude/projects'))
  const root = () => join(home, '.claude/projects')

  it('deletes after 30 days where nothing is said', () => {
    expect(warned().warnings).toMatchObject([
      {
        agent: 'claude-code',
        root: root(),
        deletesAfterDays: 30,
        settings: join(home, '.claude/settings.json'),
      },
    ])
  })

  it.each([
    ['{"cleanupPeriodDays": 90}', 90],
    ['{"cleanupPeriodDays": 0}', 0],
    ['\uFEFF{ // forever\n "cleanupPeriodDays": 99999, /* , */ }', 99999],
    ['', 30],
    ['{"url": "http://x", "cleanupPeriodDays": 7}', 7],
  ])('deletes after what its settings say: %s', (text, days) => {
    put('.claude/settings.json', text)
    expect(warned()).toMatchObject({ warnings: [{ deletesAfterDays: days }], problems: [] })
  })

  it.each(['{"cleanupPeriodDays": "soon"}', '{"cleanupPeriodDays": -1}', '{"cleanup', '[1]', 'null'])(
    'gives no warning, but a problem, for settings like %s',
    (text) => {
      const path = put('.claude/settings.json', text)
      expect(warned()).toEqual({ warnings: [], problems: [path] })
    },
  )

  it('is looked for in every folder that its variable names', () => {
    folder('one/projects')
    folder('two/projects')
    put('two/settings.json', '{"cleanupPeriodDays": 5}')
    const env = { CLAUDE_CONFIG_DIR: `${join(home, 'one')},${join(home, 'two')}` }
    expect(warned(env).warnings.map(({ root, deletesAfterDays }) => [root, deletesAfterDays])).toEqual([
      [join(home, 'one/projects'), 30],
      [join(home, 'two/projects'), 5],
    ])
  })
})

describe('Gemini CLI', () => {
  beforeEach(() => folder('.gemini/tmp'))
  const retention = (value: unknown): string =>
    put('.gemini/settings.json', JSON.stringify({ general: { sessionRetention: value } }))

  it('deletes after 30 days where nothing is said', () => {
    expect(warned().warnings).toMatchObject([{ agent: 'gemini-cli', deletesAfterDays: 30 }])
  })

  it.each([
    [{ maxAge: '2w' }, 14],
    [{ enabled: true, maxAge: '36h' }, 1.5],
    [{ enabled: true, maxAge: '1m' }, 30],
  ])('deletes after what its settings say: %o', (value, days) => {
    retention(value)
    expect(warned()).toMatchObject({ warnings: [{ deletesAfterDays: days }], problems: [] })
  })

  it('deletes nothing when it is told not to, or not understandably', () => {
    retention({ enabled: false, maxAge: '1d' })
    expect(warned()).toEqual({ warnings: [], problems: [] })
    const path = retention({ maxAge: 'a while' })
    expect(warned()).toEqual({ warnings: [], problems: [path] })
  })

  it('may keep only a number of sessions', () => {
    retention({ maxCount: 5 })
    const [warning] = warned().warnings
    expect(warning).toMatchObject({ keepsNewest: 5 })
    expect(warning && atRisk(Date.now(), warning, Date.now())).toBe(true)
  })

  it('obeys what the machine’s owner says', () => {
    retention({ enabled: true, maxAge: '5d' })
    const above = put('system.json', '{"general":{"sessionRetention":{"maxAge":"9d"}}}')
    const { warnings } = warned({ GEMINI_CLI_SYSTEM_SETTINGS_PATH: above })
    expect(warnings).toMatchObject([{ deletesAfterDays: 9, settings: above }])
  })
})

it('an agent that is not there deletes nothing', () => {
  expect(warned()).toEqual({ warnings: [], problems: [] })
})

it('a file is at risk from a week before its time on', () => {
  const day = 86_400_000
  const warning: PurgeWarning = { agent: 'a', root: '/', deletesAfterDays: 30, settings: '/s', reason: '' }
  const risk = (days: number): boolean => atRisk(0, warning, days * day)
  expect([0, 22.9, 23, 30, 400].map(risk)).toEqual([false, false, true, true, true])
  expect(atRisk(0, { ...warning, deletesAfterDays: 0 }, 0)).toBe(true)
  expect(atRisk(0, { ...warning, deletesAfterDays: 99_999 }, 400 * day)).toBe(false)
})

describe('JSON with comments', () => {
  it('means what it means without them', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('/* , } */', '// "\n', ' ', '/**/'), (value, comment) => {
        const text = JSON.stringify(value, null, 1).replaceAll('\n', () => `${comment}\n`)
        expect(JSON.parse(withoutComments(text))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it('may end its lists with a comma', () => {
    expect(JSON.parse(withoutComments('{"a":[1,2,/* x */],"b":"},]",}'))).toEqual({ a: [1, 2], b: '},]' })
  })

  it('takes as long as it is, however it is made', () => {
    const spent = stopwatch()
    withoutComments(`${'/*'.repeat(500_000)}${',]'.repeat(500_000)}${'"\\'.repeat(100_000)}`)
    expect(spent()).toBeLessThan(5000)
  })
})
