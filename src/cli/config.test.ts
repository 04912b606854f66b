import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { loadConfig } from './config.ts'

const before = process.cwd()
const folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'config-')))
afterAll(() => {
  process.chdir(before)
  fs.rmSync(folder, { recursive: true, force: true })
})

it.skipIf(process.platform === 'win32')(
  'settings are read of a file, and of nothing else that is called so',
  async () => {
    process.chdir(folder)
    fs.symlinkSync('/dev/null', 'hansard.config.json')
    await expect(loadConfig({}, {})).rejects.toMatchObject({
      code: 'invalid-argument',
      message: expect.stringContaining('is no file'),
    })
    fs.rmSync('hansard.config.json')
    fs.writeFileSync('other.json', '{"home":"/x"}')
    fs.symlinkSync('other.json', 'hansard.config.json')
    expect(await loadConfig({}, {})).toMatchObject({ home: '/x' })
  },
)

it('HANSARD_KEEP is yes, no or redacted, in any of their words, and nothing else', async () => {
  process.chdir(fs.mkdtempSync(join(folder, 'none-')))
  const keep = async (HANSARD_KEEP: string): Promise<unknown> => (await loadConfig({}, { HANSARD_KEEP })).keep
  for (const no of ['0', 'no', 'false', 'off', 'none', 'OFF ']) expect(await keep(no)).toBe(false)
  for (const yes of ['1', 'yes', 'true', 'on', 'Yes']) expect(await keep(yes)).toBe(true)
  for (const redacted of ['redacted', 'Redacted']) expect(await keep(redacted)).toBe('redacted')
  expect(await keep('')).toBeUndefined()
  for (const wrong of ['bogus', 'redact', 'redacetd', ' ', '\x1b[2J'])
    await expect(keep(wrong)).rejects.toMatchObject({
      code: 'invalid-argument',
      message: `HANSARD_KEEP is ${JSON.stringify(wrong)}: it takes yes, no or redacted`,
    })
})
