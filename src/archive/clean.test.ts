import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { interleave } from '../../test/interleaved.ts'
import type { Files } from '../journal/files.ts'
import { openJournal } from '../journal/writer.ts'
import { createSessionId } from '../transcript/ids.ts'
import type { Session } from '../transcript/session.ts'
import { openArchive, type Archive } from './archive.ts'
import { openBlobs } from './blob-store.ts'
import { moveToBlobs } from './blobs.ts'
import { deleteSession, findExpired, sweepBlobs } from './clean.ts'
import { readTombstones } from './tombstones.ts'

let archive: Archive
beforeEach(() => {
  archive = openArchive(fs.mkdtempSync(join(os.tmpdir(), 'hansard-clean-')), { write: true })
})

const DAY_MS = 24 * 3_600_000
const long = (letter: string): string => letter.repeat(100_000)
const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A session that said one long thing and ended then, or not at all. */
async function put(text: string, endedAt: string | undefined): Promise<string> {
  const session: Session = { id: createSessionId(), status: 'running', startedAt: '2025-01-01T00:00:00.000Z' }
  const journal = openJournal({ folder: archive.sessionFolder(session.id), first: { session, by: 'test' } })
  const entry = {
    id: 'e',
    source: 'primary',
    sequence: 0,
    kind: 'message' as const,
    blocks: [{ type: 'text' as const, text }],
  }
  journal.append({ t: 'entry', entry: moveToBlobs(entry, archive.blobs) })
  if (endedAt !== undefined) {
    const ending = { status: 'completed' as const, endedAt, totals: { entries: 1, toolCalls: 0, calls: 0 } }
    journal.append({ t: 'end', session: ending, counts: { entries: 1, lines: 3 }, at: endedAt })
  }
  await journal.close()
  return session.id
}

describe('retention', () => {
  it('finds what ended before, and counts a session without an end from its last write', async () => {
    const old = await put('x', '2025-01-02T00:00:00.000Z')
    await put('x', '2025-03-01T00:00:00.000Z')
    await put('x', undefined)
    const expired = await findExpired(archive, '2025-02-01T00:00:00.000Z')
    expect(expired.map(({ session }) => session.id)).toEqual([old])
    expect(expired[0]).toMatchObject({ lastAt: '2025-01-02T00:00:00.000Z', bytes: expect.any(Number) })
  })

  it('deletes the whole session, and its tombstone stands', async () => {
    const id = await put('x', '2025-01-02T00:00:00.000Z')
    deleteSession(archive, id, { at: '2025-02-01T00:00:00.000Z', reason: 'clean' })
    expect(archive.ids()).toEqual([])
    expect(readTombstones(archive.files, archive.home)).toEqual([
      { session: id, at: '2025-02-01T00:00:00.000Z', reason: 'clean' },
    ])
  })

  it('does not follow a link planted in a session’s place', () => {
    const outside = fs.mkdtempSync(join(os.tmpdir(), 'hansard-outside-'))
    fs.writeFileSync(join(outside, 'journal-x.jsonl'), 'mine')
    fs.symlinkSync(outside, archive.sessionFolder('planted'))
    expect(() => deleteSession(archive, 'planted', { at: '', reason: '' })).toThrow('left alone')
    expect(fs.readdirSync(outside)).toEqual(['journal-x.jsonl'])
  })

  it('sweeps the blobs that only deleted sessions named, and no young one', async () => {
    const old = await put(long('a'), '2025-01-02T00:00:00.000Z')
    await put(long('b'), '2025-03-01T00:00:00.000Z')
    const blobs = (): string[] => fs.readdirSync(join(archive.home, 'blobs'), { recursive: true }).map(String)
    const has = (text: string): boolean => blobs().some((path) => path.endsWith(hash(text)))
    const without = new Set([old])
    const later = Date.now() + 2 * DAY_MS
    expect(await sweepBlobs(archive, { without, remove: true, now: Date.now() })).toEqual({
      blobs: 0,
      bytes: 0,
    })
    expect(await sweepBlobs(archive, { without, remove: false, now: later })).toEqual({
      blobs: 1,
      bytes: 100_000,
    })
    expect(has(long('a'))).toBe(true)
    await sweepBlobs(archive, { without, remove: true, now: later })
    expect([has(long('a')), has(long('b'))]).toEqual([false, true])
  })

  describe('of a blob that is used again', () => {
    const bytes = Buffer.from(long('d'))
    const path = (): string => join(archive.home, 'blobs', hash(long('d')).slice(0, 2), hash(long('d')))
    const makeOld = (): void => {
      archive.blobs.write(bytes, 'text/plain')
      fs.utimesSync(path(), 1, 1)
    }
    // There is no session here to read, so that it is done when it returns.
    const sweep = (files: Files): void =>
      void sweepBlobs({ ...archive, files }, { without: new Set(), remove: true, now: Date.now() })

    it('leaves it, at whatever moment of the sweep', () => {
      makeOld()
      const undisturbed = interleave(archive.files, 0, () => {})
      sweep(undisturbed.files)
      expect(fs.existsSync(path())).toBe(false)
      for (let call = 1; call <= undisturbed.calls(); call += 1) {
        makeOld()
        const disk = interleave(archive.files, call, () => void archive.blobs.write(bytes, 'text/plain'))
        sweep(disk.files)
        expect(fs.existsSync(path()), `used before call ${call}`).toBe(true)
      }
      expect(undisturbed.calls()).toBeGreaterThan(4)
    })

    it('leaves it, at whatever moment of the use', () => {
      let calls = 1
      for (let call = 1; call <= calls; call += 1) {
        makeOld()
        const disk = interleave(archive.files, call, () => sweep(archive.files))
        openBlobs(join(archive.home, 'blobs'), disk.files).write(bytes, 'text/plain')
        calls = Math.max(calls, disk.calls())
        expect(fs.existsSync(path()), `swept before call ${call}`).toBe(true)
      }
      expect(calls).toBeGreaterThan(3)
    })

    it('puts back what an earlier sweep took away and did not live to decide on', () => {
      archive.blobs.write(bytes, 'text/plain')
      fs.renameSync(path(), `${path()}.swept`)
      sweep(archive.files)
      expect(fs.existsSync(path())).toBe(true)
    })
  })

  it('keeps a blob that a damaged line names', async () => {
    const id = await put(long('c'), '2025-03-01T00:00:00.000Z')
    const [path] = archive.segments(id)
    const bytes = fs.readFileSync(path as string)
    bytes[bytes.indexOf('"t":"entry"')] = 0x7e
    fs.writeFileSync(path as string, bytes)
    const swept = await sweepBlobs(archive, {
      without: new Set(),
      remove: true,
      now: Date.now() + 2 * DAY_MS,
    })
    expect(swept.blobs).toBe(0)
  })
})
