import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openArchive } from '../archive/archive.ts'
import { openKept, type KeptPlace } from '../archive/kept.ts'
import { nodeFiles } from '../journal/files.ts'
import { gatherSyncs, type GatheredFiles } from './gathered-files.ts'

let base: string
let source: string
let synced: string[]
let gathered: GatheredFiles
beforeEach(() => {
  base = fs.mkdtempSync(join(os.tmpdir(), 'hansard-gathered-'))
  source = join(base, 'log.jsonl')
  fs.writeFileSync(source, 'one\ntwo\n')
  fs.utimesSync(source, 1_700_000_000, 1_700_000_000)
  synced = []
  gathered = gatherSyncs({
    ...nodeFiles,
    datasync: () => void synced.push('file'),
    syncFolder: () => void synced.push('folder'),
  })
})
afterEach(() => fs.rmSync(base, { recursive: true, force: true }))

function place(): KeptPlace {
  const archive = openArchive(join(base, 'archive'), { write: true })
  return openKept({ ...archive, files: gathered.files }).place('claude-code', base)
}

describe('syncs that are gathered', () => {
  it('are none file by file, and the file has the time of its source only when it is on disk', async () => {
    const target = place()
    expect(await target.keep('log.jsonl', { file: source })).toMatchObject({ change: 'new', bytes: 8 })
    expect(synced).toEqual([])
    const modified = (): number => fs.statSync(join(target.folder, 'files/log.jsonl')).mtimeMs
    expect(modified()).toBeGreaterThan(1_700_000_000_000)
    await gathered.settle()
    expect(modified()).toBe(1_700_000_000_000)
  })

  it('that never came leave a file that is read again, whatever is in it', async () => {
    const target = place()
    await target.keep('log.jsonl', { file: source })
    // What a power cut leaves: the name and the size, and none of the bytes.
    fs.writeFileSync(join(target.folder, 'files/log.jsonl'), '\0'.repeat(8))
    const after = openKept(openArchive(join(base, 'archive'), { write: true })).place('claude-code', base)
    expect(await after.keep('log.jsonl', { file: source })).toMatchObject({ change: 'rewritten' })
    expect(fs.readFileSync(join(target.folder, 'files/log.jsonl'), 'utf8')).toBe('one\ntwo\n')
  })

  it('say so when the disk fails, and know nothing more of it', async () => {
    const target = place()
    await target.keep('log.jsonl', { file: source })
    fs.rmSync(join(target.folder, 'files/log.jsonl'))
    await expect(gathered.settle()).rejects.toThrow('ENOENT')
    await gathered.settle()
  })
})
