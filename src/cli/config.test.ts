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
    fs.writeFileSync('other.json', '{"utc":true}')
    fs.symlinkSync('other.json', 'hansard.config.json')
    expect(await loadConfig({}, { HANSARD_HOME: folder })).toMatchObject({ utc: true })
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

it('the folder that one works in moves, drops and prices nothing, and is told so; the archive does', async () => {
  const [here, archive] = [fs.mkdtempSync(join(folder, 'here-')), fs.mkdtempSync(join(folder, 'archive-'))]
  process.chdir(here)
  const price = { id: 'x/y', provider: 'x', model: 'y', input: '0', output: '0', source: 's', fetchedAt: 'f' }
  const settings = { home: './a', keep: true, exclude: ['**'], prices: [price], utc: true, formats: ['atif'] }
  const read = async (flags: object, env: NodeJS.ProcessEnv): Promise<[object, string]> => {
    const told: string[] = []
    return [await loadConfig(flags, env, (text) => told.push(text)), told.join('\n')]
  }
  fs.writeFileSync('hansard.config.json', JSON.stringify(settings))
  const [config, told] = await read({}, { HANSARD_HOME: archive })
  expect(config).toEqual({ utc: true, formats: ['atif'], home: archive })
  const where = join(archive, 'hansard.config.json')
  expect(told).toBe(
    `hansard: ${join(here, 'hansard.config.json')}: home, keep, exclude, prices are not taken from the current folder, only from ${where}`,
  )
  fs.renameSync('hansard.config.json', where)
  const own = { ...settings, home: archive }
  expect(await read({}, { HANSARD_HOME: archive })).toEqual([own, ''])
  expect(await read({ home: archive }, {})).toEqual([own, ''])
  // Named in it, another archive lies beside it, wherever one works.
  const user = fs.mkdtempSync(join(folder, 'user-'))
  fs.mkdirSync(join(user, '.hansard'))
  fs.renameSync(where, join(user, '.hansard/hansard.config.json'))
  const { HOME } = process.env
  process.env['HOME'] = user
  expect((await read({}, {}))[0]).toMatchObject({ home: join(user, '.hansard/a'), keep: true })
  process.env['HOME'] = HOME
})
