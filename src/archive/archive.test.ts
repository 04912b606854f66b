import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeFiles, type FileIdentity, type Files } from '../journal/files.ts'
import { openArchive } from './archive.ts'

const home = (): string => fs.mkdtempSync(join(os.tmpdir(), 'hansard-archive-'))

describe("the archive's key", () => {
  it('is the same for everyone, and private', () => {
    const folder = home()
    const key = openArchive(folder, { write: true }).redactionKey()
    expect(key).toHaveLength(32)
    expect(openArchive(folder).redactionKey()).toEqual(key)
    expect(fs.statSync(join(folder, 'redaction.key')).mode & 0o777).toBe(0o600)
  })

  it.each(['', 'short'])('takes the place of one that a crash cut to %j, for everyone', (left) => {
    const folder = home()
    const archive = openArchive(folder, { write: true })
    fs.writeFileSync(join(folder, 'redaction.key'), left)
    const key = archive.redactionKey()
    expect(archive.redactionKey()).toEqual(key)
    expect(fs.readFileSync(join(folder, 'redaction.key'))).toEqual(key)
    expect(fs.readdirSync(folder).filter((name) => name.includes('.key'))).toEqual(['redaction.key'])
  })

  it('is never seen half made, and is the one of whoever came first', () => {
    const folder = home()
    openArchive(folder, { write: true })
    let other: Buffer | undefined
    const files: Files = {
      ...nodeFiles,
      write(fd, bytes, from, length) {
        other ??= openArchive(folder).redactionKey()
        return nodeFiles.write(fd, bytes, from, length)
      },
    }
    expect(openArchive(folder, { files }).redactionKey()).toEqual(other)
    expect(fs.readFileSync(join(folder, 'redaction.key'))).toEqual(other)
  })

  it.skipIf(process.platform === 'win32').each([
    ['of zeros', Buffer.alloc(32), 0o600],
    ['that others can read', randomBytes(32), 0o644],
    ['that a repository brought', randomBytes(32), 0o755],
  ])('is made anew where there is one %s, which is set aside', async (_, planted, mode) => {
    const folder = home()
    const archive = openArchive(folder, { write: true })
    fs.writeFileSync(join(folder, 'redaction.key'), planted)
    fs.chmodSync(join(folder, 'redaction.key'), mode)
    const warned = once(process, 'warning')
    const key = archive.redactionKey()
    expect(key).not.toEqual(planted)
    expect(String(await warned)).toContain(`${folder}/redaction.key is not used`)
    expect(fs.readFileSync(join(folder, 'redaction.1.key'))).toEqual(planted)
    expect(openArchive(folder).redactionKey()).toEqual(key)
    expect(fs.readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  it('is believed where the disk knows no modes', () => {
    const folder = home()
    const key = openArchive(folder, { write: true }).redactionKey()
    const shared = { access: 'shared' } as const
    const files: Files = {
      ...nodeFiles,
      identity: (fd) => ({ ...nodeFiles.identity(fd), ...shared }),
      identityAt: (path) => ({ ...(nodeFiles.identityAt(path) as FileIdentity), ...shared }),
    }
    expect(openArchive(folder, { files }).redactionKey()).toEqual(key)
    const foreign: Files = {
      ...files,
      identityAt: (path) => ({ ...(nodeFiles.identityAt(path) as FileIdentity), access: 'foreign' }),
    }
    expect(openArchive(folder, { files: foreign }).redactionKey()).not.toEqual(key)
  })

  it('is one of this process where it cannot be kept', () => {
    const folder = home()
    openArchive(folder, { write: true })
    fs.mkdirSync(join(folder, 'redaction.key'))
    expect(openArchive(folder).redactionKey()).toHaveLength(32)
  })
})

describe('links planted in an archive', () => {
  it('are refused by name: a session’s folder, and the archive’s own', () => {
    const home = fs.mkdtempSync(join(os.tmpdir(), 'hansard-links-'))
    const elsewhere = fs.mkdtempSync(join(os.tmpdir(), 'hansard-links-'))
    fs.writeFileSync(join(elsewhere, 'journal-1-x-a.jsonl'), '')
    const archive = openArchive(home, { write: true })
    fs.symlinkSync(elsewhere, join(home, 'sessions/planted'))
    expect(() => archive.segments('planted')).toThrow(/symbolic link/)
    fs.rmSync(join(home, 'blobs'), { recursive: true })
    fs.symlinkSync(elsewhere, join(home, 'blobs'))
    expect(() => openArchive(home)).toThrow(/blobs is a symbolic link/)
  })

  it('may lead to the archive as a whole', () => {
    const real = fs.mkdtempSync(join(os.tmpdir(), 'hansard-links-'))
    openArchive(real, { write: true })
    fs.symlinkSync(real, `${real}-link`)
    expect(openArchive(`${real}-link`).ids()).toEqual([])
  })
})
