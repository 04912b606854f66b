import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDisk, withFault, type Disk } from '../../test/faulty-files.ts'
import { readBack, readItems, sampleRecords, toLines } from '../../test/journal-samples.ts'
import { nodeFiles } from './files.ts'
import { repairJournal } from './repair.ts'

const lines = toLines(sampleRecords(8))
const whole = Buffer.concat(lines)
let folder: string
let path: string

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'hansard-repair-'))
  path = join(folder, 'journal-x.jsonl')
})
afterEach(() => {
  fs.rmSync(folder, { recursive: true, force: true })
})

describe('repairing a journal', () => {
  it('leaves a whole one alone', () => {
    fs.writeFileSync(path, whole)
    expect(repairJournal(nodeFiles, path)).toMatchObject({ changed: false, lines: 10, removedBytes: 0 })
    expect(fs.readFileSync(path).equals(whole)).toBe(true)
    expect(fs.readdirSync(folder)).toHaveLength(1)
  })

  it('cuts a torn tail at any byte and keeps it beside', () => {
    for (let size = whole.length - 1; size > whole.length - 900; size -= 7) {
      fs.writeFileSync(path, whole.subarray(0, size))
      const { seqs } = readBack(whole.subarray(0, size))
      const { keptAs, removedBytes } = repairJournal(nodeFiles, path)
      const repaired = fs.readFileSync(path)
      expect(repaired.equals(Buffer.concat(lines.slice(0, seqs.length)))).toBe(true)
      if (keptAs === undefined) continue
      const kept = fs.readFileSync(join(folder, keptAs))
      expect(kept).toHaveLength(removedBytes)
      expect(Buffer.concat([repaired, kept]).equals(whole.subarray(0, size))).toBe(true)
    }
  })

  it('rewrites whole lines byte for byte around damage in the middle, and keeps the file as it was', () => {
    const [a, b] = [Buffer.concat(lines.slice(0, 3)), Buffer.concat(lines.slice(4))]
    const damaged = Buffer.concat([a, Buffer.alloc(100), (lines[3] as Buffer).subarray(0, 40), b])
    fs.writeFileSync(path, damaged)
    expect(repairJournal(nodeFiles, path)).toMatchObject({
      changed: true,
      lines: 9,
      keptAs: 'journal-x.jsonl.damaged',
    })
    expect(fs.readFileSync(path).equals(Buffer.concat([a, b]))).toBe(true)
    expect(fs.readFileSync(`${path}.damaged`).equals(damaged)).toBe(true)
    expect(fs.statSync(path).mode & 0o777).toBe(0o600)
    expect(repairJournal(nodeFiles, path).changed).toBe(false)
  })

  it('does not remove a line of a later version', () => {
    const later = Buffer.from('{"v":2,"seq":1,"new":true}\n')
    const bytes = Buffer.concat([...lines.slice(0, 3), later, ...lines.slice(3), Buffer.from('torn')])
    fs.writeFileSync(path, bytes)
    repairJournal(nodeFiles, path)
    expect(fs.readFileSync(path).equals(bytes.subarray(0, -4))).toBe(true)
  })

  it('refuses a link', () => {
    fs.writeFileSync(join(folder, 'target'), 'x')
    fs.symlinkSync(join(folder, 'target'), path)
    expect(() => repairJournal(nodeFiles, path)).toThrow(/ELOOP/)
  })

  it('keeps every record there is, invents none, and needs no second repair, for any damage', () => {
    const cut = fc.record({
      at: fc.nat(whole.length),
      length: fc.nat(500),
      insert: fc.uint8Array({ maxLength: 30 }),
    })
    fc.assert(
      fc.property(fc.array(cut, { maxLength: 4 }), (cuts) => {
        const bytes = cuts.reduce(
          (all, { at, length, insert }) =>
            Buffer.concat([all.subarray(0, at), insert, all.subarray(at + length)]),
          whole,
        )
        fs.rmSync(folder, { recursive: true })
        fs.mkdirSync(folder)
        fs.writeFileSync(path, bytes)
        const { seqs } = readBack(bytes)
        const { lines: kept } = repairJournal(nodeFiles, path)
        const repaired = readItems(fs.readFileSync(path))
        expect(repaired.flatMap((item) => (item.ok ? [item.seq] : []))).toEqual(seqs)
        expect(kept).toBe(seqs.length)
        expect(repairJournal(nodeFiles, path).changed).toBe(false)
      }),
      { numRuns: 150 },
    )
  })

  it('loses no whole line and no damaged byte, whichever call fails or whenever the power goes', () => {
    const damages = [
      Buffer.concat([whole, Buffer.from('torn')]),
      Buffer.concat([...lines.slice(0, 4), Buffer.alloc(50), ...lines.slice(4)]),
    ]
    for (const damaged of damages) {
      for (const kind of ['EIO', 'crash'] as const) {
        for (let at = 1; ; at += 1) {
          const disk = prepared(damaged)
          const faulty = withFault(disk, { at, kind, sticky: kind === 'crash' })
          try {
            repairJournal(faulty.files, '/journal-x.jsonl')
          } catch {
            // The call that failed is told to the caller.
          }
          if (faulty.calls() < at) break
          for (const left of [disk.now(), disk.afterPowerCut('synced', Math.random)]) {
            const repaired = left.get('/journal-x.jsonl') as Buffer
            expect(readBack(repaired).seqs).toEqual(lines.map((_, seq) => seq))
            const kept = left.get('/journal-x.jsonl.damaged') ?? Buffer.alloc(0)
            const isThere = [repaired, kept, Buffer.concat([repaired, kept])].some((bytes) =>
              bytes.equals(damaged),
            )
            expect(isThere).toBe(true)
          }
        }
      }
    }
  })
})

function prepared(bytes: Buffer): Disk {
  const disk = createDisk()
  const fd = disk.files.openAppend('/journal-x.jsonl', 'new')
  disk.files.write(fd, bytes, 0, bytes.length)
  disk.files.datasync(fd)
  disk.files.syncFolder('/')
  disk.files.close(fd)
  return disk
}
