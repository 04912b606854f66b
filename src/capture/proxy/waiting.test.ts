import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSpill, type Spill } from '../spill.ts'
import type { Parcel } from './parcel.ts'
import { createWaiting, type Waiting } from './waiting.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'waiting-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

const parcelOf = (n: number, size: number): Parcel => {
  const buffer = new ArrayBuffer(size)
  new Uint8Array(buffer).fill(n % 256)
  return { buffer, used: size - (n % 3) }
}
const turn = (): Promise<void> => new Promise((done) => void setTimeout(done, 1))

function create(spill: Spill): { waiting: Waiting; lost: () => number; ready: () => Promise<void> } {
  let lost = 0
  let wake = (): void => {}
  const waiting = createWaiting({
    spill,
    most: 1000,
    ready: () => wake(),
    free() {},
    block: (length) => new ArrayBuffer(length),
    lost: () => (lost += 1),
  })
  return { waiting, lost: () => lost, ready: () => new Promise((done) => (wake = done)) }
}

describe('what waits', () => {
  it('comes in the order in which it was put, wherever it was meanwhile', async () => {
    const acts = fc.array(fc.constantFrom('put', 'put', 'take', 'takeNow', 'turn'), { maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(acts, async (all) => {
        const { waiting } = create(createSpill(folder))
        let put = 0
        let next = 0
        const got = (parcel: Parcel | undefined): void => {
          if (parcel === undefined) return
          const same = parcelOf(next, 300)
          expect(parcel.used).toBe(same.used)
          expect(
            Buffer.from(parcel.buffer, 0, parcel.used).equals(Buffer.from(same.buffer, 0, same.used)),
          ).toBe(true)
          next += 1
        }
        for (const act of all) {
          if (act === 'put') waiting.push(parcelOf(put++, 300))
          else if (act === 'take') got(waiting.take())
          else if (act === 'takeNow') got(waiting.takeNow())
          else await turn()
        }
        for (let one = waiting.takeNow(); one !== undefined; one = waiting.takeNow()) got(one)
        // What is on its way to the disk is in memory until it is there, wanted or not.
        while (waiting.held() > 0) await turn()
        expect([next, waiting.count(), waiting.held()]).toEqual([put, 0, 0])
      }),
      { numRuns: 60 },
    )
  })

  it('is in memory only as far as it may, and is told when it can be had', async () => {
    const { waiting, ready } = create(createSpill(folder))
    for (let n = 0; n < 200; n += 1) waiting.push(parcelOf(n, 300))
    while (waiting.held() > 1000) await turn()
    let taken = 0
    while (waiting.count() > 0) {
      const come = ready()
      if (waiting.take() === undefined) await come
      else taken += 1
      expect(waiting.held()).toBeLessThan(3000)
    }
    expect(taken).toBe(200)
  })

  it('goes out of memory in the turn in which it comes, however much comes', async () => {
    const spill = createSpill(folder)
    const { waiting } = create(spill)
    for (let n = 0; n < 60; n += 1) waiting.push(parcelOf(n, 128 * 1024))
    expect(waiting.held() - spill.held()).toBeLessThanOrEqual(1000)
    while (waiting.held() > 1000) await turn()
    for (let n = 0; n < 60; n += 1) expect(waiting.takeNow()?.used).toBe(parcelOf(n, 128 * 1024).used)
  })

  it('stays in memory where it cannot be put elsewhere', async () => {
    const { waiting, lost } = create(createSpill(join(folder, 'gone')))
    for (let n = 0; n < 20; n += 1) waiting.push(parcelOf(n, 300))
    await turn()
    expect(waiting.held()).toBe(6000)
    for (let n = 0; n < 20; n += 1) expect(waiting.take()?.buffer.byteLength).toBe(300)
    expect(lost()).toBe(0)
  })

  it('goes out of memory once there is room elsewhere, also what came before', () => {
    const spill = createSpill(folder)
    let isFull = true
    const { waiting } = create({ ...spill, write: (...all) => (isFull ? undefined : spill.write(...all)) })
    for (let n = 0; n < 20; n += 1) waiting.push(parcelOf(n, 300))
    expect(waiting.held()).toBe(20 * 300)
    isFull = false
    waiting.push(parcelOf(20, 300))
    expect(waiting.held() - spill.held()).toBeLessThanOrEqual(1000)
    for (let n = 0; n < 21; n += 1) expect(waiting.takeNow()?.used).toBe(parcelOf(n, 300).used)
  })

  it('is told of when it cannot be read again, and what is behind it comes', async () => {
    const spill = createSpill(folder)
    const { waiting, lost } = create({ ...spill, readNow: () => false })
    for (let n = 0; n < 5; n += 1) waiting.push(parcelOf(n, 300))
    while (waiting.held() > 1000) await turn()
    const sizes: number[] = []
    for (let one = waiting.takeNow(); one !== undefined; one = waiting.takeNow()) sizes.push(one.used)
    expect([sizes.length + lost(), lost() > 0]).toEqual([5, true])
  })
})
