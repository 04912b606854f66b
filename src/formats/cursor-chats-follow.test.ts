import { describe, expect, it } from 'vitest'
import type { Row, SourceDatabase } from '../transcript/source.ts'
import { followChats } from './cursor-chats-follow.ts'

const MOST = 100_000

/** How many rows were asked for, of a table that has any number of them. */
function databaseOf(rows: () => Iterable<Row>): { readonly database: SourceDatabase; asked: number } {
  const made = {
    asked: 0,
    database: {
      tables: () => ['cursorDiskKV'],
      columns: () => ['key', 'value'],
      key: () => ['key'],
      async *rows(_table, { where } = {}) {
        for (const row of rows()) {
          const key = String(row['key'])
          if (where !== undefined && 'prefix' in where && !key.startsWith(where.prefix)) continue
          if (where !== undefined && 'equals' in where && key !== where.equals) continue
          made.asked += 1
          yield [row]
        }
      },
      close: async () => {},
    } satisfies SourceDatabase,
  }
  return made
}

function* many(count: number, toRow: (at: number) => Row): Generator<Row> {
  for (let at = 0; at < count; at += 1) yield toRow(at)
}

const begun = (): never => {
  throw new Error('a chat is read')
}

describe('of a database with very many chats', () => {
  it.each([
    ['of their own', (at: number): Row => ({ key: `composerData:${at}`, value: '{}' })],
    ['that only messages name', (at: number): Row => ({ key: `bubbleId:${at}:b`, value: '{}' })],
  ])('the whole is read, and no more is held than a part, of chats %s', async (_, toRow) => {
    const made = databaseOf(() => many(3 * MOST, toRow))
    expect(await followChats({ path: 'state.vscdb' }).read(made.database, begun)).toBeUndefined()
    expect(made.asked).toBeLessThan(MOST + 10)
  })

  it('chats that others name count with them, each once', async () => {
    const list = (names: readonly string[]): string => JSON.stringify({ subComposerIds: names })
    const names = Array.from({ length: MOST / 2 }, (_, at) => `n${at}`)
    const others = databaseOf(() => many(3, (at) => ({ key: `composerData:${at}`, value: list(names) })))
    expect(await followChats({ path: 'state.vscdb' }).read(others.database, begun)).toBeUndefined()
    const again = names.map(() => 'one')
    const one = databaseOf(() => many(3, (at) => ({ key: `composerData:${at}`, value: list(again) })))
    await expect(followChats({ path: 'state.vscdb' }).read(one.database, begun)).rejects.toThrow('is read')
  })
})
