import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openArchive } from '../archive/archive.ts'
import { openKept, type KeptPlace } from '../archive/kept.ts'
import type { Format, ReadItem } from '../formats/format.ts'
import { pi } from '../formats/pi.ts'
import { textOf as blocksText } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { asString, isObject, parseJson } from '../transcript/json.ts'
import { readLines } from '../transcript/lines.ts'
import type { SourceDatabase } from '../transcript/source.ts'
import { createFileLists } from './file-lists.ts'
import { coveredVersions } from './versions-merged.ts'
import { keptSource, readOrigin, readVersions, versionsOf, type UnitVersion } from './versions.ts'

/** `{"id":"a","text":"…"}` a line, the id left out at will; what is no object is damage. One session for each file. */
const simple: Format = {
  id: 'simple',
  title: 'for this test',
  detect: async () => undefined,
  async *read(source) {
    for (const file of await source.list()) {
      const session = { id: `session-${file.path.split('/').at(-1)}`, status: 'completed' as const }
      yield [{ type: 'session', session }]
      let sequence = 0
      for await (const lines of readLines(file.chunks())) {
        yield lines.map(({ text = '', byteOffset, byteLength, number }): ReadItem => {
          const value = parseJson(text)
          if (!isObject(value)) {
            const damage = {
              kind: 'not-json',
              file: file.path,
              byteOffset,
              byteLength,
              reason: 'no JSON',
            } as const
            return { type: 'damage', damage }
          }
          const entry = {
            id: asString(value['id']) ?? `primary/${sequence}`,
            source: 'primary',
            sequence: sequence++,
            kind: 'message' as const,
            role: 'user' as const,
            blocks: [{ type: 'text' as const, text: asString(value['text']) ?? '' }],
            origin: { format: 'simple', file: file.path, record: number, byteOffset, byteLength },
          }
          return { type: 'entry', entry }
        })
      }
    }
  },
}

const isSimple = async (): Promise<Format> => simple

function setup(): { readonly root: string; readonly place: KeptPlace } {
  const folder = fs.mkdtempSync(join(os.tmpdir(), 'versions-'))
  const root = join(folder, 'source')
  return { root, place: openKept(openArchive(join(folder, 'home'), { write: true })).place('simple', root) }
}

const lines = (...texts: readonly string[]): string =>
  texts
    .map((text) => {
      const [id, said] = text.split(':')
      return `${JSON.stringify(said === undefined ? { text } : { id, text: said })}\n`
    })
    .join('')

function keep(place: KeptPlace, path: string, content: string | Buffer): Promise<unknown> {
  return place.keep(path, {
    async *chunks() {
      yield Buffer.from(content)
    },
  })
}

async function read(place: KeptPlace, paths: readonly string[], format: Format = simple) {
  const sessions = new Map<string, Entry[]>()
  const damage: string[] = []
  let current: Entry[] = []
  for await (const items of readVersions(versionsOf(place, paths), paths, format)) {
    for (const item of items) {
      if (item.type === 'session') {
        current = sessions.get(item.session.id) ?? []
        sessions.set(item.session.id, current)
      } else if (item.type === 'entry') current.push(item.entry)
      else damage.push(item.damage.reason)
    }
  }
  return { sessions, damage, texts: [...sessions.values()].map((entries) => entries.map(textOf)) }
}

const textOf = ({ blocks }: Entry): string => blocksText(blocks)

it('of very many files are listed once each, however often they are read', async () => {
  const { place } = setup()
  const paths = ['a', 'b', 'c']
  for (const path of paths) await keep(place, path, lines(`${path}:as it was`))
  for (const said of ['one', 'two', 'three']) await keep(place, 'a', lines(`a:${said}`, 'z:last'))
  const lists = createFileLists(3)
  let begun = 0
  const begin: typeof lists.begin = () => ((begun += 1), lists.begin())
  const textsOf = async (all: readonly UnitVersion[]): Promise<readonly string[]> => {
    const texts: string[] = []
    for await (const items of readVersions(all, paths, simple))
      for (const item of items) if (item.type === 'entry') texts.push(textOf(item.entry))
    return texts
  }
  try {
    const long = versionsOf(place, paths, { lists: { ...lists, begin } })
    const texts = await textsOf(long)
    expect(texts).toEqual(await textsOf(versionsOf(place, paths)))
    expect(texts).toEqual(expect.arrayContaining(['as it was', 'one', 'two', 'three', 'last']))
    expect([long.length, begun]).toEqual([4, 4])
  } finally {
    lists.close()
  }
})

describe('a unit over its versions', () => {
  it('shows what was there before the source was made shorter, where it was', async () => {
    const { place } = setup()
    await keep(place, 'a/x', lines('1:one', '2:two', '3:three', '4:four'))
    await keep(place, 'a/x', lines('1:one', '2:two', '5:five'))
    const { texts, sessions } = await read(place, ['a/x'])
    expect(texts).toEqual([['one', 'two', 'three', 'four', 'five']])
    const [entries = []] = sessions.values()
    expect(entries.map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3, 4])
    expect(entries.map(({ origin }) => [origin?.file, origin?.version])).toEqual([
      ['a/x', undefined],
      ['a/x', undefined],
      ['a/x', 1],
      ['a/x', 1],
      ['a/x', undefined],
    ])
    for (const entry of entries) {
      const raw = await readOrigin(place, entry.origin as NonNullable<Entry['origin']>)
      expect(parseJson(raw?.toString() ?? '')).toMatchObject({ text: textOf(entry) })
    }
  })

  it.each([
    [['a', 'b'], ['a'], ['c'], ['b']],
    [['a', 'b'], ['c'], ['a']],
    [
      ['a', 'b'],
      ['b', 'c'],
      ['a', 'c'],
    ],
  ])(
    'shows what is new behind what was there, of whichever version that is shown: %j',
    async (...versions) => {
      const { place } = setup()
      for (const names of versions) await keep(place, 'x', lines(...names.map((name) => `${name}:${name}`)))
      const { texts } = await read(place, ['x'])
      expect(texts).toEqual([['a', 'b', 'c']])
    },
  )

  it('shows an entry as it is now when it only got longer', async () => {
    const { place } = setup()
    await keep(place, 'x', lines('1:one', '2:tw', '3:three'))
    await keep(place, 'x', lines('1:one', '2:two', '3:three'))
    expect((await read(place, ['x'])).texts).toEqual([['one', 'two', 'three']])
    expect(await coveredVersions(place, ['x'], isSimple)).toEqual([{ path: 'x', version: 1 }])
  })

  it('shows both when an entry was changed, under ids that differ', async () => {
    const { place } = setup()
    await keep(place, 'x', lines('1:one', '2:two'))
    await keep(place, 'x', lines('1:one', '2:zwei'))
    const { texts, sessions } = await read(place, ['x'])
    expect(texts).toEqual([['one', 'two', 'zwei']])
    expect([...sessions.values()][0]?.map(({ id }) => id)).toEqual(['1', '2', '2~'])
    expect(await coveredVersions(place, ['x'], isSimple)).toEqual([])
  })

  it('counts what has no id and is said several times', async () => {
    const { place } = setup()
    await keep(place, 'x', lines('ok', 'ok', 'no', 'ok'))
    await keep(place, 'x', lines('ok', 'no'))
    const { texts, sessions } = await read(place, ['x'])
    expect(texts[0]?.toSorted()).toEqual(['no', 'ok', 'ok', 'ok'])
    expect([...sessions.values()][0]?.map(({ id }) => id)).toEqual([0, 1, 2, 3].map((n) => `primary/${n}`))
  })

  it('reads many versions of many files, and lets go of those that say nothing more', async () => {
    const { place } = setup()
    await keep(place, 'a', lines('1:one', '2:two'))
    await keep(place, 'a', lines('3:three'))
    await keep(place, 'a', lines('1:one', '3:three!'))
    await keep(place, 'b', lines('4:four', '5:five'))
    await keep(place, 'b', lines('4:four'))
    const { texts } = await read(place, ['a', 'b'])
    expect(texts.map((entries) => entries.toSorted())).toEqual([
      ['one', 'three!', 'two'],
      ['five', 'four'],
    ])
    expect(await coveredVersions(place, ['a', 'b'], isSimple)).toEqual([{ path: 'a', version: 2 }])
    for (const { path, version } of await coveredVersions(place, ['a', 'b'], isSimple))
      place.drop(path, version)
    expect((await read(place, ['a', 'b'])).texts.map((entries) => entries.toSorted())).toEqual([
      ['one', 'three!', 'two'],
      ['five', 'four'],
    ])
  })

  it('looks at the older versions of many files together, and apart only where they hold something', async () => {
    const { place } = setup()
    const paths = Array.from({ length: 120 }, (_, n) => `f${n}`)
    const covered = async (): Promise<{ readonly count: number; readonly looks: number }> => {
      let looks = 0
      const formatOf: typeof isSimple = async () => {
        looks += 1
        return isSimple()
      }
      const found = await coveredVersions(place, paths, formatOf)
      return { count: found.length, looks }
    }
    for (const [n, path] of paths.entries()) await keep(place, path, lines(`${n}:one`))
    for (const [n, path] of paths.entries()) await keep(place, path, lines(`${n}:one and more`))
    expect(await covered()).toEqual({ count: 120, looks: 2 })

    await keep(place, 'f7', lines('7:something else'))
    const { count, looks } = await covered()
    expect(count).toBe(120)
    expect(looks).toBeLessThan(25)
    expect(place.versions('f7')).toEqual([1, 2])
    expect(await coveredVersions(place, paths, isSimple)).not.toContainEqual({ path: 'f7', version: 2 })

    for (const [n, path] of paths.entries()) await keep(place, path, lines(`${n}:all is other`))
    const among = await covered()
    expect(among.looks).toBeLessThan(180)
    const dropped = await coveredVersions(place, paths, isSimple)
    for (const { path, version } of dropped) place.drop(path, version)
    const { texts } = await read(place, paths)
    expect(texts[7]?.toSorted()).toEqual(['all is other', 'one and more', 'something else'])
    expect(texts[8]?.toSorted()).toEqual(['all is other', 'one and more'])
  })

  it('looks no oftener at versions of many files that are in no format', async () => {
    const { place } = setup()
    const paths = Array.from({ length: 150 }, (_, n) => `f${n}`)
    for (const path of paths) await keep(place, path, 'one')
    for (const path of paths) await keep(place, path, 'two')
    let looks = 0
    const formatOf = async (): Promise<Format | undefined> => {
      looks += 1
      return looks === 1 ? simple : undefined
    }
    expect(await coveredVersions(place, paths, formatOf)).toEqual([])
    expect(looks).toBeLessThan(140)
  })

  it('lets go of more empty versions than a function takes arguments', async () => {
    const { place } = setup()
    await keep(place, 'x', '')
    const empty = place.file('x')
    const many: KeptPlace = {
      ...place,
      versions: () => [1],
      file: (_, version) => (version === undefined ? undefined : empty),
    }
    const paths = Array.from({ length: 200_000 }, (_, n) => `f${n}`)
    expect(await coveredVersions(many, paths, async () => undefined)).toHaveLength(paths.length)
  })

  it('keeps damage that is nowhere else', async () => {
    const { place } = setup()
    await keep(place, 'x', `${lines('1:one')}nonsense\n`)
    await keep(place, 'x', lines('1:one', '2:two'))
    expect((await read(place, ['x'])).damage).toEqual(['no JSON'])
    expect(await coveredVersions(place, ['x'], isSimple)).toEqual([])
  })

  it('finds siblings among what is kept, and nothing above the place', async () => {
    const { place } = setup()
    await keep(place, 'a/b/x', lines('1:one'))
    await keep(place, 'a/y', lines('2:two'))
    const source = keptSource(place, ['a/b/x'])
    expect([source.kind, (await source.list()).map(({ path }) => path)]).toEqual(['file', ['x']])
    expect((await source.find('../y'))?.path).toBe('../y')
    for (const path of ['../../../y', '/a/y', '..', '.', 'x\0', '../', '\ud800']) {
      expect(await source.find(path)).toBeUndefined()
    }
  })

  it('lets go of entries of many MB when more are asked for', async () => {
    const { place } = setup()
    await keep(place, 'a/x', lines(`1:${'x'.repeat(2 * 1024 * 1024)}`) + lines('2:two').repeat(20_000))
    const lists: (readonly ReadItem[])[] = []
    const ended: string[] = []
    for await (const items of readVersions(versionsOf(place, ['a/x']), ['a/x'], simple)) {
      lists.push(items)
      const last = items.at(-1)
      ended.push(last?.type === 'entry' ? last.entry.id : (last?.type ?? 'nothing'))
    }
    expect(ended.slice(0, 2)).toEqual(['session', '2'])
    expect(lists.map(({ length }) => length > 0)).toEqual(lists.map((_, nth) => nth !== 1))
  })

  it('reads what an agent compressed itself', async () => {
    const { place } = setup()
    await keep(place, 'x.gz', gzipSync(lines('1:one', '2:two')))
    const { texts, sessions } = await read(place, ['x.gz'])
    expect(texts).toEqual([['one', 'two']])
    const last = [...sessions.values()][0]?.[1]
    const raw = await readOrigin(place, last?.origin as NonNullable<Entry['origin']>)
    expect(parseJson(raw?.toString() ?? '')).toMatchObject({ id: '2' })
    const [file] = await keptSource(place, ['x.gz']).list()
    const parts: Buffer[] = []
    for await (const chunk of file?.chunks({ isPassing: true }) ?? []) parts.push(Buffer.from(chunk))
    expect(Buffer.concat(parts).equals(Buffer.from(lines('1:one', '2:two')))).toBe(true)
  })

  it('tells covered from not in a real format', async () => {
    const header = {
      type: 'session',
      version: 3,
      id: 'a',
      timestamp: '2025-01-01T00:00:00.000Z',
      cwd: '/tmp',
    }
    const message = (id: string, text: string) => ({
      type: 'message',
      id,
      parentId: null,
      timestamp: '2025-01-01T00:00:01.000Z',
      message: { role: 'user', content: [{ type: 'text', text }], timestamp: 1735689601000 },
    })
    const text = (...records: readonly object[]) =>
      records.map((record) => `${JSON.stringify(record)}\n`).join('')
    const heldAfter = async (now: string) => {
      const { place } = setup()
      await keep(place, 'x.jsonl', text(header, message('1', 'one'), message('2', 'tw')))
      await keep(place, 'x.jsonl', now)
      return (
        place.versions('x.jsonl').length - (await coveredVersions(place, ['x.jsonl'], async () => pi)).length
      )
    }
    expect(await heldAfter(text(header, message('1', 'one'), message('2', 'two')))).toBe(0)
    expect(await heldAfter(text(header, message('2', 'two')))).toBe(1)
    expect(await heldAfter(text(header, message('1', 'one'), message('2', 'zwei')))).toBe(1)
  })

  it('loses no entry that was ever kept, whatever is done to the source', async () => {
    const entry = fc.tuple(
      fc.constantFrom('1:', '2:', '3:', '4:', ''),
      fc.constantFrom('a', 'b', 'ab', 'abc'),
    )
    const content = fc.array(
      entry.map((parts) => parts.join('')),
      { maxLength: 6 },
    )
    const step = fc.record({ content, isAppended: fc.boolean(), isSettled: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
        const { place } = setup()
        let now = ''
        const seen: string[] = []
        for (const { content, isAppended, isSettled } of steps) {
          // Ids are unique within a file.
          const added = content.filter(
            (text, at) =>
              !text.includes(':') ||
              content.findIndex((other) => other[0] === text[0] && other.includes(':')) === at,
          )
          const fresh = isAppended
            ? added.filter((text) => !text.includes(':') || !now.includes(`"id":"${text[0]}"`))
            : added
          now = isAppended ? now + lines(...fresh) : lines(...fresh)
          await keep(place, 'x', now)
          if (isSettled) {
            for (const { path, version } of await coveredVersions(place, ['x'], isSimple))
              place.drop(path, version)
          }
          seen.push(...now.split('\n').filter((line) => line !== ''))
          const { sessions } = await read(place, ['x'])
          const shown = [...sessions.values()].flat()
          for (const line of seen) {
            const { id, text } = JSON.parse(line) as { id?: string; text: string }
            expect(
              shown.some(
                (one) =>
                  textOf(one).startsWith(text) && (id === undefined || one.id.replace(/~+$/, '') === id),
              ),
            ).toBe(true)
          }
          expect(shown.map(({ sequence }) => sequence)).toEqual(shown.map((_, at) => at))
          expect(new Set(shown.map((one) => one.id)).size).toBe(shown.length)
        }
        fs.rmSync(join(place.folder, '../../../..'), { recursive: true, force: true })
      }),
      { numRuns: 100 },
    )
  })
})

it('rows of a database that were kept and cannot be read are told of as damage, each once', async () => {
  const folder = fs.mkdtempSync(join(os.tmpdir(), 'versions-'))
  const place = openKept(openArchive(join(folder, 'archive'), { write: true })).place('simple', folder)
  const database: SourceDatabase = {
    tables: () => ['t'],
    columns: () => ['id'],
    key: () => ['id'],
    async *rows() {
      yield ['a', 'broken', 'c', 'wrong'].map((id) => ({ id }))
    },
    close: async () => {},
  }
  await place.keepRows('state.db', database, [{ table: 't' }])
  const [name] = fs
    .readdirSync(place.folder, { recursive: true })
    .filter((path) => /state\.db./.test(String(path)))
  const at = join(place.folder, String(name))
  fs.writeFileSync(at, fs.readFileSync(at, 'utf8').replaceAll(/^.*(?:broken|wrong).*$/gm, '{"no":"row"}'))
  const asked: Format = {
    ...simple,
    async *read(source) {
      for (const file of await source.list()) {
        for (let times = 0; times < 2; times += 1) {
          const opened = await file.database?.()
          for await (const rows of opened?.rows('t') ?? [])
            expect(rows.map(({ id }) => id)).toEqual(['a', 'c'])
          await opened?.close()
        }
      }
      yield []
    },
  }
  const items: ReadItem[] = []
  for await (const some of readVersions(versionsOf(place, ['state.db']), ['state.db'], asked))
    items.push(...some)
  expect(items.map((item) => item.type === 'damage' && [item.damage.file, item.damage.line])).toEqual([
    ['state.db', 3],
    ['state.db', 5],
  ])
  fs.rmSync(folder, { recursive: true })
})
