import { describe, expect, it } from 'vitest'
import { stopwatch } from '../../test/stopwatch.ts'
import { memorySource } from '../../test/memory-files.ts'
import { readRecords } from './records.ts'

async function read(content: string | Buffer): Promise<{ values: unknown[]; damage: string[] }> {
  const [file] = await memorySource(new Map([['log.jsonl', Buffer.from(content)]])).list()
  const values: unknown[] = []
  const damage: string[] = []
  for await (const batch of readRecords(file as NonNullable<typeof file>)) {
    values.push(...batch.records.map((record) => record.value))
    damage.push(...batch.damage.map((d) => `${d.kind}@${d.line}:${d.byteOffset}+${d.byteLength}`))
  }
  return { values, damage }
}

describe('records', () => {
  it('loses nothing but the record it died in, wherever that was', async () => {
    const whole = Buffer.from('{"n":1}\n{"n":"wide é漢"}\n{"n":3}\n')
    for (let size = 0; size <= whole.length; size += 1) {
      const cut = whole.subarray(0, size)
      const complete = cut.filter((byte) => byte === 0x0a).length
      const { values, damage } = await read(cut)
      const whole3 = [{ n: 1 }, { n: 'wide é漢' }, { n: 3 }]
      // A last line that lacks only its newline is whole.
      const unended = cut.length > 0 && cut.at(-1) === '}'.charCodeAt(0) ? 1 : 0
      expect(values).toEqual(whole3.slice(0, complete + unended))
      expect(damage.length).toBeLessThanOrEqual(1)
    }
  })

  it('finds the record that was fused to a stub', async () => {
    const { values, damage } = await read(
      '{"type":"a"}\n{"type":"b","text":"cut {"type":"c"}\n{"type":"d"}\n',
    )
    expect(values).toEqual([{ type: 'a' }, { type: 'c' }, { type: 'd' }])
    expect(damage).toEqual(['fused@2:13+24'])
  })

  it('reads every whole record of a line, and reports what stands between them', async () => {
    expect(await read('{"type":"a"}\n{"type":"b","é":1}{"type":"c"} {"type":"d"}\n')).toEqual({
      values: [{ type: 'a' }, { type: 'b', é: 1 }, { type: 'c' }, { type: 'd' }],
      damage: [],
    })
    expect(
      await read('{"type":"a"}{"type":"b","é":"cut {"type":"c"}{"type":"d","list":[{"type":"e"}'),
    ).toEqual({
      values: [{ type: 'a' }, { type: 'c' }],
      damage: ['fused@1:12+22', 'torn@1:46+32'],
    })
    expect(await read('{"type":"a"} done\n{"type":"b"}\n')).toEqual({
      values: [{ type: 'a' }, { type: 'b' }],
      damage: ['not-json@1:12+5'],
    })
  })

  it('gives each record of a line its own place and text', async () => {
    const [file] = await memorySource(new Map([['log.jsonl', Buffer.from('{"é":1}{"n":"}{"}\n')]])).list()
    for await (const { records } of readRecords(file as NonNullable<typeof file>))
      expect(records).toEqual([
        { number: 1, byteOffset: 0, byteLength: 8, value: { é: 1 }, text: '{"é":1}' },
        { number: 1, byteOffset: 8, byteLength: 10, value: { n: '}{' }, text: '{"n":"}{"}' },
      ])
  })

  it('takes no part of a torn record for the next one', async () => {
    const { values, damage } = await read('{"type":"a"}\n{"type":"b","content":[{"type":"text"},{"type":"x"}')
    expect(values).toEqual([{ type: 'a' }])
    expect(damage).toEqual(['torn@2:13+51'])
  })

  it('reads around runs of NUL', async () => {
    const { values, damage } = await read(`{"n":1}\n\0\0\0\0\n\0\0{"n":2}\n{"n":3}\n`)
    expect(values).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
    expect(damage).toEqual(['nul@2:8+4', 'nul@3:13+9'])
  })

  it('goes on after a line that is no JSON at all', async () => {
    const { values, damage } = await read('{"n":1}\nPlease wait…\n"text"\n[1]\n')
    expect(values).toEqual([{ n: 1 }, 'text', [1]])
    expect(damage).toEqual(['not-json@2:8+14'])
  })

  it('keeps a record with bytes that are no UTF-8, and says so', async () => {
    const { values, damage } = await read(Buffer.from([0x22, 0xff, 0x22, 0x0a]))
    expect(values).toEqual(['\uFFFD'])
    expect(damage).toEqual(['not-utf8@1:0+3'])
  })

  it('spends no more than a few tries on a hostile line', async () => {
    const hostile = '{"type":'.repeat(200_000)
    const spent = stopwatch()
    await read(`{"type":1}\n${hostile}\n`)
    const pairs = '{"type":{}'.repeat(20_000) + '{"type":1}{"type'.repeat(20_000)
    await read(`{"type":1}\n${pairs}\n${'{}'.repeat(2_000_000)}\n`)
    expect(spent()).toBeLessThan(2000)
  })
})
