import fc from 'fast-check'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { memoryFileSource } from '../../test/memory-files.ts'
import type { Json } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { readBareList, readInnerList, readListDocument, type ListDocument } from './list-document.ts'
import type { ListElement } from './list-salvage.ts'

async function fileOf(content: string | Buffer, chunkBytes = 7): Promise<SourceFile> {
  const [file] = await memoryFileSource('chat.json', content, { chunkBytes }).list()
  if (file === undefined) throw new Error('no file')
  return file
}

type Told = Omit<ListDocument, 'elements'> & { readonly elements: readonly ListElement[] }

async function told(document: ListDocument): Promise<Told> {
  const elements: ListElement[] = []
  for await (const some of document.elements()) elements.push(...some)
  const { members, damage, sizeBytes, isLines, count } = document
  return { members: { ...members }, damage, sizeBytes, isLines, count, elements }
}

function flipped(bytes: Buffer, at: number, bits: number): Buffer {
  const changed = Buffer.from(bytes)
  changed[at] = (changed[at] as number) ^ bits
  return changed
}

/** As it comes, and held: the same, whatever the document. */
const STREAMED = { heldBytes: 0 }

describe('a list that is not the only one', () => {
  const text = JSON.stringify({
    a: 1,
    other: [{ x: [1, '"]', {}] }],
    list: [1, { b: 2 }],
    log: { v: 3, list: [4], list2: 'x' },
    z: 'y',
  })

  it('is read without the others, whatever is in them', async () => {
    for (const damaged of [text, text.slice(0, -1)]) {
      const without = new Set(['other', 'log'])
      const found = await told(
        await readListDocument(await fileOf(damaged), 'list', { ...STREAMED, without }),
      )
      expect(found.members).toEqual({ a: 1, z: 'y' })
      expect(found.elements.map(({ value }) => value)).toEqual([1, { b: 2 }])
    }
  })

  it('is read within another object', async () => {
    const found = await readInnerList(await fileOf(text), 'log', 'list')
    const { members, elements } = await told(found as ListDocument)
    expect(elements.map(({ value }) => value)).toEqual([4])
    expect(members).toEqual({
      a: 1,
      other: [{ x: [1, '"]', {}] }],
      list: [1, { b: 2 }],
      v: 3,
      list2: 'x',
      z: 'y',
    })
    for (let end = 0; end < text.length; end += 1)
      expect(
        await readInnerList(await fileOf(text.slice(0, end)), 'log', 'list'),
        String(end),
      ).toBeUndefined()
  })
})

const text = (document: Json, indent: number): string => JSON.stringify(document, undefined, indent)
const anyDocument = fc.record({
  before: fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
  // As JSON has it: -0 is written as 0.
  messages: fc.array(
    fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as Json),
    {
      maxLength: 6,
    },
  ),
  after: fc.jsonValue({ maxDepth: 1 }),
})

describe('A document around a list', () => {
  it('reads the same as it comes as when it is held, wherever its chunks are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyDocument,
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(0, 2),
        async ({ before, messages, after }, chunkBytes, indent) => {
          const content = text({ ...before, messages, after } as Json, indent)
          const file = await fileOf(content, chunkBytes)
          const streamed = await told(await readListDocument(file, 'messages', STREAMED))
          expect(streamed).toEqual(await told(await readListDocument(file, 'messages')))
          expect(streamed).toMatchObject({ damage: [], elements: messages.map((value) => ({ value })) })
          const bare = await fileOf(text(messages, indent), chunkBytes)
          expect(await told(await readBareList(bare, STREAMED))).toEqual(await told(await readBareList(bare)))
        },
      ),
      { numRuns: 200 },
    )
  })

  it.each(['', '\n'])(
    'with another behind it (%j) is lines, and damage for who reads no lines',
    async (between) => {
      const first = '{"a":1,"messages":[{"id":1}]}'
      const file = await fileOf(`${first}${between}{"messages":[{"id":2}]}\n`)
      const streamed = await told(await readListDocument(file, 'messages', STREAMED))
      expect(streamed).toMatchObject({
        isLines: true,
        members: { a: 1 },
        elements: [{ value: { id: 1 } }],
        damage: [{ kind: 'not-json', byteOffset: first.length }],
      })
      expect(streamed).toEqual(await told(await readListDocument(file, 'messages')))
    },
  )

  it('says where each element stands', async () => {
    const content = '\uFEFF{"a":[1,{"b":"]}"}],"messages":[ {"id":"é"} , "x",3,null ],"z":{}}\n'
    const file = await fileOf(content)
    const { elements } = await told(await readListDocument(file, 'messages', STREAMED))
    const bytes = Buffer.from(content)
    expect(
      elements.map(({ byteOffset, byteLength }) =>
        bytes.toString('utf8', byteOffset, byteOffset + byteLength),
      ),
    ).toEqual(['{"id":"é"}', '"x"', '3', 'null'])
  })

  it.each([2, 0])(
    'cut off or changed at any byte, gives what one that is held gives (indent %i)',
    async (indent) => {
      const messages = [{ id: 1 }, { t: 'a"\\{' }, { id: 3, deep: [{ id: 4 }] }, { last: true }]
      const content = Buffer.from(text({ info: { id: 'a' }, messages, after: 1 }, indent))
      for (let at = 0; at < content.length; at += 1) {
        for (const damaged of [
          content.subarray(0, at),
          ...[0x11, 0x01, 0x20].map((bits) => flipped(content, at, bits)),
        ]) {
          const file = await fileOf(damaged, 1 + (at % 60))
          const streamed = await told(await readListDocument(file, 'messages', STREAMED))
          const held = await told(await readListDocument(file, 'messages'))
          expect(streamed.elements).toEqual(expect.arrayContaining([...held.elements]))
          for (const { value, byteOffset, byteLength } of streamed.elements)
            expect(JSON.parse(damaged.toString('utf8', byteOffset, byteOffset + byteLength))).toEqual(value)
          // Where a comma is gone, what stands before and behind it is there all the same.
          const isMore = streamed.elements.length > held.elements.length
          if (held.damage.length > 0 && !isMore) expect(streamed.damage).not.toEqual([])
          if (damaged.length < content.length) expect(streamed.members).toEqual(held.members)
        }
      }
    },
  )

  it('damaged in many places, loses only what is damaged, however large it is', async () => {
    const messages = Array.from({ length: 500 }, (_, n) => ({ n, text: 'x'.repeat(n) }))
    const content = Buffer.from(text({ messages, after: 'there' }, 1))
    for (const n of [3, 77, 78, 400]) content.write('{{{\0', content.indexOf(`"n": ${n},`))
    const { elements, damage, members } = await told(
      await readListDocument(await fileOf(content, 100), 'messages', STREAMED),
    )
    expect(elements.map(({ value }) => (value as { n: number }).n)).toEqual(
      messages.map(({ n }) => n).filter((n) => ![3, 77, 78, 400].includes(n)),
    )
    expect(damage.map(({ kind }) => kind)).toEqual(['nul', 'not-json', 'not-json', 'not-json'])
    expect(members).toEqual({ after: 'there' })
  })

  it('of the same name twice gives the last, as JSON does', async () => {
    const file = await fileOf('{"messages":[1],"messages":[2]}')
    expect(await told(await readListDocument(file, 'messages', STREAMED))).toMatchObject({
      elements: [{ value: 2 }],
    })
  })

  it('that is no list keeps what stands there', async () => {
    for (const stands of ['"none"', '{"a":1}', '7'])
      for (const options of [{}, STREAMED]) {
        const file = await fileOf(`{"id":1,"messages":${stands}}`)
        const document = await told(await readListDocument(file, 'messages', options))
        expect(document).toMatchObject({ members: { messages: JSON.parse(stands) }, elements: [] })
      }
  })

  it('small on disk and large when uncompressed is read as it comes', async () => {
    const messages = Array.from({ length: 200 }, (_, n) => ({ n }))
    const file = await fileOf(gzipSync(text({ messages }, 0)))
    expect(await told(await readListDocument(file, 'messages', { heldBytes: 1000 }))).toMatchObject({
      damage: [],
      elements: messages.map((value) => ({ value })),
    })
  })
})

describe('A long element', () => {
  it.each([
    ['whole', ']}'],
    ['of a document that is cut off', ''],
  ])('%s says what it says, whatever its strings are spelled with', async (_, end) => {
    const long = `${'all that was said "before"\n'.repeat(60_000)}😀`
    const messages = Array.from({ length: 3 }, (_, n) => ({
      n,
      text: long,
      more: [long.slice(0, n), '\u0000'],
    }))
    const content = `{"messages":[${messages.map((one) => JSON.stringify(one)).join(',\n')}${end}`
    const given: Json[] = []
    const document = await readListDocument(await fileOf(content, 100_000), 'messages')
    // Taken as they come: those before are let go of.
    const batches: (readonly unknown[])[] = []
    for await (const some of document.elements()) {
      for (const { value } of some) given.push(value ?? null)
      batches.push(some)
    }
    expect(given).toEqual(messages)
    expect(batches.map(({ length }) => length)).toEqual([0, 0, 0])
  })
})

it('of lines is told to be that, for whoever reads lines, by no more than the first of them', async () => {
  const lines = [{ a: 1, list: [1, { b: 2 }] }, { list: [3] }, { list: [4] }]
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const file = await fileOf(text)
  let bytes = 0
  const counted: SourceFile = {
    ...file,
    async *chunks(options) {
      for await (const chunk of file.chunks(options)) {
        bytes += chunk.length
        yield chunk
      }
    },
  }
  expect((await readListDocument(counted, 'list', { ...STREAMED, isForLines: true })).isLines).toBe(true)
  expect(bytes).toBeLessThan(text.indexOf('\n') + 14)
  const whole = await fileOf(text.slice(0, text.indexOf('\n')))
  expect(await told(await readListDocument(whole, 'list', { ...STREAMED, isForLines: true }))).toEqual(
    await told(await readListDocument(whole, 'list', STREAMED)),
  )
})

it('of objects with a comma between them is no lines, however large: the first of them is read, and the rest is damage', async () => {
  const text = '{"list":[1,2]},\n{"list":[3]}\n'
  for (const heldBytes of [1000, 0]) {
    const { isLines, damage, elements } = await readListDocument(await fileOf(text), 'list', {
      heldBytes,
      isForLines: true,
    })
    const found: unknown[] = []
    for await (const some of elements()) found.push(...some.map(({ value }) => value))
    expect([isLines, found, damage.map(({ kind }) => kind)]).toEqual([false, [1, 2], ['not-json']])
  }
})
