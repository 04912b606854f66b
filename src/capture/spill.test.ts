import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSpill, type Place, type Spill } from './spill.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'spill-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

const write = (spill: Spill, bytes: Uint8Array): Promise<Place> =>
  new Promise((resolve, reject) => {
    const place = spill.write(bytes, (isThere) =>
      isThere && place !== undefined ? resolve(place) : reject(new Error('it is not there')),
    )
    if (place === undefined) reject(new Error('there is no room'))
  })
const read = (spill: Spill, place: Place): Promise<Buffer | undefined> =>
  new Promise((resolve) => spill.read(place, resolve))

describe('what is put outside of memory', () => {
  it('comes back as it was, whoever waits for it', async () => {
    const spill = createSpill(folder)
    const all = Array.from({ length: 20 }, (_, n) => Buffer.alloc(1 + n * 7919, `secret ${n} `))
    const places = await Promise.all(
      all.map((bytes, n) => (n % 2 === 0 ? write(spill, bytes) : Promise.resolve(spill.writeNow(bytes)))),
    )
    for (const [n, place] of places.entries()) {
      expect(spill.readNow(place as Place)?.equals(all[n] as Buffer)).toBe(true)
      expect((await read(spill, place as Place))?.equals(all[n] as Buffer)).toBe(true)
    }
  })

  it('has no name, and says nothing to whoever reads the disk', async () => {
    const spill = createSpill(folder)
    const words = Buffer.alloc(200_000, 'sk-ant-a-key-of-somebody ')
    await write(spill, words)
    expect(fs.readdirSync(folder)).toEqual([])
    if (process.platform !== 'linux') return
    const own = fs
      .readdirSync('/proc/self/fd')
      .map((fd) => `/proc/self/fd/${fd}`)
      .filter((path) => isIn(path, folder))
    expect(own).toHaveLength(1)
    const bytes = fs.readFileSync(own[0] as string)
    expect(bytes.length).toBe(200_000)
    expect(bytes.includes('somebody')).toBe(false)
    // The same words twice are not the same bytes twice.
    expect(bytes.subarray(0, 25)).not.toEqual(bytes.subarray(25, 50))
  })

  it('takes the room of what is not wanted any more, and no more than it may', () => {
    const spill = createSpill(folder, 64 * 1024)
    const bytes = Buffer.alloc(16 * 1024)
    const places = Array.from({ length: 5 }, () => spill.writeNow(bytes))
    expect(places.map((place) => place?.from)).toEqual([0, 16384, 32768, 49152, undefined])
    spill.free(places[1] as Place)
    expect(spill.writeNow(bytes)?.from).toBe(16384)
    expect(spill.writeNow(bytes)).toBeUndefined()
    for (const place of places) if (place !== undefined) spill.free(place)
    expect(spill.writeNow(Buffer.alloc(64 * 1024))?.from).toBe(0)
  })

  it('stays where it is when there is no folder for it', () => {
    expect(createSpill(join(folder, 'gone')).writeNow(Buffer.alloc(1))).toBeUndefined()
  })
})

function isIn(path: string, folder: string): boolean {
  try {
    return fs.readlinkSync(path).startsWith(fs.realpathSync(folder))
  } catch {
    return false
  }
}
