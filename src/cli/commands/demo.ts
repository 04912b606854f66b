/**
 * `hansard demo`: a sample archive with all there is to see, made in a folder of its own, on the page, with a session that goes on
 * while one watches. Nothing of the user's is read or written.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openArchive } from '../../archive/archive.ts'
import { messageOf } from '../../errors.ts'
import { visibleLine } from '../../replay/escape.ts'
import { playLive } from '../demo/live-story.ts'
import { makeSample, samplePlaces } from '../demo/make.ts'
import { note, out as print, outJson } from '../print.ts'
import { programName } from '../program-name.ts'
import { serveArchive } from './serve.ts'

export type DemoOptions = {
  readonly out?: string
  readonly port?: number
  readonly idle?: number
  readonly record?: boolean
  /** Commander's name for `--no-serve`. */
  readonly serve?: boolean
  readonly json?: boolean
}

export async function demo(options: DemoOptions): Promise<void> {
  const { out, port, idle, record = false, serve = true, json = false } = options
  if (record) {
    const { recordDemo } = await import('./demo-record.ts')
    return recordDemo({ json, ...(out !== undefined && { out }) })
  }
  const folder = out === undefined ? mkdtempSync(join(tmpdir(), 'hansard-demo-')) : resolve(out)
  const home = join(folder, 'archive')
  // Made once: who serves it again sees what was recorded meanwhile.
  if (!existsSync(home)) await makeSample(folder)
  if (!serve) return say(folder, home, json)
  const ending = new AbortController()
  let playing: Promise<void> | undefined
  await serveArchive(openArchive(home, { write: true }), {
    json,
    ...(port !== undefined && { port }),
    ...(idle !== undefined && { idle }),
    sync: samplePlaces(folder),
    onServing() {
      note(`a sample, made up, in ${folder}: one of its sessions goes on while you watch`)
      playing = playLive({ home, cwd: folder, signal: ending.signal }).catch((error: unknown) =>
        note(`hansard: ${messageOf(error)}`),
      )
    },
    onEnding: () => ending.abort(),
  })
  await playing
  // Nobody has asked for it to stay.
  if (out === undefined) rmSync(folder, { recursive: true, force: true })
}

async function say(folder: string, home: string, json: boolean): Promise<void> {
  if (json) return outJson({ folder, home })
  const hansard = programName()
  const lines = [
    `A sample archive, made up, is in`,
    `  ${folder}`,
    '',
    'Look at it:',
    ...['serve --no-sync', 'list', 'search voucher', 'cost --by model', 'stats'].map(
      (command) => `  ${hansard} ${command} --home ${home}`,
    ),
  ]
  await print(`${lines.map(visibleLine).join('\n')}\n`)
}
