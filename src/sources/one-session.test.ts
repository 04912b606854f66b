import { describe, expect, it } from 'vitest'
import { HansardError } from '../errors.ts'
import type { ReadItem } from '../formats/format.ts'
import { textOf } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { oneSession, type Stream } from './one-session.ts'

const session: Session = { id: 'a', status: 'completed' }

/** `id:text`, the id left out for what has only its place; each follows the one before. */
function recording(...said: readonly string[]): Stream {
  const entries: Entry[] = []
  for (const [sequence, one] of said.entries()) {
    const [id, text] = one.includes(':') ? (one.split(':') as [string, string]) : [`primary/${sequence}`, one]
    const parent = entries.at(-1)?.id
    entries.push({
      id,
      source: 'primary',
      sequence,
      kind: 'message',
      role: 'user',
      blocks: [{ type: 'text', text }],
      ...(parent !== undefined && { parent }),
    })
  }
  return stream([
    { type: 'session', session },
    ...entries.map((entry): ReadItem => ({ type: 'entry', entry })),
  ])
}

function stream(items: readonly ReadItem[]): Stream {
  async function* read() {
    yield items
  }
  return { items: read(), unit: undefined }
}

function gone(): Stream {
  async function* read(): AsyncGenerator<readonly ReadItem[]> {
    yield []
    throw new HansardError('not-found', 'it is gone')
  }
  return { items: read(), unit: undefined }
}

async function join(...streams: readonly Stream[]): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const items of oneSession(streams, { key: 'a', id: 'a' }, session)) {
    for (const item of items) {
      if (item.type !== 'entry') continue
      const { id, parent, sequence, blocks } = item.entry
      lines.push(`${sequence} ${id} ${textOf(blocks)} after ${parent ?? '-'}`)
    }
  }
  return lines
}

describe('recordings of one session', () => {
  it('give each entry once, by its own id', async () => {
    expect(await join(recording('x:one', 'y:two'), recording('y:two', 'z:three'))).toEqual([
      '0 x one after -',
      '1 y two after x',
      '2 z three after y',
    ])
  })

  it('lose no entry whose id is only its place, and give the same one once', async () => {
    expect(await join(recording('one', 'two', 'two'), recording('two', 'three', 'two', 'two'))).toEqual([
      '0 primary/0 one after -',
      '1 primary/1 two after primary/0',
      '2 primary/2 two after primary/1',
      '3 primary/3 three after primary/1',
      '4 primary/4 two after primary/2',
    ])
  })

  it('are read as far as they are there, and say so when none is', async () => {
    expect(await join(gone(), recording('one'))).toEqual(['0 primary/0 one after -'])
    await expect(join(gone(), gone())).rejects.toMatchObject({ code: 'not-found' })
  })
})
