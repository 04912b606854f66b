import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openArchive } from '../archive/archive.ts'
import { readToken, TOKEN_FILE } from './session-token.ts'

const PLANTED = 'A'.repeat(43)

it.skipIf(process.platform === 'win32')(
  'a token that others can read is replaced, and this is said',
  async () => {
    const archive = openArchive(fs.mkdtempSync(join(os.tmpdir(), 'hansard-token-')), { write: true })
    const path = join(archive.home, TOKEN_FILE)
    for (const mode of [0o644, 0o755, 0o660]) {
      fs.writeFileSync(path, `${PLANTED}\n`)
      fs.chmodSync(path, mode)
      const warned = once(process, 'warning')
      const token = readToken(archive)
      expect(token).not.toBe(PLANTED)
      expect(String(await warned)).toContain(`${path} is not used`)
      expect(fs.statSync(path).mode & 0o777).toBe(0o600)
      expect(readToken(archive)).toBe(token)
    }
  },
)
