import { describe, expect, it } from 'vitest'
import { first, sampleRecords, toLines } from '../../test/journal-samples.ts'
import { verifyChain } from './chain.ts'
import { createLineEncoder, NO_HASH } from './line.ts'
import type { JournalHead, JournalRecord } from './record.ts'

function source(file: string, bytes: Buffer): { file: string; chunks(): AsyncIterable<Buffer> } {
  return {
    file,
    async *chunks() {
      yield bytes
    },
  }
}

const lines = toLines(sampleRecords(5))
const kinds = async (...sources: readonly ReturnType<typeof source>[]): Promise<string[]> =>
  (await verifyChain(sources)).damage.map(({ kind }) => kind)

/** A line with its checksum made right again: what somebody who knows the format could write. */
function forge(line: Buffer, change: (text: string) => string, h?: string): Buffer {
  type Fields = { v: 1; seq: number; mt: number; p: string; h: string; c: string }
  const { v: _v, seq, mt, p, h: own, c: _c, ...record } = JSON.parse(line.toString()) as Fields
  const encoder = createLineEncoder()
  const length = encoder.encode(change(JSON.stringify(record)), { seq, mt, p })
  const text = encoder.bytes().toString('utf8', 0, length)
  return h === undefined ? Buffer.from(text) : rechecked(text.replace(/"h":"[^"]*"/, `"h":"${own}"`))
}

function rechecked(text: string): Buffer {
  const body = text.slice(0, text.lastIndexOf(',"c":'))
  let crc = 0xffffffff
  for (const byte of Buffer.from(body)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return Buffer.from(`${body},"c":"${((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, '0')}"}\n`)
}

describe('the chain', () => {
  it('of a whole segment holds', async () => {
    const report = await verifyChain([source('a', Buffer.concat(lines))])
    expect(report).toMatchObject({
      damaged: 0,
      segments: [{ lines: 7, entries: 5, ended: true, writer: '1-1-test' }],
    })
    expect(report.segments[0]?.head).toMatchObject({ writer: '1-1-test', seq: 6 })
  })

  it('shows a line that was edited, with its checksum and hash made right', async () => {
    const edited = forge(lines[3] as Buffer, (text) => text.replace('primary/2', 'primary/X'))
    expect(
      await kinds(source('a', Buffer.concat([...lines.slice(0, 3), edited, ...lines.slice(4)]))),
    ).toEqual(['chain'])
  })

  it('shows a line that was edited under its old hash, with its checksum made right', async () => {
    const edited = forge(lines[3] as Buffer, (text) => text.replace('primary/2', 'primary/X'), 'keep')
    const found = await verifyChain([
      source('a', Buffer.concat([...lines.slice(0, 3), edited, ...lines.slice(4)])),
    ])
    expect(found.damage).toMatchObject([{ kind: 'chain', reason: 'the hash is not the hash of its bytes' }])
  })

  it('shows a line that was taken out, one put in twice, and two that were swapped', async () => {
    const at = (...seqs: readonly number[]): Buffer => Buffer.concat(seqs.map((seq) => lines[seq] as Buffer))
    expect(await kinds(source('a', at(0, 1, 2, 4, 5, 6)))).toEqual(['missing'])
    expect(await kinds(source('a', at(0, 1, 2, 2, 3, 4, 5, 6)))).toEqual(['chain'])
    expect(await kinds(source('a', at(0, 1, 3, 2, 4, 5, 6)))).toEqual(['chain'])
    expect(await kinds(source('a', at(0, 1, 5, 2, 3, 4, 6)))).toEqual(['chain'])
  })

  it('goes from segment to segment', async () => {
    const head = (await verifyChain([source('a', Buffer.concat(lines))])).segments[0]?.head as JournalHead
    const next = (continues: JournalHead, start: string): Buffer => {
      const record: JournalRecord = { t: 'session', ...first, writer: 'b', boot: 'boot', at: '', continues }
      return Buffer.concat(toLines([record], start))
    }
    const a = source('a', Buffer.concat(lines))
    expect(await kinds(a, source('b', next(head, head.h)))).toEqual([])
    expect(await kinds(a, source('b', next(head, NO_HASH)))).toEqual(['chain'])
    expect(await kinds(source('b', next(head, head.h)))).toEqual(['missing'])
    const other = { ...head, h: 'B'.repeat(43) }
    expect(await kinds(a, source('b', next(other, other.h)))).toEqual(['chain'])
    const before = { writer: head.writer, seq: -1, h: NO_HASH }
    expect(await kinds(a, source('b', next(before, NO_HASH)))).toEqual([])
    const beyond = { ...head, seq: 99 }
    expect(await kinds(a, source('b', next(beyond, beyond.h)))).toEqual(['missing'])
  })
})
