import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Damage } from '../transcript/damage.ts'
import { openBlobs } from './blob-store.ts'
import { moveToBlobs, resolveBlobs, resolveSession, sessionToBlobs } from './blobs.ts'

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
      { numRuns: 15 },
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

  const half = `${'x'.repeat(100_000)}\ud800y`
  const long = 'x'.repeat(100_000)

  it.each<[string, Partial<Entry>]>([
    ['half a surrogate pair in a text', { blocks: [{ type: 'text', text: half }] }],
    ['half a surrogate pair in a result', { blocks: [{ type: 'tool-result', output: half }] }],
    ['half a surrogate pair in an input', { blocks: [{ type: 'tool-call', name: 'x', input: { half } }] }],
    ['an error', { blocks: [{ type: 'error', message: half, code: 'E1' }] }],
    ['the error of a tool', { blocks: [{ type: 'tool-result', callId: 'c', error: long, isError: true }] }],
    ['a signature', { blocks: [{ type: 'thinking', text: long, signature: long }] }],
    ['hidden thinking', { blocks: [{ type: 'thinking', text: '', redacted: long }] }],
    ['names', { blocks: [{ type: 'tool-call', callId: long, name: long, input: { long } }] }],
    ['a link', { blocks: [{ type: 'image', url: `data:,${long}` }] }],
    [
      'what was not understood, and why',
      { blocks: [{ type: 'unknown', raw: { long }, reason: 'withheld' }] },
    ],
    ['a long why', { blocks: [{ type: 'unknown', raw: 1, reason: long }] }],
    ['a part of a result', { blocks: [{ type: 'tool-result', output: [{ type: 'error', message: long }] }] }],
    ['metadata', { metadata: { long, short: 1 }, blocks: [{ type: 'text', text: 'hi' }] }],
    ["a provider's usage", { usage: { input: 1, quality: 'reported', raw: { long } } }],
    ['an id, a model, a reason to stop', { id: long, model: long, stopReason: long, parent: long }],
    ['a call', { call: { requestId: long } }],
  ])('gives back %s exactly, and leaves a short line', async (_, given) => {
    const blobs = openBlobs(folder)
    const before = { ...entry([]), ...given }
    const moved = moveToBlobs(before, blobs)
    expect(JSON.stringify(moved).length).toBeLessThan(6000)
    expect(await resolveBlobs(JSON.parse(JSON.stringify(moved)) as Entry, blobs)).toEqual(before)
  })

  it('leaves in place what a list or a total needs', () => {
    const blobs = openBlobs(folder)
    const usage = { input: 1, quality: 'reported' as const, raw: { long } }
    const blocks: Entry['blocks'] = [
      { type: 'error', message: long, code: 'E1' },
      { type: 'unknown', raw: { long }, reason: 'withheld' },
    ]
    const moved = moveToBlobs({ ...entry(blocks), usage }, blobs)
    expect(moved.usage).toMatchObject({ input: 1, quality: 'reported' })
    expect(moved.blocks).toMatchObject([
      { type: 'error', message: `${'x'.repeat(1000)}…`, code: 'E1', apart: { message: { bytes: 100_002 } } },
      { type: 'unknown', raw: null, reason: 'withheld' },
    ])
  })

  it('moves blocks that are only together too large for a line', async () => {
    const blobs = openBlobs(folder)
    const before = entry(
      Array.from({ length: 400 }, (_, n) => ({ type: 'text', text: `${n}${'x'.repeat(60_000)}` })),
    )
    const moved = moveToBlobs(before, blobs)
    expect(JSON.stringify(moved).length).toBeLessThan(1000)
    expect(await resolveBlobs(moved, blobs)).toEqual(before)
  })

  it('leaves what JSON cannot say to the line, and moves the rest', () => {
    const cycle: Record<string, unknown> = { long }
    cycle['self'] = cycle
    let shared: unknown = long
    for (let n = 0; n < 100; n += 1) shared = [shared, shared]
    const foreign = [cycle, shared, { n: 1n, long }].map((input) => ({ type: 'tool-call', name: 'x', input }))
    const blocks = [...foreign, { type: 'text', text: long }] as Entry['blocks']
    const moved = moveToBlobs(entry(blocks), openBlobs(folder))
    expect(moved.blocks.slice(0, 3)).toEqual(blocks.slice(0, 3))
    expect(moved.blocks[3]).toMatchObject({ text: { bytes: 100_000 } })
  })

  it('does not let a blob change what an entry is', async () => {
    const blobs = openBlobs(folder)
    const apart = Object.fromEntries(
      ['id', 'blocks', 'metadata'].map((key) => [key, blobs.write(Buffer.from('7'), 'application/json')]),
    )
    const hostile = { ...entry([{ type: 'text', text: 'kept' }]), apart }
    expect(await resolveBlobs(hostile, blobs)).toEqual(hostile)
  })

  it('gives back the facts of a session, and leaves its id and status', async () => {
    const blobs = openBlobs(folder)
    const session = {
      id: 's',
      status: 'failed' as const,
      title: long,
      input: { long },
      tags: { a: long },
      error: half,
      cwd: '/short',
    }
    const moved = sessionToBlobs(session, blobs)
    expect(moved).toMatchObject({ id: 's', status: 'failed', cwd: '/short', title: `${'x'.repeat(1000)}…` })
    expect(JSON.stringify(moved).length).toBeLessThan(4000)
    expect(await resolveSession(moved, blobs)).toEqual(session)
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
