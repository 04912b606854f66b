import { describe, expect, it } from 'vitest'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import { RECORD_LIMIT } from '../transcript/lines.ts'
import { raw } from './raw.ts'

async function read(content: string | Buffer, chunkBytes = 1000) {
  const [only] = await readAll(raw, memoryFileSource('x', content, { chunkBytes }))
  const values = only?.entries.map(({ blocks: [block] }) => (block?.type === 'unknown' ? block.raw : block))
  return { values, damage: only?.damage.map(({ kind }) => kind), entries: only?.entries }
}

describe('raw', () => {
  it.each([
    ['each line of JSON Lines', '{"a":1}\n[2]\n"x"\n', [{ a: 1 }, [2], 'x']],
    ['a document over several lines', '{\n "a": [1]\n}', [{ a: [1] }]],
    ['each element of a list', '[\n {"a":1},\n 2\n]', [{ a: 1 }, 2]],
    ['each line of a text', 'one\n\ntwo', ['one', 'two']],
    ['a text that begins like a document', '[Tool call] x\n{}', ['[Tool call] x', {}]],
    ['nothing of nothing', '', []],
  ])('keeps %s', async (_, content, values) => {
    const read1 = await read(content)
    expect(read1.values).toEqual(values)
    expect(read1.damage).toEqual([])
  })

  it('keeps a line that is no JSON among those that are, and says so', async () => {
    const { values, damage } = await read('{"a":1}\nbroken\n{"b"')
    expect(values).toEqual([{ a: 1 }, 'broken', '{"b"'])
    expect(damage).toEqual(['not-json', 'torn'])
  })

  it('keeps one unknown for a record over the limit', async () => {
    const { values, damage, entries } = await read(Buffer.alloc(RECORD_LIMIT + 1, '['), 1 << 20)
    expect(values).toEqual([null])
    expect(damage).toEqual(['too-large'])
    expect(entries?.[0]?.origin).toMatchObject({ byteOffset: 0, byteLength: RECORD_LIMIT + 1 })
  })

  it('is never taken for the format of anything by itself', async () => {
    expect(await raw.detect(memoryFileSource('x', '{}'))).toBeUndefined()
  })
})
