/** A sync that is killed while the agent writes: real processes, real files. */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { openArchive } from '../src/archive/archive.ts'
import { openKept, type KeptPlace } from '../src/archive/kept.ts'
import { seededRandom } from './faulty-files.ts'

const CHILD = fileURLToPath(new URL('../dist/test/keep-child.js', import.meta.url))
const KILLS = 11

it('leaves a beginning of the source, all that was acknowledged, and the next sync completes it', async () => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'keep-kill-'))
  const [home, root] = [join(folder, 'home'), join(folder, 'source')]
  fs.mkdirSync(root)
  const source = join(root, 'x')
  const place = openKept(openArchive(home, { write: true })).place('codex', root)
  const random = seededRandom(7)
  const gone: Buffer[] = []
  for (let round = 0; round < KILLS; round += 1) {
    if (round % 5 === 0) {
      if (round > 0) gone.push(fs.readFileSync(source))
      fs.writeFileSync(source, Buffer.alloc(3_000_000, `round ${round}\n`))
    }
    const acknowledged = await killWhileGrowing(home, root, source, random)
    const kept = await contents(place)
    const now = fs.readFileSync(source)
    // Killed before it was done for the first time, the last state of the source may be all there is.
    const newest = kept[0] as Buffer
    if (acknowledged > 0) {
      expect(newest.length).toBeGreaterThanOrEqual(acknowledged)
      expect(now.subarray(0, newest.length).equals(newest)).toBe(true)
    }
    expect((await place.keep('x', { file: source })).bytes).toBe(now.length)
    const after = await contents(place)
    expect((after[0] as Buffer).equals(now)).toBe(true)
    for (const old of gone) expect(after.some((bytes) => bytes.equals(old))).toBe(true)
  }
  expect(fs.readdirSync(join(place.folder, 'tmp')).length).toBeLessThanOrEqual(1)
  fs.rmSync(folder, { recursive: true, force: true })
})

/** Newest first. */
function contents(place: KeptPlace): Promise<Buffer[]> {
  const read = async (version?: number): Promise<Buffer> =>
    (await place.file('x', version)?.bytes(1e9)) ?? Buffer.alloc(0)
  return Promise.all([undefined, ...place.versions('x').toReversed()].map(read))
}

/** The most bytes that the program said were kept. */
function killWhileGrowing(home: string, root: string, source: string, random: () => number): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, home, root, 'x'], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    let line = 0
    const growing = setInterval(() => {
      fs.appendFileSync(source, `${'x'.repeat(Math.floor(random() * 50_000))} ${(line += 1)}\n`)
    }, 1)
    child.stdout.on('data', (chunk: Buffer) => {
      if (said === '') setTimeout(() => child.kill('SIGKILL'), random() * 40)
      said += chunk.toString()
    })
    child.on('error', reject)
    child.on('close', () => {
      clearInterval(growing)
      const whole = said.split('\n').slice(0, -1).map(Number)
      resolve(Math.max(0, ...whole))
    })
  })
}
