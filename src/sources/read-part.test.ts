import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readPart } from './read-part.ts'

it('reads some bytes of a file, and neither opens nor awaits what is none', async () => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-part-'))
  const part = { byteOffset: 2, byteLength: 3 }
  fs.writeFileSync(join(folder, 'file'), '0123')
  expect((await readPart(join(folder, 'file'), part)).toString()).toBe('23')
  execFileSync('mkfifo', [join(folder, 'pipe')])
  fs.symlinkSync('/dev/zero', join(folder, 'zero'))
  for (const name of ['pipe', 'zero', '.'])
    await expect(readPart(join(folder, name), part)).rejects.toMatchObject({ code: 'unsafe-path' })
  fs.rmSync(folder, { recursive: true })
})
