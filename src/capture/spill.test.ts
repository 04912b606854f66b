import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSpill, type Extent, type Spill } from './spill.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'spill-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

const write = (spill: Spill, bytes: Uint8Array): Promise<Extent> =>
  new Promise((resolve, reject) => {
    const extent = spill.write(bytes, () => resolve(extent as Extent))
    if (extent === undefined) reject(new Error('there is no room'))
  })
const read = (spill: Spill, extent: Extent): Promise<Buffer | undefined> => {
  const into = Buffer.alloc(extent.length)
  return new Promise((resolve) => spill.read(extent, into, (isThere) => resolve(isThere ? into : undefined)))
}
const readNow = (spill: Spill, extent: Extent): Buffer | undefined => {
  const into = Buffer.alloc(extent.length)
  return spill.readNow(extent, into) ? into : undefined
}

describe('what is put outside of memory', () => {
  it('comes back as it was, whoever waits for it', async () => {
    const spill = createSpill(folder)
    const all = Array.from({ length: 20 }, (_, n) => Buffer.alloc(1 + n * 7919, `secret ${n} `))
    const extents = await Promise.all(
      all.map((bytes, n) => (n % 2 === 0 ? write(spill, bytes) : Promise.resolve(spill.writeNow(bytes)))),
    )
    for (const [n, extent] of extents.entries()) {
      expect(readNow(spill, extent as Extent)?.equals(all[n] as Buffer)).toBe(true)
      expect((await read(spill, extent as Extent))?.equals(all[n] as Buffer)).toBe(true)
    }
  })

  it('can be had at once, and is in memory only until the disk has it', async () => {
    const spill = createSpill(folder)
    const bytes = Buffer.alloc(100_000, 'words ')
    const same = Buffer.from(bytes)
    let reading: Promise<Buffer | undefined> | undefined
    const written = new Promise<void>((done) => {
      const extent = spill.write(bytes, done) as Extent
      bytes.fill(0)
      expect(readNow(spill, extent)?.equals(same)).toBe(true)
      reading = read(spill, extent)
    })
    expect((await reading)?.equals(same)).toBe(true)
    expect(spill.held()).toBe(100_000)
    await written
    expect(spill.held()).toBe(0)
  })

  it('gives the room of what is on its way to nobody before it is there', async () => {
    const spill = createSpill(folder)
    const [first, second] = [Buffer.alloc(16_000, 'a'), Buffer.alloc(16_000, 'b')]
    let leaving: Extent | undefined
    const written = new Promise<void>((done) => (leaving = spill.write(first, done)))
    spill.free(leaving as Extent)
    const extent = spill.writeNow(second) as Extent
    expect(extent.from).not.toBe(leaving?.from)
    await written
    expect(readNow(spill, extent)?.equals(second)).toBe(true)
    expect(spill.held()).toBe(0)
    expect(spill.writeNow(first)?.from).toBe(leaving?.from)
  })

  it('is held where it is when the disk does not take it', () => {
    const said = onSmallDisk(`
      const bytes = Buffer.alloc(200_000, 'words ')
      const extent = await new Promise((done) => { const extent = spill.write(bytes, () => done(extent)) })
      const into = Buffer.alloc(extent.length)
      const isSame = spill.readNow(extent, into) && into.equals(bytes)
      const held = spill.held()
      const more = spill.write(bytes, () => {}) ?? null
      spill.free(extent)
      console.log(JSON.stringify([isSame, held, more, spill.held()]))`)
    expect(said).toEqual([true, 200_000, null, 0])
  })

  it('is taken again by a disk that did not take what came before it', () => {
    const said = onSmallDisk(`
      const again = createSpill(process.argv[1], 1024 * 1024, 1500)
      const [large, small] = [Buffer.alloc(200_000, 'a'), Buffer.alloc(1000, 'b')]
      const first = again.writeNow(large) ?? null
      const soon = again.writeNow(small) ?? null
      let extent
      const end = Date.now() + 20_000
      while (extent === undefined && Date.now() < end) {
        await new Promise((done) => setTimeout(done, 10))
        extent = again.writeNow(small)
      }
      const into = Buffer.alloc(1000)
      console.log(JSON.stringify([first, soon, again.readNow(extent, into) && into.equals(small)]))`)
    expect(said).toEqual([null, null, true])
  })

  it('leaves a disk that does not take it as it was', () => {
    if (process.platform !== 'linux') return
    const said = onSmallDisk(`
      const fs = await import('node:fs')
      const open = () => fs.readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return fs.readlinkSync('/proc/self/fd/' + fd).includes('waiting-')
        } catch {
          return false
        }
      }).length
      const first = spill.writeNow(Buffer.alloc(1000))
      const before = open()
      const more = spill.writeNow(Buffer.alloc(17 * 1024 * 1024)) ?? null
      spill.free(first)
      for (let n = 0; n < 1000 && open() > 0; n += 1) await new Promise((done) => setTimeout(done, 10))
      console.log(JSON.stringify([before, more, open()]))`)
    expect(said).toEqual([1, null, 0])
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
    const extents = Array.from({ length: 5 }, () => spill.writeNow(bytes))
    expect(extents.map((extent) => extent?.from)).toEqual([0, 16384, 32768, 49152, undefined])
    spill.free(extents[1] as Extent)
    expect(spill.writeNow(bytes)?.from).toBe(16384)
    expect(spill.writeNow(bytes)).toBeUndefined()
    for (const extent of extents) if (extent !== undefined) spill.free(extent)
    expect(spill.writeNow(Buffer.alloc(64 * 1024))?.from).toBe(0)
  })

  it('stays where it is when there is no folder for it', () => {
    expect(createSpill(join(folder, 'gone')).writeNow(Buffer.alloc(1))).toBeUndefined()
  })
})

/** What a program says that has `spill`, and may write 64 KB into a file. */
function onSmallDisk(program: string): unknown {
  const module = JSON.stringify(new URL('../../dist/src/capture/spill.js', import.meta.url).href)
  const begin = `const { createSpill } = await import(${module})\nconst spill = createSpill(process.argv[1])\n`
  const limited = ['-c', 'ulimit -f 64; exec "$0" "$@"', process.execPath]
  const said = execFileSync('bash', [...limited, '--input-type=module', '-e', begin + program, folder])
  return JSON.parse(said.toString())
}

function isIn(path: string, folder: string): boolean {
  try {
    return fs.readlinkSync(path).startsWith(fs.realpathSync(folder))
  } catch {
    return false
  }
}
