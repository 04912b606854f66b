import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ReadItem } from '../formats/format.ts'
import { openJournal } from '../journal/writer.ts'
import type { Entry } from '../transcript/entry.ts'
import { createSessionId } from '../transcript/ids.ts'
import { openArchive, type Archive } from './archive.ts'
import { moveToBlobs } from './blobs.ts'
import { readSession } from './read-session.ts'

const entry = (sequence: number, text: string): Entry => ({
  id: `primary/${sequence}`,
  source: 'primary',
  sequence,
  kind: 'message',
  blocks: [{ type: 'text', text }],
})

async function put(archive: Archive, entries: readonly Entry[]): Promise<string> {
  const id = createSessionId()
  const first = { session: { id, status: 'running' as const }, by: 'test' }
  const journal = openJournal({ folder: archive.sessionFolder(id), first })
  for (const one of entries) journal.append({ t: 'entry', entry: moveToBlobs(one, archive.blobs) })
  await journal.close()
  return id
}

async function readAll(archive: Archive, id: string): Promise<ReadItem[]> {
  const all: ReadItem[] = []
  for await (const items of readSession(archive, id)) all.push(...items)
  return all
}

describe('a session of the archive', () => {
  it('says beside an entry that its content is missing, and goes on', async () => {
    const home = fs.mkdtempSync(join(os.tmpdir(), 'hansard-read-'))
    const archive = openArchive(home, { write: true })
    const given = [entry(0, 'a'), entry(1, 'x'.repeat(100_000)), entry(2, 'y'.repeat(100_000)), entry(3, 'b')]
    const id = await put(archive, given)
    const texts = async (): Promise<unknown[]> =>
      (await readAll(archive, id)).flatMap((item) =>
        item.type === 'entry' ? item.entry.blocks.map((block) => 'text' in block && block.text) : [],
      )
    expect(await texts()).toEqual(
      given.flatMap(({ blocks }) => blocks.map((block) => 'text' in block && block.text)),
    )

    const stored = moveToBlobs(given[1] as Entry, archive.blobs).blocks[0]
    const ref = stored?.type === 'text' ? stored.text : ''
    const hash = typeof ref === 'string' ? '' : ref.blob.slice('sha256:'.length)
    const file = `blobs/${hash.slice(0, 2)}/${hash}`
    fs.unlinkSync(join(home, file))
    const items = await readAll(archive, id)
    expect((await texts()).slice(1)).toEqual([ref, 'y'.repeat(100_000), 'b'])
    const at = items.findIndex((item) => item.type === 'damage')
    expect(items[at]).toMatchObject({ damage: { kind: 'missing', file, byteLength: 100_000 } })
    expect(items[at - 1]).toMatchObject({ type: 'entry', entry: { sequence: 1 } })
  })
})
