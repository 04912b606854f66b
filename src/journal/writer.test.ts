import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { proveFailures, provePowerCuts } from '../../test/fault-proofs.ts'
import { createDisk, withFault } from '../../test/faulty-files.ts'
import { heldBytes } from '../../test/held-bytes.ts'
import { first, readFolder, sampleEntry } from '../../test/journal-samples.ts'
import { verifyChain } from './chain.ts'
import { nodeFiles, type Files } from './files.ts'
import type { JournalRecord } from './record.ts'
import { openJournal, type Failure, type JournalOptions, type JournalWriter } from './writer.ts'

let folder: string

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'hansard-journal-'))
})
afterEach(() => {
  fs.rmSync(folder, { recursive: true, force: true })
})

const entry = (n: number, text?: string): JournalRecord => ({ t: 'entry', entry: sampleEntry(n, text) })
const end: JournalRecord = {
  t: 'end',
  session: { status: 'completed' },
  counts: { entries: 0, lines: 0 },
  at: '2026-01-02T03:04:05.006Z',
}

function open(options: Partial<JournalOptions> = {}): JournalWriter {
  return openJournal({ folder: join(folder, 'session'), first, ...options })
}

function segments(inside: string = join(folder, 'session')): Map<string, Buffer> {
  const names = fs.readdirSync(inside).filter((name) => name.endsWith('.jsonl'))
  return new Map(names.map((name) => [join(inside, name), fs.readFileSync(join(inside, name))]))
}

async function ids(files: ReadonlyMap<string, Buffer> = segments()): Promise<string[]> {
  return (await readFolder(files)).entries.map(({ id }) => id)
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => `primary/${n}`)

/** Real files that also write down what was asked of them. */
function spy(): { files: Files; calls: string[] } {
  const calls: string[] = []
  const files: Files = {
    ...nodeFiles,
    datasync(fd) {
      calls.push('sync')
      nodeFiles.datasync(fd)
    },
    datasyncLater(fd, done) {
      calls.push('sync later')
      nodeFiles.datasyncLater(fd, done)
    },
    syncFolder(path) {
      calls.push('sync folder')
      nodeFiles.syncFolder(path)
    },
    write(fd, bytes, from, length) {
      calls.push('write')
      return nodeFiles.write(fd, bytes, from, length)
    },
  }
  return { files, calls }
}

describe('a journal on a good disk', () => {
  it('is one file of whole lines, for its owner only, in a folder for its owner only', async () => {
    const journal = open()
    for (let n = 0; n < 5; n += 1) expect(journal.append(entry(n))).toBe(true)
    expect(journal.head()).toMatchObject({ seq: 5 })
    journal.append(end)
    expect(await journal.close()).toBe(true)
    expect(journal.lost()).toBe(0)
    expect(fs.statSync(journal.path).mode & 0o777).toBe(0o600)
    expect(fs.statSync(join(folder, 'session')).mode & 0o777).toBe(0o700)
    expect(await ids()).toEqual(numbered(5))
    const report = await verifyChain([
      { file: journal.path, chunks: () => fs.createReadStream(journal.path) },
    ])
    expect(report).toMatchObject({ damage: [], segments: [{ lines: 7, entries: 5, ended: true }] })
  })

  it('writes one line with one write, and syncs the first, the end, and what it is asked to', async () => {
    const { files, calls } = spy()
    const journal = open({ files, durability: 'os' })
    const start = calls.splice(0)
    expect(start.filter((call) => call !== 'sync folder')).toEqual(['write', 'sync'])
    expect(start.at(-1)).toBe('sync folder')
    journal.append(entry(0))
    journal.append(entry(1))
    expect(calls.splice(0)).toEqual(['write', 'write'])
    await journal.flush()
    expect(calls.splice(0)).toEqual(['sync later'])
    journal.append(entry(2))
    journal.flushSync()
    expect(calls.splice(0)).toEqual(['write', 'sync'])
    journal.append(end)
    expect(calls.splice(0)).toEqual(['write', 'sync'])
    await journal.close()
  })

  it('syncs when asked to, also what it no longer keeps a copy of', async () => {
    const { files, calls } = spy()
    const journal = open({ files, durability: 'os' })
    journal.append(entry(0, 'x'.repeat(300_000)))
    calls.splice(0)
    expect(await journal.flush()).toBe(true)
    expect(calls.splice(0)).toEqual(['sync later'])
    expect(await journal.flush()).toBe(true)
    expect(calls).toEqual([])
    await journal.close()
  })

  it('syncs within 50 ms and a little, without being asked, when durability is group', async () => {
    const { files, calls } = spy()
    const journal = open({ files })
    calls.splice(0)
    for (let n = 0; n < 10; n += 1) journal.append(entry(n))
    expect(calls.splice(0)).not.toContain('sync later')
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(calls.filter((call) => call === 'sync later')).toHaveLength(1)
    await journal.close()
  })

  it('does not wait for 50 ms once 256 KB are unsynced, and has one sync in flight at most', async () => {
    const { files, calls } = spy()
    const journal = open({ files })
    calls.splice(0)
    for (let n = 0; n < 40; n += 1) journal.append(entry(n, 'x'.repeat(20_000)))
    expect(calls.filter((call) => call === 'sync later')).toHaveLength(1)
    await journal.close()
  })

  it('syncs every line when durability is sync', () => {
    const { files, calls } = spy()
    const journal = open({ files, durability: 'sync' })
    calls.splice(0)
    journal.append(entry(0))
    journal.append(entry(1))
    expect(calls).toEqual(['write', 'sync', 'write', 'sync'])
    journal.closeSync()
  })

  it('does not keep the process alive', () => {
    const program = `
      const { openJournal } = await import(${JSON.stringify(new URL('../../dist/src/journal/writer.js', import.meta.url).href)})
      const journal = openJournal({ folder: process.argv[1], first: ${JSON.stringify(first)} })
      journal.append({ t: 'gap', reason: 'none', lost: 0, at: '' })`
    execFileSync(process.execPath, ['--input-type=module', '-e', program, join(folder, 'session')], {
      timeout: 50_000,
    })
  })

  it('keeps order and monotonic times when the clock goes back', async () => {
    let wall = Date.parse('2026-06-01T00:00:00Z')
    const journal = open({ now: () => (wall -= 3_600_000) })
    for (let n = 0; n < 5; n += 1) journal.append(entry(n))
    await journal.close()
    expect(await ids()).toEqual(numbered(5))
    const times = fs
      .readFileSync(journal.path, 'utf8')
      .match(/"mt":\d+/g)
      ?.map((text) => Number(text.slice(5)))
    expect(times).toEqual(times?.toSorted((a, b) => a - b))
  })

  it('can be read with jq on every line while it is written', () => {
    const jq = findJq()
    const journal = open({ durability: 'os' })
    let deep: unknown = 1
    for (let n = 0; n < 1000; n += 1) deep = [deep]
    for (let n = 0; n < 20; n += 1) {
      journal.append(entry(n))
      if (jq !== undefined && n % 5 === 0)
        expect(execFileSync(jq, ['-c', '.seq', journal.path]).toString()).toContain(`${n + 1}\n`)
    }
    const call = { type: 'tool-call' as const, name: 'x', input: deep as never }
    journal.append({ t: 'entry', entry: { ...sampleEntry(20), blocks: [call] } })
    if (jq !== undefined)
      expect(execFileSync(jq, ['-c', '.', journal.path]).toString().trim().split('\n')).toHaveLength(22)
    journal.closeSync()
  })

  it('says false, and counts, after it was closed', async () => {
    const journal = open()
    await journal.close()
    expect(journal.append(entry(0))).toBe(false)
    expect(journal.lost()).toBe(1)
    expect(await journal.close()).toBe(true)
  })
})

function findJq(): string | undefined {
  return ['/usr/bin/jq', '/usr/local/bin/jq', '/opt/homebrew/bin/jq'].find((path) => fs.existsSync(path))
}

describe('a journal that somebody plays with', () => {
  it('leaves a link, a FIFO or a file planted at its name alone, and takes another name', async () => {
    const session = join(folder, 'session')
    fs.mkdirSync(session)
    const target = join(folder, 'target')
    fs.writeFileSync(target, 'precious')
    fs.symlinkSync(target, join(session, 'journal-w.jsonl'))
    execFileSync('mkfifo', [join(session, 'journal-w.1.jsonl')])
    fs.writeFileSync(join(session, 'journal-w.2.jsonl'), '')
    const journal = open({ writer: 'w' })
    expect(journal.append(entry(0))).toBe(true)
    await journal.close()
    expect(journal.path).toBe(join(session, 'journal-w.3.jsonl'))
    expect(fs.readFileSync(target, 'utf8')).toBe('precious')
  })

  it('writes nothing through a folder that is a link', async () => {
    fs.mkdirSync(join(folder, 'elsewhere'))
    fs.symlinkSync(join(folder, 'elsewhere'), join(folder, 'session'))
    const reports: Failure[] = []
    const journal = open({ onFailure: (report) => void reports.push(report) })
    expect(journal.append(entry(0))).toBe(false)
    expect(await journal.close()).toBe(false)
    expect(reports).toMatchObject([{ kind: 'failing', code: 'ELOOP' }])
    expect(fs.readdirSync(join(folder, 'elsewhere'))).toEqual([])
    expect(journal.lost()).toBe(1)
  })

  it.each(['unlink', 'rename', 'folder'])(
    'goes on in a new segment after its file is gone: %s',
    async (how) => {
      const reports: string[] = []
      const journal = open({ durability: 'os', onFailure: ({ kind }) => void reports.push(kind) })
      journal.append(entry(0))
      await journal.flush()
      journal.append(entry(1))
      const before = journal.path
      if (how === 'unlink') fs.unlinkSync(before)
      if (how === 'rename') fs.renameSync(before, join(folder, 'session', 'journal-moved.jsonl'))
      if (how === 'folder') fs.rmSync(join(folder, 'session'), { recursive: true })
      journal.append(entry(2))
      expect(await journal.flush()).toBe(true)
      expect(journal.path).not.toBe(before)
      journal.append(entry(3))
      await journal.close()
      expect(reports).toEqual(['failing', 'resumed'])
      const { entries } = await readFolder(segments())
      const found = entries.map(({ sequence }) => sequence)
      // What was synced went with the file; what was not is written again.
      expect(found).toEqual(how === 'rename' ? [0, 1, 2, 3] : [1, 2, 3])
      expect(journal.lost()).toBe(how === 'rename' ? 0 : 1)
      expect(fs.readFileSync(journal.path, 'utf8')).toContain('"t":"gap"')
    },
  )

  it('notices a file cut short by log rotation', async () => {
    const journal = open({ durability: 'os' })
    for (let n = 0; n < 3; n += 1) journal.append(entry(n))
    fs.truncateSync(journal.path, 0)
    expect(await journal.flush()).toBe(true)
    await journal.close()
    expect(await ids()).toEqual(numbered(3))
  })

  it.each(['group', 'sync'] as const)(
    'loses nothing to a kernel that once says it wrote a line and did not: %s',
    async (durability) => {
      // The first write is the line that a reader knows the file by.
      for (const lie of [2, 3, 9, 14]) {
        const inside = join(folder, `lie-${lie}`)
        let writes = 0
        const files: Files = {
          ...nodeFiles,
          write(fd, bytes, from, length) {
            writes += 1
            if (writes !== lie) return nodeFiles.write(fd, bytes, from, length)
            nodeFiles.write(fd, bytes, from + 3, length - 3)
            return length
          },
        }
        const journal = openJournal({ folder: inside, first, files, durability })
        for (let n = 0; n < 20; n += 1) {
          journal.append(entry(n))
          // Long enough for a sync that nobody asked for.
          if (n % 10 === 9) await new Promise((done) => setTimeout(done, 150))
        }
        expect(await journal.close()).toBe(true)
        expect(journal.lost()).toBe(0)
        const { entries } = await readFolder(segments(inside))
        const found = entries.map(({ sequence }) => sequence).toSorted((a, b) => a - b)
        expect(found).toEqual(Array.from({ length: 20 }, (_, n) => n))
      }
    },
  )

  it('loses nothing to such a kernel where nothing is synced, and much is written before anybody looks', async () => {
    let writes = 0
    const files: Files = {
      ...nodeFiles,
      write(fd, bytes, from, length) {
        writes += 1
        if (writes !== 5) return nodeFiles.write(fd, bytes, from, length)
        nodeFiles.write(fd, bytes, from + 3, length - 3)
        return length
      },
    }
    // By a clock that stands still, no second is over.
    const journal = openJournal({ folder, first, files, durability: 'os', monotonic: () => 0n })
    for (let n = 0; n < 30; n += 1) journal.append(entry(n, 'x'.repeat(30_000)))
    expect(await journal.close()).toBe(true)
    expect(journal.lost()).toBe(0)
    const { entries } = await readFolder(segments(folder))
    const found = entries.map(({ sequence }) => sequence).toSorted((a, b) => a - b)
    expect(found).toEqual(Array.from({ length: 30 }, (_, n) => n))
  })

  it('goes on when its folder loses its permissions while it writes', async () => {
    const journal = open()
    journal.append(entry(0))
    fs.chmodSync(join(folder, 'session'), 0)
    fs.chmodSync(journal.path, 0)
    expect(journal.append(entry(1))).toBe(true)
    await journal.close()
    fs.chmodSync(join(folder, 'session'), 0o700)
    fs.chmodSync(journal.path, 0o600)
    expect(await ids()).toEqual(numbered(2))
  })

  it('does not throw where nothing can be written at all', async () => {
    fs.writeFileSync(join(folder, 'session'), 'a file in the way')
    const reports: Failure[] = []
    const journal = open({ onFailure: (report) => void reports.push(report) })
    for (let n = 0; n < 3; n += 1) expect(journal.append(entry(n))).toBe(false)
    expect(await journal.flush()).toBe(false)
    expect(journal.flushSync()).toBe(false)
    fs.unlinkSync(join(folder, 'session'))
    expect(await journal.flush()).toBe(true)
    expect(await ids()).toEqual(numbered(3))
    await journal.close()
    expect(reports.map(({ kind }) => kind)).toEqual(['failing', 'resumed'])
  })

  it('is not bothered by a listener that throws', () => {
    fs.writeFileSync(join(folder, 'session'), '')
    const journal = open({
      onFailure: () => {
        throw new Error('mine')
      },
    })
    expect(journal.append(entry(0))).toBe(false)
  })
})

describe('a journal on a bad disk', () => {
  it('loses nothing it acknowledged, whichever call fails, once or until it is mended', async () => {
    const proof = await proveFailures(6)
    expect(proof.broken).toEqual([])
    expect(proof.tried).toBeGreaterThan(500)
  })

  it('has everything it said is synced, whenever the power goes', async () => {
    const proof = await provePowerCuts(3, 6)
    expect(proof.broken).toEqual([])
    expect(proof.tried).toBeGreaterThan(500)
  })

  it('holds a bounded number of bytes: content goes first, envelopes next, and the loss is marked', async () => {
    const disk = createDisk()
    const faulty = withFault(disk, { at: 12, kind: 'ENOSPC', sticky: true })
    let clock = 0n
    const journal = openJournal({
      files: faulty.files,
      folder: '/s',
      first,
      holdBytes: 20_000,
      monotonic: () => (clock += 1_000_000n),
    })
    let held = 0
    while (journal.append(entry(held, 'y'.repeat(3000)))) held += 1
    const total = held + 30
    for (let n = held + 1; n < total; n += 1) journal.append(entry(n, 'y'.repeat(3000)))
    faulty.heal()
    expect(await journal.close()).toBe(true)
    const { entries } = await readFolder(disk.now())
    expect(entries.map(({ sequence }) => sequence)).toEqual(Array.from({ length: total }, (_, n) => n))
    const emptied = entries.filter(({ blocks }) => blocks[0]?.type === 'unknown')
    expect(emptied.length).toBeGreaterThan(20)
    expect(journal.lost()).toBe(emptied.length)
    // The oldest lost their content, the newest did not.
    expect(entries.at(-1)?.blocks[0]?.type).toBe('text')
    const written = Buffer.concat([...disk.now().values()])
    expect(written.includes(`"lost":${emptied.length}`)).toBe(true)
  })

  it('counts whole entries that memory had no room for', async () => {
    const disk = createDisk()
    const faulty = withFault(disk, { at: 1, kind: 'ENOSPC', sticky: true })
    const journal = openJournal({ files: faulty.files, folder: '/s', first, holdBytes: 2000 })
    for (let n = 0; n < 100; n += 1) journal.append(entry(n))
    journal.append(end)
    faulty.heal()
    await journal.close()
    const { entries } = await readFolder(disk.now())
    expect(entries.length).toBeGreaterThan(2)
    const whole = entries.filter(({ blocks }) => blocks[0]?.type === 'text')
    expect(whole.length + journal.lost()).toBe(100)
    expect([...disk.now().values()][0]?.toString()).toContain('"t":"end"')
  })

  it('does not ask a full disk again for every entry', () => {
    const disk = createDisk()
    const faulty = withFault(disk, { at: 20, kind: 'ENOSPC', sticky: true })
    const journal = openJournal({ files: faulty.files, folder: '/s', first, monotonic: () => 1n })
    while (journal.append(entry(0))) continue
    const calls = faulty.calls()
    for (let n = 0; n < 1000; n += 1) expect(journal.append(entry(n))).toBe(false)
    expect(faulty.calls() - calls).toBeLessThan(20)
  })

  it('leaves no heap of empty files behind a long outage', async () => {
    const disk = createDisk()
    const faulty = withFault(disk, { at: 5, kind: 'ENOSPC', sticky: true })
    let clock = 0n
    const journal = openJournal({
      files: { ...faulty.files, remove: (path) => disk.files.remove(path) },
      folder: '/s',
      first,
      monotonic: () => (clock += 10_000_000_000n),
    })
    for (let n = 0; n < 200; n += 1) journal.append(entry(n))
    expect(disk.now().size).toBeLessThanOrEqual(1)
    faulty.heal()
    expect(await journal.close()).toBe(true)
    expect(await ids(disk.now())).toEqual(numbered(200))
  })

  it('never syncs a descriptor again whose sync failed, and says which line the next segment continues', async () => {
    const disk = createDisk()
    const synced: number[] = []
    let failed: number | undefined
    const files: Files = {
      ...disk.files,
      datasyncLater(fd, done) {
        synced.push(fd)
        if (failed !== undefined) return disk.files.datasyncLater(fd, done)
        failed = fd
        disk.failSync(fd)
        setImmediate(() => done(Object.assign(new Error('EIO'), { code: 'EIO' })))
      },
    }
    const journal = openJournal({ files, folder: '/s', first, writer: 'w' })
    journal.append(entry(0))
    journal.flushSync()
    journal.append(entry(1))
    journal.append(entry(2))
    expect(await journal.flush()).toBe(true)
    journal.append(entry(3))
    await journal.close()
    expect(synced.filter((fd) => fd === failed)).toHaveLength(1)
    const next = disk.now().get('/s/journal-w.1.jsonl')?.toString() ?? ''
    expect(next).toContain('"continues":{"writer":"w","seq":1,')
    expect(await ids(disk.now())).toEqual(numbered(4))
    expect(await ids(disk.afterPowerCut('synced', Math.random))).toEqual(numbered(4))
    const chain = await verifyChain(
      [...disk.now()].map(([file, bytes]) => ({
        file,
        async *chunks() {
          yield bytes
        },
      })),
    )
    expect(chain.damage).toEqual([])
  })
})

describe('a disk that syncs nothing', () => {
  it.each(['EINVAL', 'EIO'])('is written to all the same, and never called safe: %s', async (code) => {
    const disk = createDisk()
    const fail = (): never => {
      throw Object.assign(new Error(code), { code })
    }
    const files: Files = {
      ...disk.files,
      datasync: fail,
      datasyncLater: (_fd, done) => void setImmediate(() => done(Object.assign(new Error(code), { code }))),
    }
    const reports: Failure[] = []
    const journal = openJournal({
      files,
      folder: '/s',
      first,
      onFailure: (report) => void reports.push(report),
    })
    for (let n = 0; n < 50; n += 1) {
      expect(journal.append(entry(n))).toBe(true)
      if (n % 10 === 0) expect(await journal.flush()).toBe(false)
    }
    expect(await journal.close()).toBe(false)
    expect(await ids(disk.now())).toEqual(numbered(50))
    expect(disk.now().size).toBeLessThan(3)
    expect(reports).toMatchObject([{ kind: 'failing', code }])
    expect(journal.lost()).toBe(0)
  })

  it('is called safe again when it syncs again', async () => {
    const disk = createDisk()
    const faulty = withFault(disk, { at: 1, kind: 'EIO', sticky: true })
    const files: Files = { ...disk.files, datasync: (fd) => faulty.files.datasync(fd) }
    let clock = 0n
    const journal = openJournal({ files, folder: '/s', first, monotonic: () => (clock += 5_000_000_000n) })
    for (let n = 0; n < 5; n += 1) journal.append(entry(n))
    expect(journal.flushSync()).toBe(false)
    faulty.heal()
    for (let n = 5; n < 20; n += 1) journal.append(entry(n))
    expect(journal.closeSync()).toBe(true)
    expect(await ids(disk.now())).toEqual(numbered(20))
    expect(await ids(disk.afterPowerCut('synced', Math.random))).toEqual(numbered(20))
  })
})

it('holds nothing back from the collector over many small entries', () => {
  const { files } = spy()
  const journal = open({
    files: {
      ...files,
      write: (_fd, _bytes, _from, length) => length,
      size: () => 0,
      identity: (fd) => ({ ...nodeFiles.identity(fd), size: 1e15 }),
    },
    durability: 'group',
    holdBytes: 100_000,
  })
  const small = entry(0, 'small')
  for (let n = 0; n < 20_000; n += 1) journal.append(small)
  const before = heldBytes()
  for (let n = 0; n < 60_000; n += 1) journal.append(small)
  // A line is some 300 bytes: kept, these would be 18 MB.
  expect(heldBytes() - before).toBeLessThan(6_000_000)
  journal.closeSync()
})
