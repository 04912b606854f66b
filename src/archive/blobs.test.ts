import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Damage } from '../transcript/damage.ts'
import { openBlobs } from './blob-store.ts'
import { moveToBlobs, resolveBlobs } from './blobs.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-blobs-'))
})

const entry = (blocks: Entry['blocks']): Entry => ({
  id: 'e',
  source: 'primary',
  sequence: 0,
  kind: 'message',
  blocks,
})
const files = (): string[] =>
  fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.length > 2)

describe('blobs', () => {
  it('gives back the same entry, whatever was moved out of it', async () => {
    const blobs = openBlobs(folder)
    await fc.assert(
      fc.asyncProperty(transcript, async ({ entries }) => {
        for (const before of entries) {
          const moved = moveToBlobs(before, blobs, 10)
          expect(await resolveBlobs(moved, blobs)).toEqual(before)
        }
      }),
      { numRuns: 25 },
    )
  })

  it('leaves small payloads in the line and moves what is over 64 KB', () => {
    const blobs = openBlobs(folder)
    const small = entry([{ type: 'text', text: 'é'.repeat(32 * 1024) }])
    expect(moveToBlobs(small, blobs)).toBe(small)
    expect(files()).toEqual([])
    const large = moveToBlobs(entry([{ type: 'text', text: `${'é'.repeat(32 * 1024)}x` }]), blobs)
    expect(large.blocks[0]).toMatchObject({ type: 'text', text: { bytes: 65_537, mediaType: 'text/plain' } })
  })

  it('keeps what is no block as an unknown one, large or small', async () => {
    const blobs = openBlobs(folder)
    const foreign: unknown[] = [null, { type: 'tool_use', input: 'x'.repeat(100) }, { type: 'text' }]
    const moved = moveToBlobs(entry(foreign as Entry['blocks']), blobs, 10)
    expect(moved.blocks.map(({ type }) => type)).toEqual(['unknown', 'unknown', 'unknown'])
    expect((await resolveBlobs(moved, blobs)).blocks).toEqual(
      foreign.map((raw) => ({ type: 'unknown', raw })),
    )
  })

  it('keeps equal content once', () => {
    const blobs = openBlobs(folder)
    const one = blobs.write(Buffer.from('same'), 'text/plain')
    expect(blobs.write(Buffer.from('same'), 'text/plain')).toEqual(one)
    expect(files()).toHaveLength(1)
  })

  it('makes a blob young that is used again, and whole one that is not', () => {
    const blobs = openBlobs(folder)
    blobs.write(Buffer.from('same'), 'text/plain')
    const path = join(folder, files()[0] as string)
    fs.utimesSync(path, 1, 1)
    blobs.write(Buffer.from('same'), 'text/plain')
    expect(Date.now() - fs.statSync(path).mtimeMs).toBeLessThan(10_000)
    fs.writeFileSync(path, '')
    blobs.write(Buffer.from('same'), 'text/plain')
    expect(fs.readFileSync(path, 'utf8')).toBe('same')
  })

  it('leaves the reference when a blob is gone or was changed, and never reads outside its folder', async () => {
    const blobs = openBlobs(folder)
    const moved = moveToBlobs(entry([{ type: 'text', text: 'x'.repeat(100) }]), blobs, 10)
    fs.writeFileSync(join(folder, files()[0] as string), 'changed')
    const damage: Damage[] = []
    expect(await resolveBlobs(moved, blobs, (found) => damage.push(found))).toEqual(moved)
    expect(damage).toEqual([
      {
        kind: 'missing',
        file: `blobs/${files()[0]}`,
        byteOffset: 0,
        byteLength: 100,
        reason: 'content of primary/0 is not there, or not as it was written',
      },
    ])
    expect(await blobs.read('sha256:../../etc/passwd')).toBeUndefined()
    expect(await blobs.read(`sha256:${'0'.repeat(64)}`)).toBeUndefined()
  })
})
