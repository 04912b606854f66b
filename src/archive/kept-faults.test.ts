import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  createDisk,
  POWER_CUTS,
  seededRandom,
  withFault,
  type Disk,
  type Fault,
} from '../../test/faulty-files.ts'
import { isHansardError } from '../errors.ts'
import type { Files } from '../journal/files.ts'
import { openArchive } from './archive.ts'
import { openKept, type KeptPlace } from './kept.ts'

const SOURCE = '/source/x'
const line = (letter: string, length: number): string => `${letter.repeat(length - 1)}\n`

/** What the source is at each sync: made, grown a little and a lot, rewritten, cut off, grown again. */
const STATES: readonly string[] = [
  line('a', 3000),
  line('a', 3000) + line('b', 700),
  line('a', 3000) + line('b', 700) + line('c', 9000),
  line('d', 5000),
  line('d', 2000),
  line('d', 2000) + line('e', 6000),
]

function openPlace(files: Files): KeptPlace {
  return openKept(openArchive('/home', { write: true, files })).place('codex', '/source')
}

function writeSource(disk: Disk, content: string): void {
  const { files } = disk
  files.makeFolder('/source')
  if (files.kind(SOURCE) === 'file') files.remove(SOURCE)
  const fd = files.openAppend(SOURCE, 'new')
  files.write(fd, Buffer.from(content), 0, content.length)
  files.datasync(fd)
  files.close(fd)
  files.syncFolder('/source')
}

function restore(left: ReadonlyMap<string, Buffer>): Disk {
  const disk = createDisk()
  disk.files.makeFolder('/home')
  for (const [path, bytes] of left) {
    disk.files.makeFolder(dirname(path))
    const fd = disk.files.openAppend(path, 'new')
    disk.files.write(fd, bytes, 0, bytes.length)
    disk.files.datasync(fd)
    disk.files.close(fd)
  }
  for (const path of left.keys()) disk.files.syncFolder(dirname(path))
  return disk
}

/** The cut that is hardest to see: all that was not synced is there but for the first sector of it. */
function holed(now: ReadonlyMap<string, Buffer>, synced: ReadonlyMap<string, Buffer>): Map<string, Buffer> {
  const left = [...synced].map(([path, safe]) => {
    const bytes = Buffer.from(now.get(path) ?? safe)
    return [path, bytes.length > safe.length ? bytes.fill(0, safe.length, safe.length + 512) : bytes] as const
  })
  return new Map(left)
}

async function newest(place: KeptPlace): Promise<string | undefined> {
  return (await place.file('x')?.bytes(1e9))?.toString()
}

/** Everything that is held, newest and older. */
async function held(place: KeptPlace): Promise<readonly string[]> {
  const read = async (version?: number) => (await place.file('x', version)?.bytes(1e9))?.toString() ?? ''
  return Promise.all([undefined, ...place.versions('x')].map(read))
}

/** Every content is the beginning of one that is held. */
function expectAll(kept: readonly string[], contents: readonly string[]): void {
  expect(
    contents.filter((content) => !kept.some((one) => one.startsWith(content))).map((c) => c.length),
  ).toEqual([])
}

/** The disk just before a state is kept. */
async function before(state: number): Promise<ReadonlyMap<string, Buffer>> {
  const disk = createDisk()
  disk.files.makeFolder('/home')
  const place = openPlace(disk.files)
  for (const content of STATES.slice(0, state)) {
    writeSource(disk, content)
    await place.keep('x', { file: SOURCE })
  }
  writeSource(disk, STATES[state] as string)
  return disk.now()
}

/** Keeps one state with a fault in it. False when the fault lay beyond the last call. */
async function keepWith(
  disk: Disk,
  fault: Fault,
): Promise<{ isHit: boolean; place: KeptPlace; heal: () => void }> {
  const faulty = withFault(disk, fault)
  const place = openKept(openArchive('/home', { files: faulty.files })).place('codex', '/source')
  let thrown: unknown
  try {
    await place.keep('x', { file: SOURCE })
  } catch (error) {
    thrown = error
  }
  if (thrown !== undefined && !isHansardError(thrown)) throw thrown
  return { isHit: faulty.calls() >= fault.at, place, heal: () => faulty.heal() }
}

describe('keeping on a disk that fails', () => {
  for (const [state, content] of STATES.entries()) {
    for (const kind of ['EIO', 'ENOSPC', 'short'] as const) {
      // No write is short for ever.
      for (const sticky of kind === 'short' ? [false] : [false, true]) {
        it(`loses nothing at any call: state ${state}, ${kind}${sticky ? ' from then on' : ''}`, async () => {
          let faults = 0
          const start = await before(state)
          for (let at = 1; ; at += 1) {
            const disk = restore(start)
            const run = await keepWith(disk, { at, kind, sticky }).catch((error: unknown) => {
              // Opening the archive itself may have met the fault.
              if (isHansardError(error) || String(error).includes('injected')) return undefined
              throw error
            })
            const after = openPlace(disk.files)
            expectAll(await held(after), STATES.slice(0, state))
            run?.heal()
            // The same process goes on once the disk is well again, and so does the next one.
            const place = run !== undefined && at % 2 === 0 ? run.place : after
            await place.keep('x', { file: SOURCE })
            expect(await newest(place)).toBe(content)
            expectAll(await held(place), STATES.slice(0, state + 1))
            if (run !== undefined && !run.isHit) break
            faults += 1
          }
          expect(faults).toBeGreaterThan(kind === 'short' ? 0 : 5)
        })
      }
    }

    it(`loses nothing when the process or the machine dies at any call: state ${state}`, async () => {
      const start = await before(state)
      for (let at = 1; ; at += 1) {
        const disk = restore(start)
        const run = await keepWith(disk, { at, kind: 'crash', sticky: true }).catch(() => undefined)
        const random = seededRandom(at)
        const synced = disk.afterPowerCut('synced', random)
        const left = [
          disk.now(),
          holed(disk.now(), synced),
          ...POWER_CUTS.map((cut) => disk.afterPowerCut(cut, random)),
        ]
        for (const there of left) {
          const again = restore(there)
          const place = openPlace(again.files)
          if (place.file('x') !== undefined) expectAll(await held(place), STATES.slice(0, state))
          else expect(state).toBe(0)
          // The agent went on writing.
          writeSource(again, content + line('z', 50))
          await place.keep('x', { file: SOURCE })
          expect(await newest(place)).toBe(content + line('z', 50))
          expectAll(await held(place), STATES.slice(0, state + 1))
        }
        if (run !== undefined && !run.isHit) break
      }
    })
  }
})
