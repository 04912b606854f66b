import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDisk } from '../../test/faulty-files.ts'
import { first, readFolder, sampleEntry, toLines } from '../../test/journal-samples.ts'
import { createLineEncoder, NO_HASH } from './line.ts'
import { toRecordJson } from './record-json.ts'
import type { JournalHead, JournalRecord } from './record.ts'
import { openJournal } from './writer.ts'

type Timed = { readonly mt: number; readonly id: number }
type Header = {
  readonly boot?: string
  readonly at?: string
  readonly mt?: number
  readonly continues?: JournalHead
}

function segment(writer: string, entries: readonly Timed[], header: Header = {}): [string, Buffer] {
  const { boot = 'boot', at = '2026-01-01T00:00:00.000Z', mt = 0, continues } = header
  const start: JournalRecord = { t: 'session', ...first, writer, boot, at, ...(continues && { continues }) }
  const records: [JournalRecord, number][] = [
    [start, mt],
    ...entries.map(({ mt, id }): [JournalRecord, number] => [{ t: 'entry', entry: sampleEntry(id) }, mt]),
  ]
  const encoder = createLineEncoder()
  let p = continues?.h ?? NO_HASH
  const lines = records.map(([record, mt], seq) => {
    const length = encoder.encode(toRecordJson(record), { seq, mt, p })
    p = encoder.hash()
    return Buffer.from(encoder.bytes().subarray(0, length))
  })
  return [`journal-${writer}.jsonl`, Buffer.concat(lines)]
}

async function order(...segments: readonly [string, Buffer][]): Promise<number[]> {
  const { entries, damage } = await readFolder(new Map(segments))
  expect(damage).toEqual([])
  return entries.map(({ sequence }) => sequence)
}

describe("several writers' segments", () => {
  it('come by monotonic time within a boot, whatever the wall clocks say', async () => {
    const a = segment(
      'a',
      [
        { mt: 10, id: 1 },
        { mt: 40, id: 4 },
      ],
      { at: '2026-01-01T09:00:00.000Z' },
    )
    const b = segment(
      'b',
      [
        { mt: 20, id: 2 },
        { mt: 30, id: 3 },
      ],
      { at: '2026-01-01T01:00:00.000Z' },
    )
    expect(await order(a, b)).toEqual([1, 2, 3, 4])
  })

  it('come by wall time across boots, carried on by monotonic time', async () => {
    const a = segment(
      'a',
      [
        { mt: 5_000_000, id: 1 },
        { mt: 9_000_000, id: 4 },
      ],
      {
        boot: 'one',
        at: '2026-01-01T00:00:00.000Z',
      },
    )
    const b = segment(
      'b',
      [
        { mt: 101, id: 2 },
        { mt: 102, id: 3 },
      ],
      {
        boot: 'two',
        at: '2026-01-01T00:00:07.000Z',
        mt: 100,
      },
    )
    expect(await order(a, b)).toEqual([1, 2, 3, 4])
  })

  it('keep their own order even when their times go back', async () => {
    const a = segment('a', [
      { mt: 50, id: 1 },
      { mt: 10, id: 2 },
      { mt: 60, id: 3 },
    ])
    const b = segment('b', [{ mt: 55, id: 9 }])
    expect(await order(a, b)).toEqual([1, 2, 9, 3])
  })

  it('come whole and each in its own order, for any times', () => {
    const times = fc.array(fc.nat(50), { maxLength: 12 })
    return fc.assert(
      fc.asyncProperty(fc.array(times, { minLength: 2, maxLength: 5 }), async (writers) => {
        const segments = writers.map((mts, w) =>
          segment(
            `w${w}`,
            mts.map((mt, n) => ({ mt, id: w * 100 + n })),
            { boot: w % 2 === 0 ? 'x' : 'y' },
          ),
        )
        const merged = await order(...segments)
        expect(merged).toHaveLength(writers.flat().length)
        for (const [w, mts] of writers.entries()) {
          const own = merged.filter((id) => Math.floor(id / 100) === w)
          expect(own).toEqual(mts.map((_, n) => w * 100 + n))
        }
      }),
      { numRuns: 100 },
    )
  })

  it('give once what a segment wrote again after a failed sync, and what only one of them holds', async () => {
    const before = segment(
      'a',
      [1, 2, 3, 4].map((id) => ({ mt: id * 10, id })),
    )
    const continues = { writer: 'a', seq: 2, h: NO_HASH }
    // Line 2 was safe; 3 and 4 are written again here, and 5 is new.
    const after = segment(
      'a.1',
      [3, 4, 5].map((id) => ({ mt: id * 10, id })),
      { continues, mt: 45 },
    )
    expect(await order(before, after)).toEqual([1, 2, 3, 4, 5])
    // It died before it had written them again: the suspect file still has them.
    const died = segment('a.1', [{ mt: 30, id: 3 }], { continues, mt: 45 })
    expect(await order(before, died)).toEqual([1, 2, 3, 4])
    // The power went, and the suspect file lost them.
    const cut = segment(
      'a',
      [1, 2].map((id) => ({ mt: id * 10, id })),
    )
    expect(await order(cut, after)).toEqual([1, 2, 3, 4, 5])
    const again = { continues: { writer: 'a.1', seq: -1, h: NO_HASH }, mt: 46 }
    expect(
      await order(
        before,
        died,
        segment(
          'a.2',
          [3, 4, 5].map((id) => ({ mt: id * 10, id })),
          again,
        ),
      ),
    ).toEqual([1, 2, 3, 4, 5])
  })

  it('do not wait for each other in a circle', async () => {
    const a = segment('a', [{ mt: 1, id: 1 }], { continues: { writer: 'b', seq: 1, h: NO_HASH } })
    const b = segment('b', [{ mt: 2, id: 2 }], { continues: { writer: 'a', seq: 1, h: NO_HASH } })
    expect((await order(a, b)).toSorted((x, y) => x - y)).toEqual([1, 2])
  })

  it('are read when one of them lost its first line', async () => {
    const [name, bytes] = segment('b', [
      { mt: 20, id: 2 },
      { mt: 30, id: 3 },
    ])
    const beheaded = bytes.subarray(bytes.indexOf(0x0a) + 1)
    const { entries, damage } = await readFolder(
      new Map([segment('a', [{ mt: 10, id: 1 }]), [name, beheaded]]),
    )
    expect(entries.map(({ sequence }) => sequence).toSorted((x, y) => x - y)).toEqual([1, 2, 3])
    expect(damage).toMatchObject([{ kind: 'missing' }])
  })

  it('of two live writers hold the entries of both, in the order they were appended', async () => {
    const disk = createDisk()
    const open = () => openJournal({ files: disk.files, folder: '/s', first, durability: 'os' })
    const [a, b] = [open(), open()]
    for (let n = 0; n < 100; n += 1) {
      const until = process.hrtime.bigint() + 2000n
      while (process.hrtime.bigint() < until) continue
      ;((n * 7) % 3 === 0 ? a : b).append({ t: 'entry', entry: sampleEntry(n) })
    }
    a.closeSync()
    b.closeSync()
    expect(await order(...disk.now())).toEqual(Array.from({ length: 100 }, (_, n) => n))
  })
})

it('a single segment is read as it is', async () => {
  const lines = toLines([{ t: 'entry', entry: sampleEntry(0) }])
  expect(await order(['journal-x.jsonl', Buffer.concat(lines)])).toEqual([0])
})
