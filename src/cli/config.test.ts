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
